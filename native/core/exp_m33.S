// Weights of softmax on Cortex-M33 (softmax_s8_m33.c): contract §7 with the exp of §3.
//
// void tti_m33_exp_diffuse(int8_t *p, const float *s, float m, diffusion_t *d, int n)
//   p[n] from s[n], n > 0 a multiple of 4; d is {rest, sum}, carried on.
// Four exponentials side by side. Adding MAGIC, 1.5 * 2^23, leaves a rounded integer in the low
// bits, which shifted to the exponent field becomes 2^n; the same way gives the bytes of p.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        begin tti_m33_exp_diffuse
        push    {r4-r9, lr}
        vpush   {s16-s30}
        ldr     r9, [sp, #88]           // n
        adr     r4, tti_m33_exp_constants
        vldmia  r4, {s16-s27}
        vmov    s28, r2                 // m
        vldr    s29, [r3]               // rest
        ldr     r2, [r3, #4]            // sum
        mov     r8, #0x3F800000
        movs    lr, #0
1:      vldmia  r1!, {s0-s3}
        .irp    x, s0, s1, s2, s3       // x = max(s - m, -87)
        vsub.f32 \x, \x, s28
        .endr
        .irp    x, s0, s1, s2, s3
        vmaxnm.f32 \x, \x, s16
        .endr
        vmul.f32 s4, s0, s17            // n + MAGIC
        vmul.f32 s5, s1, s17
        vmul.f32 s6, s2, s17
        vmul.f32 s7, s3, s17
        .irp    x, s4, s5, s6, s7
        vadd.f32 \x, \x, s18
        .endr
        vmov    r4, r5, s4, s5
        vmov    r6, r7, s6, s7
        .irp    x, s4, s5, s6, s7       // n
        vsub.f32 \x, \x, s18
        .endr
        .irp    x, r4, r5, r6, r7       // 2^n
        add     \x, r8, \x, lsl #23
        .endr
        vmul.f32 s8, s4, s19            // f = (x - n * C1) - n * C2
        vmul.f32 s9, s5, s19
        vmul.f32 s10, s6, s19
        vmul.f32 s11, s7, s19
        vsub.f32 s0, s0, s8
        vsub.f32 s1, s1, s9
        vsub.f32 s2, s2, s10
        vsub.f32 s3, s3, s11
        .irp    x, s4, s5, s6, s7
        vmul.f32 \x, \x, s20
        .endr
        vsub.f32 s0, s0, s4
        vsub.f32 s1, s1, s5
        vsub.f32 s2, s2, s6
        vsub.f32 s3, s3, s7
        vmul.f32 s8, s21, s0            // p = c6 * f + c5 ...
        vmul.f32 s9, s21, s1
        vmul.f32 s10, s21, s2
        vmul.f32 s11, s21, s3
        .irp    c, s22, s23, s24, s25, s26
        .irp    x, s8, s9, s10, s11
        vadd.f32 \x, \x, \c
        .endr
        vmul.f32 s8, s8, s0
        vmul.f32 s9, s9, s1
        vmul.f32 s10, s10, s2
        vmul.f32 s11, s11, s3
        .endr
        .irp    x, s8, s9, s10, s11
        vadd.f32 \x, \x, s26
        .endr
        vmov    s4, s5, r4, r5
        vmov    s6, s7, r6, r7
        vmul.f32 s8, s8, s4
        vmul.f32 s9, s9, s5
        vmul.f32 s10, s10, s6
        vmul.f32 s11, s11, s7
        .irp    x, s8, s9, s10, s11
        vmul.f32 \x, \x, s27
        .endr
        .irp    x, s8, s9, s10, s11     // rest += e; p = rne(rest); rest -= p
        vadd.f32 s29, s29, \x
        vadd.f32 \x, s29, s18
        vsub.f32 s30, \x, s18
        vsub.f32 s29, s29, s30
        .endr
        vmov    r4, r5, s8, s9
        vmov    r6, r7, s10, s11
        bfi     r4, r5, #8, #8
        bfi     r4, r6, #16, #8
        bfi     r4, r7, #24, #8
        str     r4, [r0], #4
        usada8  r2, r4, lr, r2          // the four bytes, 0...126, to the sum
        subs    r9, r9, #4
        bne     1b
        vstr    s29, [r3]
        str     r2, [r3, #4]
        vpop    {s16-s30}
        pop     {r4-r9, pc}
        .balign 4
tti_m33_exp_constants:
        .float  -87.0, 1.442695041, 12582912.0, 0.693359375, -2.12194440e-4
        .float  0.001388888888888889, 0.008333333333333333, 0.041666666666666664
        .float  0.16666666666666666, 0.5, 1.0, 126.0
        end tti_m33_exp_diffuse

        begin tti_m33_max               // float tti_m33_max(const float *x, int n)
        vldr    s0, [r0]
1:      vldmia  r0!, {s4-s7}
        vmaxnm.f32 s4, s4, s5
        vmaxnm.f32 s6, s6, s7
        vmaxnm.f32 s0, s0, s4
        vmaxnm.f32 s0, s0, s6
        subs    r1, r1, #4
        bne     1b
        vmov    r0, s0
        bx      lr
        end tti_m33_max
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
