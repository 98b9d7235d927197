// Ends and beginnings of a convolution (requantize_pie.h): contract §8, and §2 by round.s, which
// rounds half to even, and limits on the integers, which is the same as before rounding.
//
// void tti_pie_requantize(int8_t *out, const float *sums, const tti_pie_requantize_t *q)
// void tti_pie_copy(int8_t *to, const int8_t *from, int n, int floor)
// void tti_pie_double(int8_t *to, const int8_t *from, int n, int floor, int pixels)
//
// Alignment: sums, q, to and from 16, out and res any. No over-read.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

#define B 16
#define RES 32
#define R 36
#define LOW 40
#define HIGH 44
#define STRIDE 48
#define ROWS 52

#define BY_M                            \
        mul.s   f0, f0, f4;             \
        mul.s   f1, f1, f5;             \
        mul.s   f2, f2, f6;             \
        mul.s   f3, f3, f7
#define PLUS_B                          \
        add.s   f0, f0, f8;             \
        add.s   f1, f1, f9;             \
        add.s   f2, f2, f10;            \
        add.s   f3, f3, f11
#define CLAMPED_AND_STORED              \
        max     a8, a8, a5;             \
        max     a9, a9, a5;             \
        max     a10, a10, a5;           \
        round.s a11, f3, 0;             \
        min     a8, a8, a6;             \
        min     a9, a9, a6;             \
        min     a10, a10, a6;           \
        max     a11, a11, a5;           \
        min     a11, a11, a6;           \
        s8i     a8, a2, 0;              \
        s8i     a9, a2, 1;              \
        s8i     a10, a2, 2;             \
        s8i     a11, a2, 3

        // a2 out, a3 sums, a5 low, a6 high, a7 stride, a12 rows, a13 res; f4... m, f8... b, f12 r
        begin tti_pie_requantize
        entry   a1, 32
        addi    a8, a4, B
        l32i    a13, a4, RES
        l32i    a5, a4, LOW
        l32i    a6, a4, HIGH
        l32i    a7, a4, STRIDE
        l32i    a12, a4, ROWS
        lsi     f12, a4, R
        ee.ldf.128.ip f7, f6, f5, f4, a4, 0
        ee.ldf.128.ip f11, f10, f9, f8, a8, 0
        sub     a2, a2, a7
        bnez    a13, 2f
        loopnez a12, 1f
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16
        add     a2, a2, a7
        BY_M
        PLUS_B
        round.s a8, f0, 0
        round.s a9, f1, 0
        round.s a10, f2, 0
        CLAMPED_AND_STORED
1:      retw
2:      loopnez a12, 3f
        l8ui    a8, a13, 0
        l8ui    a9, a13, 1
        l8ui    a10, a13, 2
        l8ui    a11, a13, 3
        ee.ldf.128.ip f3, f2, f1, f0, a3, 16
        sext    a8, a8, 7
        sext    a9, a9, 7
        sext    a10, a10, 7
        sext    a11, a11, 7
        BY_M
        float.s f13, a8, 0
        float.s f14, a9, 0
        float.s f15, a10, 0
        PLUS_B
        mul.s   f13, f13, f12           // res * r
        mul.s   f14, f14, f12
        mul.s   f15, f15, f12
        add     a13, a13, a7
        add.s   f0, f0, f13
        float.s f13, a11, 0
        add.s   f1, f1, f14
        add.s   f2, f2, f15
        mul.s   f13, f13, f12
        round.s a8, f0, 0
        round.s a9, f1, 0
        round.s a10, f2, 0
        add.s   f3, f3, f13
        add     a2, a2, a7
        CLAMPED_AND_STORED
3:      retw
        end tti_pie_requantize

        .macro  floor_in_q7             // a5, in 16 bytes
        s8i     a5, a1, 0
        ee.vldbc.8 q7, a1
        .endm

        begin tti_pie_copy              // a2 to, a3 from, a4 n
        entry   a1, 32
        floor_in_q7
        loopnez a4, 1f
        ee.vld.128.ip q0, a3, 16
        ee.vmax.s8 q0, q0, q7
        ee.vst.128.ip q0, a2, 16
1:      retw
        end tti_pie_copy

        begin tti_pie_double            // a2, a7 to, a3 from, a4 n, a6 pixels, a8 bytes of a pixel
        entry   a1, 32
        floor_in_q7
        slli    a8, a4, 4
2:      add     a7, a2, a8
        loopnez a4, 1f
        ee.vld.128.ip q0, a3, 16
        ee.vmax.s8 q0, q0, q7
        ee.vst.128.ip q0, a2, 16
        ee.vst.128.ip q0, a7, 16
1:      mov     a2, a7
        addi    a6, a6, -1
        bnez    a6, 2b
        retw
        end tti_pie_double
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
