// GELU on Cortex-M33 (gelu_m33.c): contract §3.
//
// size_t tti_m33_gelu(float *out, const float *x, const float *table, size_t n)
//   Four values at a time, n a multiple of 4, as long as all of them are inside (-6, 6); returns
//   how many values are left. out may be x.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        begin tti_m33_gelu
        push    {r4-r8}
        cmp     r3, #0
        beq     3f
        vmov.f32 s12, #6.0
        ldr     r8, =0x42AAAAAB         // 85.33333333
        vmov    s13, r8
        ldr     r8, =0x81800000         // 6.0 as a doubled bit pattern: magnitudes without sign
1:      ldmia   r1, {r4-r7}
        cmp     r8, r4, lsl #1
        ittt    hi
        cmphi   r8, r5, lsl #1
        cmphi   r8, r6, lsl #1
        cmphi   r8, r7, lsl #1
        bls     3f
        vldmia  r1!, {s0-s3}
        .irp    x, s0, s1, s2, s3       // p = (x + 6) * 85.33333333
        vadd.f32 \x, \x, s12
        .endr
        .irp    x, s0, s1, s2, s3
        vmul.f32 \x, \x, s13
        .endr
        vcvt.s32.f32 s4, s0             // i = min(int(p), 1023)
        vcvt.s32.f32 s5, s1
        vcvt.s32.f32 s6, s2
        vcvt.s32.f32 s7, s3
        vmov    r4, r5, s4, s5
        vmov    r6, r7, s6, s7
        .irp    x, r4, r5, r6, r7
        usat    \x, #10, \x
        .endr
        vmov    s4, s5, r4, r5
        vmov    s6, s7, r6, r7
        .irp    x, s4, s5, s6, s7
        vcvt.f32.s32 \x, \x
        .endr
        vsub.f32 s0, s0, s4
        vsub.f32 s1, s1, s5
        vsub.f32 s2, s2, s6
        vsub.f32 s3, s3, s7
        .irp    x, r4, r5, r6, r7
        add     \x, r2, \x, lsl #3
        .endr
        vldmia  r4, {s4-s5}             // value + slope * (p - i)
        vldmia  r5, {s6-s7}
        vldmia  r6, {s8-s9}
        vldmia  r7, {s10-s11}
        vmul.f32 s0, s5, s0
        vmul.f32 s1, s7, s1
        vmul.f32 s2, s9, s2
        vmul.f32 s3, s11, s3
        vadd.f32 s0, s4, s0
        vadd.f32 s1, s6, s1
        vadd.f32 s2, s8, s2
        vadd.f32 s3, s10, s3
        vstmia  r0!, {s0-s3}
        subs    r3, r3, #4
        bne     1b
3:      mov     r0, r3
        pop     {r4-r8}
        bx      lr
        .ltorg
        end tti_m33_gelu
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
