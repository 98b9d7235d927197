// Parts of LayerNorm (layernorm_pie.c): contract §6.
//
// float tti_pie_sum4(const float *x, int n)
// float tti_pie_sum4_squares(const float *x, float mean, int n)
// void tti_pie_modulate(float *out, const float *x, const float *shift, const float *scale,
//                       const float mean_and_r[2], int n)
//
// Alignment: out, x, shift, scale 16. n > 0 a multiple of 8. No over-read.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

        .macro  no_sums                 // f0...f3, the lanes
        const.s f0, 0
        const.s f1, 0
        const.s f2, 0
        const.s f3, 0
        .endm

        .macro  return_sum              // (l0 + l1) + (l2 + l3)
        add.s   f0, f0, f1
        add.s   f2, f2, f3
        add.s   f0, f0, f2
        rfr     a2, f0
        retw
        .endm

#define EIGHT_VALUES                    \
        ee.ldf.128.ip f7, f6, f5, f4, a2, 16;   \
        ee.ldf.128.ip f11, f10, f9, f8, a2, 16
#define TO_LANES                        \
        add.s   f0, f0, f4;             \
        add.s   f1, f1, f5;             \
        add.s   f2, f2, f6;             \
        add.s   f3, f3, f7;             \
        add.s   f0, f0, f8;             \
        add.s   f1, f1, f9;             \
        add.s   f2, f2, f10;            \
        add.s   f3, f3, f11

        begin tti_pie_sum4              // a2 x, a3 n
        entry   a1, 32
        no_sums
        srli    a3, a3, 3
        loopnez a3, 1f
        EIGHT_VALUES
        TO_LANES
1:      return_sum
        end tti_pie_sum4

        begin tti_pie_sum4_squares      // a2 x, a3 mean, a4 n; f12 mean
        entry   a1, 32
        wfr     f12, a3
        no_sums
        srli    a4, a4, 3
        loopnez a4, 1f
        EIGHT_VALUES
        sub.s   f4, f4, f12
        sub.s   f5, f5, f12
        sub.s   f6, f6, f12
        sub.s   f7, f7, f12
        sub.s   f8, f8, f12
        sub.s   f9, f9, f12
        sub.s   f10, f10, f12
        sub.s   f11, f11, f12
        mul.s   f4, f4, f4
        mul.s   f5, f5, f5
        mul.s   f6, f6, f6
        mul.s   f7, f7, f7
        mul.s   f8, f8, f8
        mul.s   f9, f9, f9
        mul.s   f10, f10, f10
        mul.s   f11, f11, f11
        TO_LANES
1:      return_sum
        end tti_pie_sum4_squares

// f0...f3 x, f4...f7 scale, f8...f11 shift and the result, f12 mean, f13 r, f14 one
#define X_AND_SCALE                     \
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16;   \
        ee.ldf.128.ip f7, f6, f5, f4, a5, 16
#define MODULATED                       \
        ee.ldf.128.ip f11, f10, f9, f8, a4, 16; \
        sub.s   f0, f0, f12;            \
        sub.s   f1, f1, f12;            \
        sub.s   f2, f2, f12;            \
        sub.s   f3, f3, f12;            \
        add.s   f4, f14, f4;            \
        add.s   f5, f14, f5;            \
        add.s   f6, f14, f6;            \
        add.s   f7, f14, f7;            \
        mul.s   f0, f0, f13;            \
        mul.s   f1, f1, f13;            \
        mul.s   f2, f2, f13;            \
        mul.s   f3, f3, f13;            \
        mul.s   f0, f0, f4;             \
        mul.s   f1, f1, f5;             \
        mul.s   f2, f2, f6;             \
        mul.s   f3, f3, f7;             \
        add.s   f8, f0, f8;             \
        add.s   f9, f1, f9;             \
        add.s   f10, f2, f10;           \
        add.s   f11, f3, f11

        begin tti_pie_modulate          // a2 out, a3 x, a4 shift, a5 scale, a6 mean_and_r, a7 n
        entry   a1, 32
        lsi     f12, a6, 0
        lsi     f13, a6, 4
        const.s f14, 1
        srli    a7, a7, 2
        addi    a7, a7, -1
        X_AND_SCALE
        loopnez a7, 1f
        MODULATED
        X_AND_SCALE                     // while the sums before are under way
        ee.stf.128.ip f11, f10, f9, f8, a2, 16
1:      MODULATED
        ee.stf.128.ip f11, f10, f9, f8, a2, 16
        retw
        end tti_pie_modulate
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
