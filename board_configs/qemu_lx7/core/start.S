// From reset to main(): maps the RAM to LX7_RAM and nothing anywhere else, copies initial data,
// clears the rest, opens the register windows.
#include "lx7.inc"

    .section .reset, "ax"
    .global reset
    .balign 4
reset:
    j       1f
    .balign 4
.Lstart:
    .4byte  _start
.Lregion:
    .4byte  LX7_RAM | LX7_REGION_WAY
1:
    l32r    a2, .Lregion
    movi    a3, LX7_PAGE_DATA
    lx7_write_tlbs 3, 2
    isync
    l32r    a2, .Lstart
    jx      a2

    .text
    .global _start
    .balign 4
_start:                     // also where cpu_reset() begins again
    movi    a2, LX7_PS_EXCEPTION | LX7_PS_MASKED
    wsr     a2, ps
    rsync
    movi    a2, 0
    wsr     a2, intenable
    wsr     a2, windowbase
    rsync
    movi    a2, 1
    wsr     a2, windowstart
    rsync
    movi    a2, vectors
    wsr     a2, vecbase

    movi    a2, LX7_PAGE_TABLE
    movi    a3, LX7_PAGE_TABLE + 0x400000
    movi    a4, LX7_PAGE_ABSENT
1:  s32i    a4, a2, 0
    s32i    a4, a2, 4
    s32i    a4, a2, 8
    s32i    a4, a2, 12
    addi    a2, a2, 16
    bltu    a2, a3, 1b
    movi    a2, LX7_PAGE_TABLE
    lx7_set_page_table 2

    movi    a2, LX7_REGION_WAY      // forget the regions, but the one with the RAM
    movi    a3, LX7_RAM
    movi    a4, LX7_RAM | LX7_REGION_WAY
1:  beq     a2, a4, 2f
    lx7_forget_in_tlbs 2
2:  add     a2, a2, a3
    bgeui   a2, 8, 1b               // the way alone is left after the last one
    isync
    dsync

    movi    a2, _sidata
    movi    a3, _sdata
    movi    a4, _edata
    beq     a2, a3, 2f
    j       3f
1:  l32i    a5, a2, 0
    s32i    a5, a3, 0
    addi    a2, a2, 4
    addi    a3, a3, 4
3:  bltu    a3, a4, 1b
2:  movi    a2, _sbss
    movi    a3, _ebss
    movi    a4, 0
    j       3f
1:  s32i    a4, a2, 0
    addi    a2, a2, 4
3:  bltu    a2, a3, 1b

    movi    a2, 0xFF
    wsr     a2, cpenable
    movi    a2, main
    // Runs on into it.

// The function in a2 is called on an empty stack with no frames above it and interrupts masked; it
// must not return.
    .global lx7_begin
lx7_begin:
    movi    a3, LX7_PS_EXCEPTION | LX7_PS_MASKED
    wsr     a3, ps
    rsync
    wsr     a2, excsave1            // the window may be anywhere; from here on it is the first
    movi    a3, 0
    wsr     a3, windowbase
    rsync
    movi    a3, 1
    wsr     a3, windowstart
    rsync
    rsr     a8, excsave1
    movi    a2, _estack
    addi    a1, a2, -64
    addi    a3, a1, -12
    s32i    a2, a3, 0               // the overflow handlers look here for the caller's stack
    movi    a0, 0
    movi    a3, LX7_PS_WINDOWED | LX7_PS_MASKED
    wsr     a3, ps
    rsync
    callx8  a8
1:  j       1b

// void lx7_restart(void): as after a reset, the clock too.
    .global lx7_restart
    .balign 4
lx7_restart:
    movi    a2, LX7_PS_EXCEPTION | LX7_PS_MASKED
    wsr     a2, ps
    movi    a2, 0
    wsr     a2, ccount
    rsync
    j       _start

// void lx7_forget_pages(void): both TLBs read the page table anew. Their first four ways hold four
// pages each.
    .global lx7_forget_pages
    .balign 4
lx7_forget_pages:
    entry   a1, 16
    movi    a2, 0
    movi    a3, 0x4000
1:  lx7_forget_in_tlbs 2
    addi    a2, a2, 1
    bbci    a2, 2, 1b
    addi    a2, a2, -4
    addmi   a2, a2, 0x1000
    bne     a2, a3, 1b
    isync
    dsync
    retw
