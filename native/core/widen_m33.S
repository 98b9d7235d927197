// Panels of int16 for tti_m33_dot (dot_m33.h says how they lie).
//
// void tti_m33_widen2(uint32_t *panel, const int8_t *r, const int8_t *s, int n)
// void tti_m33_widen2_relu(uint32_t *panel, const int8_t *r, const int8_t *s, int n)
// void tti_m33_widen4(uint32_t *panel, const int8_t *r, size_t stride, int n)
// Rows at any address; n > 0 terms, a multiple of 16.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        // Sixteen terms of two rows; with `relu` negative ones count as 0.
        .macro widen2 relu
        push    {r4-r11}
1:      .rept   2
        ldr     r4, [r1], #4
        ldr     r5, [r2], #4
        ldr     r8, [r1], #4
        ldr     r9, [r2], #4
        sxtb16  r6, r4, ror #8
        sxtb16  r7, r5, ror #8
        sxtb16  r4, r4
        sxtb16  r5, r5
        sxtb16  r10, r8, ror #8
        sxtb16  r11, r9, ror #8
        sxtb16  r8, r8
        sxtb16  r9, r9
        .if     \relu
        .irp    r, 4, 5, 6, 7, 8, 9, 10, 11
        usat16  r\r, #7, r\r
        .endr
        .endif
        stm     r0!, {r4-r11}
        .endr
        subs    r3, r3, #16
        bne     1b
        pop     {r4-r11}
        bx      lr
        .endm

        begin tti_m33_widen2
        widen2  0
        end tti_m33_widen2

        begin tti_m33_widen2_relu
        widen2  1
        end tti_m33_widen2_relu

        begin tti_m33_widen4
        push    {r4-r11, lr}
        mov     lr, r3
        add     r3, r1, r2      // rows r1, r3, r12, r2
        add     r12, r3, r2
        add     r2, r12, r2
1:      .rept   4               // four terms of four rows
        ldr     r8, [r1], #4
        ldr     r9, [r3], #4
        ldr     r10, [r12], #4
        ldr     r11, [r2], #4
        sxtb16  r4, r8
        sxtb16  r5, r9
        sxtb16  r6, r10
        sxtb16  r7, r11
        sxtb16  r8, r8, ror #8
        sxtb16  r9, r9, ror #8
        sxtb16  r10, r10, ror #8
        sxtb16  r11, r11, ror #8
        stm     r0!, {r4-r11}
        .endr
        subs    lr, lr, #16
        bne     1b
        pop     {r4-r11, pc}
        end tti_m33_widen4
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
