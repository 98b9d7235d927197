// Saves the interrupted code's registers, has C decide, restores them. Exceptions are handled by
// C in the ABI without windows; an interrupt ends up in the windowed cpu_interrupt().
#include "lx7.inc"

    .text
    .global trap
    .balign 4
trap:                       // windows are not checked here: a0...a15 are the interrupted frame's
    wsr     a0, excsave1
    movi    a0, trap_frame
    s32i    a1, a0, 4
    s32i    a2, a0, 8
    s32i    a3, a0, 12
    s32i    a4, a0, 16
    s32i    a5, a0, 20
    s32i    a6, a0, 24
    s32i    a7, a0, 28
    s32i    a8, a0, 32
    s32i    a9, a0, 36
    s32i    a10, a0, 40
    s32i    a11, a0, 44
    s32i    a12, a0, 48
    s32i    a13, a0, 52
    s32i    a14, a0, 56
    s32i    a15, a0, 60
    rsr     a2, excsave1
    rsr     a3, epc1
    rsr     a4, exccause
    rsr     a5, excvaddr
    rsr     a6, ps
    rsr     a7, sar
    s32i    a2, a0, 0
    s32i    a3, a0, LX7_FRAME_PC
    s32i    a4, a0, LX7_FRAME_CAUSE
    s32i    a5, a0, LX7_FRAME_VADDR
    s32i    a6, a0, LX7_FRAME_PS
    s32i    a7, a0, LX7_FRAME_SAR
    rsr     a2, lbeg
    rsr     a3, lend
    rsr     a5, lcount
    s32i    a2, a0, LX7_FRAME_LBEG
    s32i    a3, a0, LX7_FRAME_LEND
    s32i    a5, a0, LX7_FRAME_LCOUNT
    beqi    a4, LX7_INTERRUPT, interrupt
    mov     a2, a0
    movi    a1, trap_stack_top
    movi    a3, trap_handle
    callx0  a3

return:
    movi    a0, trap_frame
    l32i    a2, a0, LX7_FRAME_PC
    l32i    a3, a0, LX7_FRAME_SAR
    l32i    a4, a0, LX7_FRAME_LBEG
    l32i    a5, a0, LX7_FRAME_LEND
    l32i    a6, a0, LX7_FRAME_LCOUNT
    wsr     a2, epc1
    wsr     a3, sar
    wsr     a4, lbeg
    wsr     a5, lend
    wsr     a6, lcount
    l32i    a1, a0, 4
    l32i    a2, a0, 8
    l32i    a3, a0, 12
    l32i    a4, a0, 16
    l32i    a5, a0, 20
    l32i    a6, a0, 24
    l32i    a7, a0, 28
    l32i    a8, a0, 32
    l32i    a9, a0, 36
    l32i    a10, a0, 40
    l32i    a11, a0, 44
    l32i    a12, a0, 48
    l32i    a13, a0, 52
    l32i    a14, a0, 56
    l32i    a15, a0, 60
    l32i    a0, a0, 0
    rfe

// The windows of the interrupted code's callers go to the stack, so that all registers but the
// sixteen just saved are free for C.
interrupt:
    movi    a2, LX7_PS_WINDOWED | LX7_PS_MASKED
    wsr     a2, ps
    rsync
    lx7_spill
    movi    a1, trap_stack_top
    movi    a0, 0
    movi    a2, LX7_PS_WINDOWED | 1
    wsr     a2, ps
    rsync
    movi    a4, cpu_interrupt
    callx4  a4
    movi    a0, trap_frame
    l32i    a2, a0, LX7_FRAME_PS    // it has the bit for exceptions
    wsr     a2, ps
    rsync
    j       return

// A fault in a trap handler: in an access that a vector instruction makes, or in one of the
// window handlers. There is no way back.
    .global trap_double
    .balign 4
trap_double:
    movi    a1, trap_stack_top
    rsr     a2, depc
    rsr     a3, exccause
    rsr     a4, excvaddr
    movi    a5, trap_in_trap
    jx      a5

// void lx7_begin_fault(void), without windows.
    .global lx7_begin_fault
    .balign 4
lx7_begin_fault:
    movi    a2, cpu_fault
    movi    a3, lx7_begin
    jx      a3

// void trap_save_floats(uint32_t [16]), void trap_restore_floats(const uint32_t [16]): the float
// unit's registers, without windows.
    .global trap_save_floats
    .balign 4
trap_save_floats:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ssi     f\n, a2, 4 * \n
    .endr
    ret

    .global trap_restore_floats
    .balign 4
trap_restore_floats:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    lsi     f\n, a2, 4 * \n
    .endr
    ret

// void spill_windows(void): puts the registers of all callers on the stack.
    .global spill_windows
    .balign 4
spill_windows:
    entry   a1, 16
    rsil    a2, LX7_PS_MASKED
    lx7_spill
    wsr     a2, ps
    rsync
    retw

    .bss
    .balign 16
    .global trap_frame
trap_frame:
    .space  LX7_FRAME_BYTES
    .balign 16
    .space  8192
trap_stack_top:
    .space  16
