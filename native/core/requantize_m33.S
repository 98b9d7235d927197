// Sums of a convolution to int8 or bytes (requantize_m33.h): contract §8 and §2.
//
// void tti_m33_requantize(int8_t *out, const int32_t *sums, const tti_m33_requantize_t *q,
//                         const int8_t *res, int n)
// vmaxnm takes the number where the other operand is NaN, as clamp8 does; vcvtr rounds to nearest
// even, the mode that FPSCR has from reset on.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        .macro four op b
        .irp    r, 0, 1, 2, 3
        \op     s\r, s\r, \b
        .endr
        .endm

        begin tti_m33_requantize
        push    {r4-r10, lr}
        ldr     r6, [sp, #32]
        ldrd    r4, r5, [r2], #8        // m, b
        vldmia  r2, {s12-s14}           // r, low, high
1:      vldmia  r1!, {s0-s3}
        vldmia  r4!, {s4-s7}
        vldmia  r5!, {s8-s11}
        vcvt.f32.s32 s0, s0
        vcvt.f32.s32 s1, s1
        vcvt.f32.s32 s2, s2
        vcvt.f32.s32 s3, s3
        vmul.f32 s0, s0, s4
        vmul.f32 s1, s1, s5
        vmul.f32 s2, s2, s6
        vmul.f32 s3, s3, s7
        vadd.f32 s0, s0, s8
        vadd.f32 s1, s1, s9
        vadd.f32 s2, s2, s10
        vadd.f32 s3, s3, s11
        cbz     r3, 2f
        ldrsb   r7, [r3], #1
        ldrsb   r8, [r3], #1
        ldrsb   r9, [r3], #1
        ldrsb   r10, [r3], #1
        vmov    s4, s5, r7, r8
        vmov    s6, s7, r9, r10
        vcvt.f32.s32 s4, s4
        vcvt.f32.s32 s5, s5
        vcvt.f32.s32 s6, s6
        vcvt.f32.s32 s7, s7
        vmul.f32 s4, s4, s12
        vmul.f32 s5, s5, s12
        vmul.f32 s6, s6, s12
        vmul.f32 s7, s7, s12
        vadd.f32 s0, s0, s4
        vadd.f32 s1, s1, s5
        vadd.f32 s2, s2, s6
        vadd.f32 s3, s3, s7
2:      four    vmaxnm.f32, s13
        four    vminnm.f32, s14
        vcvtr.s32.f32 s0, s0
        vcvtr.s32.f32 s1, s1
        vcvtr.s32.f32 s2, s2
        vcvtr.s32.f32 s3, s3
        vmov    r7, r8, s0, s1
        vmov    r9, r10, s2, s3
        bfi     r7, r8, #8, #8
        bfi     r7, r9, #16, #8
        bfi     r7, r10, #24, #8
        str     r7, [r0], #4
        subs    r6, r6, #4
        bne     1b
        pop     {r4-r10, pc}
        end tti_m33_requantize
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
