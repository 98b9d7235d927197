// Sums of int8 products to float32 (dot_m33.h): contract §5.
//
// void tti_m33_scale(float *out, const int32_t *acc, float sx, const float *sw, const float *bias,
//                    const float *gate, int n)
// v = ((acc * sx) * sw) + bias; out = v, or out + gate * v. bias and gate may be NULL; n > 0 is a
// multiple of 4; out may be acc.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        begin tti_m33_scale
        push    {r4, r5, r6, lr}
        vmov    s12, r2         // sx: floats are passed in core registers
        ldrd    r4, r5, [sp, #16] // bias, gate
        ldr     r6, [sp, #24]
1:      vldmia  r1!, {s0-s3}
        vldmia  r3!, {s4-s7}
        vcvt.f32.s32 s0, s0
        vcvt.f32.s32 s1, s1
        vcvt.f32.s32 s2, s2
        vcvt.f32.s32 s3, s3
        vmul.f32 s0, s0, s12
        vmul.f32 s1, s1, s12
        vmul.f32 s2, s2, s12
        vmul.f32 s3, s3, s12
        vmul.f32 s0, s0, s4
        vmul.f32 s1, s1, s5
        vmul.f32 s2, s2, s6
        vmul.f32 s3, s3, s7
        cbz     r4, 2f
        vldmia  r4!, {s4-s7}
        vadd.f32 s0, s0, s4
        vadd.f32 s1, s1, s5
        vadd.f32 s2, s2, s6
        vadd.f32 s3, s3, s7
2:      cbz     r5, 3f
        vldmia  r5!, {s4-s7}
        vldmia  r0, {s8-s11}
        vmul.f32 s0, s4, s0
        vmul.f32 s1, s5, s1
        vmul.f32 s2, s6, s2
        vmul.f32 s3, s7, s3
        vadd.f32 s0, s8, s0
        vadd.f32 s1, s9, s1
        vadd.f32 s2, s10, s2
        vadd.f32 s3, s11, s3
3:      subs    r6, r6, #4
        vstmia  r0!, {s0-s3}
        bne     1b
        pop     {r4, r5, r6, pc}
        end tti_m33_scale
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
