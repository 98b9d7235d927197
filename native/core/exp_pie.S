// Weights of softmax (softmax_s8_pie.c): contract §7 with the exp of §3.
//
// void tti_pie_range(int32_t range[2], const float *s, int n)
//   The largest and the smallest of s[n], n > 0 a multiple of 8, as keys: bit patterns, of
//   negative numbers with the lower 31 bits inverted, so that they are ordered like integers.
// void tti_pie_exp(float *e, const float *s, float m, const float *constants, int n)
//   e[n] = exp(s - m) * 126, -87 <= s - m <= 0, n > 0 a multiple of 4.
// void tti_pie_diffuse2(int8_t *p, const float *e, size_t stride, size_t e_stride, int n,
//                       int32_t sums[2])
//   Two rows of weights, p[n] and p[n] `stride` bytes on, from e[n] and e[n] e_stride bytes on, n
//   a multiple of 4. Over-read: one value of e.
//
// Alignment: s, and e of tti_pie_exp, 16. p at any address.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

        begin tti_pie_range             // a2 range, a3 s, a4 n; q4, q5 largest, q6, q7 smallest
        entry   a1, 32
        movi    a8, -1
        srli    a8, a8, 1
        s32i    a8, a1, 0
        ee.vldbc.32 q3, a1              // 0x7FFFFFFF
        ssai    31
        srli    a4, a4, 3
        ee.notq q4, q3                  // 0x80000000
        ee.notq q5, q3
        ee.orq  q6, q3, q3
        ee.orq  q7, q3, q3
        loopnez a4, 1f
        ee.vld.128.ip q0, a3, 16
        ee.vld.128.ip q1, a3, 16
        ee.vsr.32 q2, q0                // the sign everywhere
        ee.andq q2, q2, q3
        ee.xorq q0, q0, q2
        ee.vsr.32 q2, q1
        ee.andq q2, q2, q3
        ee.xorq q1, q1, q2
        ee.vmax.s32 q4, q4, q0
        ee.vmin.s32 q6, q6, q0
        ee.vmax.s32 q5, q5, q1
        ee.vmin.s32 q7, q7, q1
1:      ee.vmax.s32 q4, q4, q5
        ee.vmin.s32 q6, q6, q7
        ee.movi.32.a q4, a8, 0
        ee.movi.32.a q4, a9, 1
        ee.movi.32.a q4, a10, 2
        ee.movi.32.a q4, a11, 3
        max     a8, a8, a9
        max     a10, a10, a11
        max     a8, a8, a10
        s32i    a8, a2, 0
        ee.movi.32.a q6, a8, 0
        ee.movi.32.a q6, a9, 1
        ee.movi.32.a q6, a10, 2
        ee.movi.32.a q6, a11, 3
        min     a8, a8, a9
        min     a10, a10, a11
        min     a8, a8, a10
        s32i    a8, a2, 4
        retw
        end tti_pie_range

        // f4...f7 = f4...f7 * f0...f3 + the constant at a5 + \at
        .macro  horner at
        lsi     f13, a5, \at
        mul.s   f4, f4, f0
        mul.s   f5, f5, f1
        mul.s   f6, f6, f2
        mul.s   f7, f7, f3
        add.s   f4, f4, f13
        add.s   f5, f5, f13
        add.s   f6, f6, f13
        add.s   f7, f7, f13
        .endm

        // Four values side by side: f0...f3 x and f, f4...f7 n and p, a8...a11 n and 2^n.
        begin tti_pie_exp               // a2 e, a3 s, a4 m, a5 constants, a6 n; f12 m
        entry   a1, 32
        wfr     f12, a4
        movi    a7, 127
        slli    a7, a7, 23
