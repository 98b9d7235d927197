// Dot products of two rows with tiles of four rows (dot_m33.h): contract §1, exact.
//
// void tti_m33_dot(int32_t *sums0, int32_t *sums1, const uint32_t *a, const uint32_t *b,
//                  const uint32_t *a_end, int tiles, bool first)
// Eight sums and two words of each side fill the registers: two terms take three loads and eight
// smlad, 11 instructions for 16 products.
#include "target.h"

#ifdef TTI_M33
#include "m33.inc"

        .macro sixteen_terms
        .rept   8
        ldrd    r0, r3, [r1], #8
        ldrd    r12, lr, [r2], #8
        smlad   r4, r0, r12, r4
        smlad   r8, r3, r12, r8
        smlad   r5, r0, lr, r5
        smlad   r9, r3, lr, r9
        ldrd    r12, lr, [r2], #8
        smlad   r6, r0, r12, r6
        smlad   r10, r3, r12, r10
        smlad   r7, r0, lr, r7
        smlad   r11, r3, lr, r11
        .endr
        .endm

        .set SUMS, 0            // sums0, sums1 of the tile
        .set A, 8
        .set ODD, 12            // whether the number of steps of 16 terms is odd
        .set END, 52            // the arguments that came on the stack
        .set TILES, 56
        .set FIRST, 60

        begin tti_m33_dot
        push    {r0-r11, lr}
        ldr     r1, [sp, #END]
        subs    r1, r1, r2
        ands    r1, r1, #64     // 16 terms of two rows are 64 bytes
        str     r1, [sp, #ODD]
        mov     r2, r3
tile:   ldr     r3, [sp, #FIRST]
        cbz     r3, 1f
        adr     r12, zeros
        ldm     r12, {r4-r11}
        b       2f
1:      ldrd    r12, lr, [sp, #SUMS]
        ldm     r12, {r4-r7}
        ldm     lr, {r8-r11}
2:      ldrd    r1, r3, [sp, #A]
        cmp     r3, #0
        bne     4f
3:      sixteen_terms
4:      sixteen_terms
        ldr     r0, [sp, #END]
        cmp     r1, r0
        bne     3b

        ldrd    r12, lr, [sp, #SUMS]
        stm     r12!, {r4-r7}
        stm     lr!, {r8-r11}
        strd    r12, lr, [sp, #SUMS]
        ldr     r3, [sp, #TILES]
        subs    r3, r3, #1
        str     r3, [sp, #TILES]
        bne     tile
        add     sp, sp, #16
        pop     {r4-r11, pc}
        .balign 4
zeros:  .space  32
        end tti_m33_dot
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
