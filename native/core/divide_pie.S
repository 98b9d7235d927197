// Divisions (divide_pie.h): contract §1, each one rounding.
//
// void tti_pie_scales4(float *inv, float *scale, const float *m, float one_127th)
// float tti_pie_quotient(float a, float b)
//
// y = 1 / b: a first guess from the bits, wrong by an eighth at most, then four times
// y = y + y * (1 - b * y) (Newton). Then q = a * y and q = q + (a - b * q) * y (Markstein 1990):
// multiply and add are fused here, so 1 - b * y and a - b * q are exact, and q is a / b rounded.
// tests/native/division.c does the same for every mantissa of m and b.
// Alignment: inv, scale, m 16. No over-read.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

        .macro  newton4                 // f0...f3 b, f4...f7 y
        const.s f8, 1
        const.s f9, 1
        const.s f10, 1
        const.s f11, 1
        msub.s  f8, f0, f4
        msub.s  f9, f1, f5
        msub.s  f10, f2, f6
        msub.s  f11, f3, f7
        madd.s  f4, f4, f8
        madd.s  f5, f5, f9
        madd.s  f6, f6, f10
        madd.s  f7, f7, f11
        .endm

        // f8...f11 quotients; f12...f15 = dividends - f0...f3 * f8...f11, all times f4...f7
        .macro  corrected4
        msub.s  f12, f0, f8
        msub.s  f13, f1, f9
        msub.s  f14, f2, f10
        msub.s  f15, f3, f11
        madd.s  f8, f12, f4
        madd.s  f9, f13, f5
        madd.s  f10, f14, f6
        madd.s  f11, f15, f7
        .endm

        .macro  four_floats a, b, c, d, n
        float.s \a, \n, 0
        float.s \b, \n, 0
        float.s \c, \n, 0
        float.s \d, \n, 0
        .endm

        begin tti_pie_scales4           // a2 inv, a3 scale, a4 m, a5 1 / 127
        entry   a1, 32
        movi    a6, 127
        ee.ldf.128.ip f15, f14, f13, f12, a4, 0
        four_floats f0, f1, f2, f3, a6
        wfr     f4, a5                  // m / 127: the reciprocal is a constant
        mov.s   f5, f4
        mov.s   f6, f4
        mov.s   f7, f4
        mul.s   f8, f12, f4
        mul.s   f9, f13, f5
        mul.s   f10, f14, f6
        mul.s   f11, f15, f7
        corrected4
        movi    a7, 0x7EF
        l32i    a8, a4, 0
        l32i    a9, a4, 4
        l32i    a10, a4, 8
        l32i    a11, a4, 12
        ee.stf.128.ip f11, f10, f9, f8, a3, 0
        slli    a7, a7, 20
        sub     a8, a7, a8
        sub     a9, a7, a9
        sub     a10, a7, a10
        sub     a11, a7, a11
        ee.ldf.128.ip f3, f2, f1, f0, a4, 0
        wfr     f4, a8
        wfr     f5, a9
        wfr     f6, a10
        wfr     f7, a11
        newton4
        newton4
        newton4
        newton4
        four_floats f12, f13, f14, f15, a6
        mul.s   f8, f12, f4
        mul.s   f9, f13, f5
        mul.s   f10, f14, f6
        mul.s   f11, f15, f7
        corrected4
        ee.stf.128.ip f11, f10, f9, f8, a2, 0
        retw
        end tti_pie_scales4

        .macro  newton                  // f1 b, f4 y
        const.s f8, 1
        msub.s  f8, f1, f4
        madd.s  f4, f4, f8
        .endm

        begin tti_pie_quotient          // a2 a, a3 b
        entry   a1, 32
        movi    a7, 0x7EF
        slli    a7, a7, 20
        sub     a7, a7, a3
        wfr     f4, a7
        wfr     f1, a3
        wfr     f0, a2
        newton
        newton
        newton
        newton
        mul.s   f8, f0, f4
        msub.s  f0, f1, f8
        madd.s  f8, f0, f4
        rfr     a2, f8
        retw
        end tti_pie_quotient
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
