// The parts of LayerNorm on Cortex-M33 (layernorm_m33.c): contract §6. The four lanes of sum4 are
// s0-s3. n > 0 is a multiple of 4.
//
// float tti_m33_sum4(const float *x, int n)
// float tti_m33_sum4_squares(const float *x, float mean, int n)
// void tti_m33_modulate(float *out, const float *x, const float *shift, const float *scale,
//                       const float mean_and_r[2], int n)
//     (((x - mean) * r) * (1 + scale)) + shift
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        .macro total
        vadd.f32 s0, s0, s1
        vadd.f32 s2, s2, s3
        vadd.f32 s0, s0, s2
        vmov    r0, s0
        bx      lr
        .endm

        .macro zero_lanes
        movs    r3, #0
        vmov    s0, s1, r3, r3
        vmov    s2, s3, r3, r3
        .endm

        begin tti_m33_sum4
        zero_lanes
1:      vldmia  r0!, {s4-s7}
        vadd.f32 s0, s0, s4
        vadd.f32 s1, s1, s5
        vadd.f32 s2, s2, s6
        vadd.f32 s3, s3, s7
        subs    r1, r1, #4
        bne     1b
        total
        end tti_m33_sum4

        begin tti_m33_sum4_squares
        zero_lanes
        vmov    s8, r1
1:      vldmia  r0!, {s4-s7}
        .irp    r, s4, s5, s6, s7
        vsub.f32 \r, \r, s8
        .endr
        .irp    r, s4, s5, s6, s7
        vmul.f32 \r, \r, \r
        .endr
        vadd.f32 s0, s0, s4
        vadd.f32 s1, s1, s5
        vadd.f32 s2, s2, s6
        vadd.f32 s3, s3, s7
        subs    r2, r2, #4
        bne     1b
        total
        end tti_m33_sum4_squares

        begin tti_m33_modulate
        push    {r4, lr}
        ldrd    r4, lr, [sp, #8]
        vldmia  r4, {s12-s13}
        vmov.f32 s14, #1.0
1:      vldmia  r1!, {s0-s3}
        vldmia  r3!, {s4-s7}
        vldmia  r2!, {s8-s11}
        .irp    r, s0, s1, s2, s3
        vsub.f32 \r, \r, s12
        .endr
        .irp    r, s4, s5, s6, s7
        vadd.f32 \r, s14, \r
        .endr
        .irp    r, s0, s1, s2, s3
        vmul.f32 \r, \r, s13
        .endr
        vmul.f32 s0, s0, s4
        vmul.f32 s1, s1, s5
        vmul.f32 s2, s2, s6
        vmul.f32 s3, s3, s7
        vadd.f32 s0, s0, s8
        vadd.f32 s1, s1, s9
        vadd.f32 s2, s2, s10
        vadd.f32 s3, s3, s11
        vstmia  r0!, {s0-s3}
        subs    lr, lr, #4
        bne     1b
        pop     {r4, pc}
        end tti_m33_modulate
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