1:      ee.ldf.128.ip f3, f2, f1, f0, a3, 16
        lsi     f13, a5, 0              // 1 / ln 2
        sub.s   f0, f0, f12
        sub.s   f1, f1, f12
        sub.s   f2, f2, f12
        sub.s   f3, f3, f12
        mul.s   f4, f0, f13
        mul.s   f5, f1, f13
        mul.s   f6, f2, f13
        mul.s   f7, f3, f13
        lsi     f13, a5, 4              // ln 2, the upper part
        round.s a8, f4, 0
        round.s a9, f5, 0
        round.s a10, f6, 0
        round.s a11, f7, 0
        float.s f4, a8, 0
        float.s f5, a9, 0
        float.s f6, a10, 0
        float.s f7, a11, 0
        lsi     f14, a5, 8              // ln 2, the lower part
        mul.s   f8, f4, f13
        mul.s   f9, f5, f13
        mul.s   f10, f6, f13
        mul.s   f11, f7, f13
        mul.s   f4, f4, f14
        mul.s   f5, f5, f14
        mul.s   f6, f6, f14
        mul.s   f7, f7, f14
        sub.s   f0, f0, f8
        sub.s   f1, f1, f9
        sub.s   f2, f2, f10
        sub.s   f3, f3, f11
        lsi     f13, a5, 12             // 1 / 720
        slli    a8, a8, 23
        sub.s   f0, f0, f4
        sub.s   f1, f1, f5
        sub.s   f2, f2, f6
        sub.s   f3, f3, f7
        lsi     f14, a5, 16             // 1 / 120
        mul.s   f4, f13, f0
        mul.s   f5, f13, f1
        mul.s   f6, f13, f2
        mul.s   f7, f13, f3
        add.s   f4, f4, f14
        add.s   f5, f5, f14
        add.s   f6, f6, f14
        add.s   f7, f7, f14
        horner  20
        horner  24
        horner  28
        horner  32
        slli    a9, a9, 23
        slli    a10, a10, 23
        slli    a11, a11, 23
        add     a8, a8, a7              // 2^n
        add     a9, a9, a7
        add     a10, a10, a7
        add     a11, a11, a7
        horner  32
        lsi     f13, a5, 36             // 126
        wfr     f8, a8
        wfr     f9, a9
        wfr     f10, a10
        wfr     f11, a11
        mul.s   f4, f4, f8
        mul.s   f5, f5, f9
        mul.s   f6, f6, f10
        mul.s   f7, f7, f11
        mul.s   f4, f4, f13
        mul.s   f5, f5, f13
        mul.s   f6, f6, f13
        mul.s   f7, f7, f13
        addi    a6, a6, -4
        ee.stf.128.ip f7, f6, f5, f4, a2, 16
        bnez    a6, 1b                  // too long for a loop instruction
        retw
        end tti_pie_exp

        // One column of two rows: r = r + e, p = rne(r), r = r - p. What a column waits for, the
        // other row and the next e fill.
        .macro  column at
        add.s   f0, f0, f2
        add.s   f1, f1, f3
        lsip    f2, a3, 4
        lsip    f3, a4, 4
        round.s a8, f0, 0
        round.s a9, f1, 0
        float.s f4, a8, 0
        float.s f5, a9, 0
        s8i     a8, a2, \at
        s8i     a9, a5, \at
        sub.s   f0, f0, f4
        sub.s   f1, f1, f5
        add     a10, a10, a8
        add     a11, a11, a9
        .endm

        begin tti_pie_diffuse2          // a2, a5 p; a3, a4 e; a6 n; a7 sums; a10, a11 the sums
        entry   a1, 32
        add     a8, a2, a4
        add     a4, a3, a5
        mov     a5, a8
        const.s f0, 0
        const.s f1, 0
        movi    a10, 0
        movi    a11, 0
        srli    a6, a6, 2
        lsip    f2, a3, 4
        lsip    f3, a4, 4
        loopnez a6, 1f
        column  0
        column  1
        column  2
        column  3
        addi    a2, a2, 4
        addi    a5, a5, 4
1:      s32i    a10, a7, 0
        s32i    a11, a7, 4
        retw
        end tti_pie_diffuse2
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
