// Sums of int8 products to float32 (scale_pie.h): contract §5, §7.
//
// void tti_pie_scale(float *out, const float *sums, const tti_pie_scale_t *s)
// void tti_pie_scale_add(float *out, const float *sums, const tti_pie_scale_t *s)
//
// Four results side by side, so that none waits for the one before. No multiply and add is fused:
// each is rounded by itself.
//   a2 out   a3 sums   a4 s, then sx   a5 sx_stride   a6 out_stride   a7 rows   a8 bias
//   f0...f3 results   f4...f7 sw   f8...f11 bias or gate   f12 sx   f12...f15 bias, then out
// Alignment: out, sums, s and out_stride 16, sx 4. No over-read.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

#define BIAS 16
#define GATE 32
#define SX 48
#define SX_STRIDE 52
#define OUT_STRIDE 56
#define ROWS 60
#define ANY_BIAS 64

#define SCALED                          \
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16;   \
        lsxp    f12, a4, a5;            \
        mul.s   f0, f0, f12;            \
        mul.s   f1, f1, f12;            \
        mul.s   f2, f2, f12;            \
        mul.s   f3, f3, f12
#define BY_SW                           \
        mul.s   f0, f0, f4;             \
        mul.s   f1, f1, f5;             \
        mul.s   f2, f2, f6;             \
        mul.s   f3, f3, f7
#define GATED_AND_ADDED                 \
        mul.s   f0, f8, f0;             \
        mul.s   f1, f9, f1;             \
        mul.s   f2, f10, f2;            \
        mul.s   f3, f11, f3;            \
        add.s   f0, f12, f0;            \
        add.s   f1, f13, f1;            \
        add.s   f2, f14, f2;            \
        add.s   f3, f15, f3

        .macro  open
        l32i    a5, a4, SX_STRIDE
        l32i    a6, a4, OUT_STRIDE
        l32i    a7, a4, ROWS
        addi    a8, a4, BIAS
        .endm

        begin tti_pie_scale
        entry   a1, 32
        open
        ee.ldf.128.ip f7, f6, f5, f4, a4, 0
        ee.ldf.128.ip f11, f10, f9, f8, a8, 0
        l32i    a4, a4, SX
        loopnez a7, 1f
        SCALED
        BY_SW
        add.s   f0, f0, f8
        add.s   f1, f1, f9
        add.s   f2, f2, f10
        add.s   f3, f3, f11
        ee.stf.128.xp f3, f2, f1, f0, a2, a6
1:      retw
        end tti_pie_scale

        begin tti_pie_scale_add
        entry   a1, 32
        open
        addi    a9, a4, GATE
        l32i    a10, a4, ANY_BIAS
        ee.ldf.128.ip f7, f6, f5, f4, a4, 0
        ee.ldf.128.ip f11, f10, f9, f8, a9, 0
        l32i    a4, a4, SX
        bnez    a10, 2f
        loopnez a7, 1f
        SCALED
        ee.ldf.128.ip f15, f14, f13, f12, a2, 0
        BY_SW
        GATED_AND_ADDED
        ee.stf.128.xp f3, f2, f1, f0, a2, a6
1:      retw
2:      loopnez a7, 3f
        SCALED
        ee.ldf.128.ip f15, f14, f13, f12, a8, 0
        BY_SW
        add.s   f0, f0, f12
        add.s   f1, f1, f13
        add.s   f2, f2, f14
        add.s   f3, f3, f15
        ee.ldf.128.ip f15, f14, f13, f12, a2, 0
        GATED_AND_ADDED
        ee.stf.128.xp f3, f2, f1, f0, a2, a6
3:      retw
        end tti_pie_scale_add
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
