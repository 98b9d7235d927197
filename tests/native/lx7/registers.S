// uint32_t jump_registers(void): what a4...a7 hold after longjmp() is what they held at setjmp(),
// though they have changed since; a byte of each.
    .text
    .global jump_registers
    .balign 4
jump_registers:
    entry   a1, 96                  // the place of the jump, and room for what callees spill
    movi    a4, 1
    movi    a5, 2
    movi    a6, 3
    movi    a7, 4
    mov     a10, a1
    movi    a8, setjmp
    callx8  a8
    bnez    a10, 1f
    movi    a4, 9
    movi    a5, 9
    movi    a6, 9
    movi    a7, 9
    mov     a10, a1
    movi    a11, 0                  // it arrives as 1
    movi    a8, longjmp
    callx8  a8
1:  slli    a5, a5, 8
    slli    a6, a6, 16
    slli    a7, a7, 24
    or      a2, a4, a5
    or      a2, a2, a6
    or      a2, a2, a7
    bnei    a10, 1, 1f
    retw
1:  movi    a2, 0
    retw
