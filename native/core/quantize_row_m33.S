// The parts of quantisation on Cortex-M33 (quantize_m33.h): contract §4 and §2.
//
// uint32_t tti_m33_largest(const float *x, int n)
// void tti_m33_quantize(int8_t *q, const float *x, float inv, int n)
// void tti_m33_quantize_strided(int8_t *q, const float *x, float inv, int n, size_t stride)
// Doubled bit patterns have no sign and order like magnitudes. vcvtr rounds to nearest even, the
// mode that FPSCR has from reset on; |x * inv| < 127.5 needs no clamp.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        begin tti_m33_largest
        push    {r4-r7}
        movs    r2, #0
1:      ldmia   r0!, {r4-r7}
        .irp    r, r4, r5, r6, r7
        cmp     r2, \r, lsl #1
        it      lo
        lsllo   r2, \r, #1
        .endr
        subs    r1, r1, #4
        bne     1b
        mov     r0, r2
        pop     {r4-r7}
        bx      lr
        end tti_m33_largest

        // s0-s3 to four bytes at r0
        .macro four_bytes
        .irp    r, s0, s1, s2, s3
        vmul.f32 \r, \r, s4
        .endr
        .irp    r, s0, s1, s2, s3
        vcvtr.s32.f32 \r, \r
        .endr
        vmov    r2, r4, s0, s1
        vmov    r5, r6, s2, s3
        bfi     r2, r4, #8, #8
        bfi     r2, r5, #16, #8
        bfi     r2, r6, #24, #8
        str     r2, [r0], #4
        .endm

        begin tti_m33_quantize
        push    {r4-r6}
        vmov    s4, r2
1:      vldmia  r1!, {s0-s3}
        four_bytes
        subs    r3, r3, #4
        bne     1b
        pop     {r4-r6}
        bx      lr
        end tti_m33_quantize

        begin tti_m33_quantize_strided
        push    {r4-r7}
        vmov    s4, r2
        ldr     r7, [sp, #16]
1:      .irp    r, s0, s1, s2, s3
        vldr    \r, [r1]
        add     r1, r1, r7
        .endr
        four_bytes
        subs    r3, r3, #4
        bne     1b
        pop     {r4-r7}
        bx      lr
        end tti_m33_quantize_strided
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
