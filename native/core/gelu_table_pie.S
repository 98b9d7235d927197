// GELU from its table (gelu_pie.c): contract §3.
//
// void tti_pie_gelu(float *out, const float *x, const float *table, size_t n, float six,
//                   float steps)
//   n a multiple of 4, all |x| < 5.984375, so that the place in the table needs no bounds;
//   six = 6, steps = 85.33333333; out may be x.
//   a2 out   a3 x   a4 table   a8...a11 places   f14 six   f15 steps
// Alignment: out, x 16, table 8. No over-read.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

        begin tti_pie_gelu
        entry   a1, 32
        wfr     f14, a6
        wfr     f15, a7
        srli    a5, a5, 2
        loopnez a5, 1f
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16
        add.s   f0, f0, f14             // p = (x + 6) * 85.33333333
        add.s   f1, f1, f14
        add.s   f2, f2, f14
        add.s   f3, f3, f14
        mul.s   f0, f0, f15
        mul.s   f1, f1, f15
        mul.s   f2, f2, f15
        mul.s   f3, f3, f15
        trunc.s a8, f0, 0               // i
        trunc.s a9, f1, 0
        trunc.s a10, f2, 0
        trunc.s a11, f3, 0
        float.s f4, a8, 0
        float.s f5, a9, 0
        float.s f6, a10, 0
        float.s f7, a11, 0
        sub.s   f0, f0, f4              // p - i
        sub.s   f1, f1, f5
        sub.s   f2, f2, f6
        sub.s   f3, f3, f7
        addx8   a8, a8, a4
        addx8   a9, a9, a4
        addx8   a10, a10, a4
        addx8   a11, a11, a4
        ee.ldf.64.ip f9, f8, a8, 0      // slope, value
        ee.ldf.64.ip f11, f10, a9, 0
        ee.ldf.64.ip f5, f4, a10, 0
        ee.ldf.64.ip f7, f6, a11, 0
        mul.s   f0, f9, f0              // value + slope * (p - i)
        mul.s   f1, f11, f1
        mul.s   f2, f5, f2
        mul.s   f3, f7, f3
        add.s   f0, f8, f0
        add.s   f1, f10, f1
        add.s   f2, f4, f2
        add.s   f3, f6, f3
        ee.stf.128.ip f3, f2, f1, f0, a2, 16
1:      retw
        end tti_pie_gelu
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
