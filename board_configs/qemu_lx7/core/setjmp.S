// int setjmp(jmp_buf) and void longjmp(jmp_buf, int) for the windowed ABI.
//
// A frame's registers live in its window or, once its callees have spilled it, on the stack: a0
// to a3 below the callee's stack pointer, a4 to a7 at the end of its own frame. setjmp() spills
// its caller and copies them from there; longjmp() puts them back and lets the return reload
// them. What lies below the caller's own stack pointer is copied too: the caller may move it
// (alloca) in between.
//
// jmp_buf: 0 the caller's a0...a7, 32 the words below its stack pointer, 48 where to return.
    .macro  copy4 to, to_offset, from, from_offset
    l32i    a8, \from, \from_offset
    l32i    a9, \from, \from_offset + 4
    l32i    a10, \from, \from_offset + 8
    l32i    a11, \from, \from_offset + 12
    s32i    a8, \to, \to_offset
    s32i    a9, \to, \to_offset + 4
    s32i    a10, \to, \to_offset + 8
    s32i    a11, \to, \to_offset + 12
    .endm

    .text
    .global setjmp
    .balign 4
setjmp:
    entry   a1, 32
    mov     a4, a2
    movi    a8, spill_windows
    callx8  a8
    addi    a5, a1, -16
    copy4   a4, 0, a5, 0
    l32i    a6, a4, 4               // the caller's stack
    addi    a6, a6, -16
    copy4   a4, 32, a6, 0
    l32i    a7, a6, 4               // its caller's stack
    addi    a7, a7, -32
    copy4   a4, 16, a7, 0
    s32i    a0, a4, 48
    movi    a2, 0
    retw

    .global longjmp
    .balign 4
longjmp:
    entry   a1, 32
    mov     a4, a2
    movi    a8, spill_windows
    callx8  a8
    l32i    a6, a4, 4
    addi    a5, a6, -32             // setjmp's stack
    addi    a5, a5, -16
    copy4   a5, 0, a4, 0
    addi    a6, a6, -16
    copy4   a6, 0, a4, 32
    l32i    a7, a6, 4
    addi    a7, a7, -32
    copy4   a7, 0, a4, 16
    l32i    a0, a4, 48
    addi    a1, a5, 16
    movi    a4, 1
    moveqz  a3, a4, a3              // longjmp(…, 0) is longjmp(…, 1)
    mov     a2, a3
    retw
