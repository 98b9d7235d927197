// Quantisation of activations (quantize_pie.h): contract §4, and §2 by round.s, which rounds half
// to even.
//
// uint32_t tti_pie_largest(const float *x, size_t n)
// void tti_pie_largest4(uint32_t most[4], const float *x, int rows, size_t stride)
// void tti_pie_quantize(int8_t *q, const float *x, float inv, int n)
// void tti_pie_quantize4(int8_t *q, const float *x, const float inv[4], int rows, size_t stride)
//
// Bit patterns of positive floats are ordered like integers, of which a vector has four.
// Alignment: x, stride and inv 16. n a multiple of 8, rows of 2. No over-read: the last vectors
// are loaded before the last turn.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

        // q7 = four times 0x7FFFFFFF
        .macro  mask_in_q7
        movi    a8, -1
        srli    a8, a8, 1
        s32i    a8, a1, 0
        ee.vldbc.32 q7, a1
        .endm

        begin tti_pie_largest           // a2 x, a3 n; q0, q1 values, q4, q5 maxima
        entry   a1, 32
        mask_in_q7
        srli    a3, a3, 3
        ee.vld.128.ip q0, a2, 16
        ee.vld.128.ip q1, a2, 16
        addi    a3, a3, -1
        ee.zero.q q4
        ee.zero.q q5
        loopnez a3, 1f
        ee.andq q2, q0, q7
        ee.andq q3, q1, q7
        ee.vmax.s32.ld.incp q0, a2, q4, q4, q2
        ee.vmax.s32.ld.incp q1, a2, q5, q5, q3
1:      ee.andq q2, q0, q7
        ee.andq q3, q1, q7
        ee.vmax.s32 q4, q4, q2
        ee.vmax.s32 q5, q5, q3
        ee.vmax.s32 q4, q4, q5
        ee.movi.32.a q4, a2, 0
        ee.movi.32.a q4, a3, 1
        ee.movi.32.a q4, a4, 2
        ee.movi.32.a q4, a5, 3
        max     a2, a2, a3
        max     a4, a4, a5
        max     a2, a2, a4
        retw
        end tti_pie_largest

        begin tti_pie_largest4          // a2 most, a3 x, a4 rows, a5 stride
        entry   a1, 32
        mask_in_q7
        srli    a4, a4, 1
        ee.zero.q q4
        ee.zero.q q5
        loopnez a4, 1f
        ee.vld.128.xp q0, a3, a5
        ee.vld.128.xp q1, a3, a5
        ee.andq q0, q0, q7
        ee.andq q1, q1, q7
        ee.vmax.s32 q4, q4, q0
        ee.vmax.s32 q5, q5, q1
1:      ee.vmax.s32 q4, q4, q5
        ee.movi.32.a q4, a8, 0
        ee.movi.32.a q4, a9, 1
        ee.movi.32.a q4, a10, 2
        ee.movi.32.a q4, a11, 3
        s32i    a8, a2, 0
        s32i    a9, a2, 4
        s32i    a10, a2, 8
        s32i    a11, a2, 12
        retw
        end tti_pie_largest4

        begin tti_pie_quantize          // a2 q, a3 x, a4 inv, a5 n; f8 inv
        entry   a1, 32
        wfr     f8, a4
        srli    a5, a5, 3
        loopnez a5, 1f
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16
        ee.ldf.128.ip f7, f6, f5, f4, a3, 16
        mul.s   f0, f0, f8
        mul.s   f1, f1, f8
        mul.s   f2, f2, f8
        mul.s   f3, f3, f8
        mul.s   f4, f4, f8
        mul.s   f5, f5, f8
        mul.s   f6, f6, f8
        mul.s   f7, f7, f8
        round.s a8, f0, 0
        round.s a9, f1, 0
        round.s a10, f2, 0
        round.s a11, f3, 0
        round.s a12, f4, 0
        round.s a13, f5, 0
        round.s a14, f6, 0
        round.s a15, f7, 0
        s8i     a8, a2, 0
        s8i     a9, a2, 1
        s8i     a10, a2, 2
        s8i     a11, a2, 3
        s8i     a12, a2, 4
        s8i     a13, a2, 5
        s8i     a14, a2, 6
        s8i     a15, a2, 7
        addi    a2, a2, 8
1:      retw
        end tti_pie_quantize

        begin tti_pie_quantize4         // a2, a7, a8, a9 rows of q; f8...f11 inv
        entry   a1, 32
        ee.ldf.128.ip f11, f10, f9, f8, a4, 0
        add     a7, a2, a5
        add     a8, a7, a5
        add     a9, a8, a5
        srli    a5, a5, 1
        loopnez a5, 1f
        ee.ldf.128.xp f3, f2, f1, f0, a3, a6
        ee.ldf.128.xp f7, f6, f5, f4, a3, a6
        mul.s   f0, f0, f8
        mul.s   f1, f1, f9
        mul.s   f2, f2, f10
        mul.s   f3, f3, f11
        mul.s   f4, f4, f8
        mul.s   f5, f5, f9
        mul.s   f6, f6, f10
        mul.s   f7, f7, f11
        round.s a10, f0, 0
        round.s a11, f1, 0
        round.s a12, f2, 0
        round.s a13, f3, 0
        s8i     a10, a2, 0
        s8i     a11, a7, 0
        s8i     a12, a8, 0
        s8i     a13, a9, 0
        round.s a10, f4, 0
        round.s a11, f5, 0
        round.s a12, f6, 0
        round.s a13, f7, 0
        s8i     a10, a2, 1
        s8i     a11, a7, 1
        s8i     a12, a8, 1
        s8i     a13, a9, 1
        addi    a2, a2, 2
        addi    a7, a7, 2
        addi    a8, a8, 2
        addi    a9, a9, 2
1:      retw
        end tti_pie_quantize4
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
