// Dot products of rows of weights with rows of activations (sums_pie.h): contract §1, exact,
// and the conversion to float32 that opens §5, §7 and §8.
//
// void tti_pie_sums(float *sums, const int8_t *x, const int8_t *w, const tti_pie_shape_t *shape)
// void tti_pie_zero(void *to, int n)
//
// A slice of up to 96 weights stays in registers while the same terms of all rows of x stream by:
// each vmulas multiplies 16 of them and loads 16 others, so the loop is as fast as the multiplier.
// The sum is ACCX, of 40 bits. A row of more terms takes several slices; between them the sums of
// the rows of x lie in `partial`, and the first slice finds zeros instead. Slices are 6, 4, 3, 2
// or 1 registers wide (5 are 3 and 2).
//
//   a2  sums: where the next one goes      a9   from the last load of a row to the next row
//   a3  x: first row, this slice           a10  partial sums to go on with
//   a4  w: next slice                      a11  partial sums to leave
//   a5  shape                              a12  96; the sum of a row, until it is stored
//   a6  partial                            a13  bytes left of this run
//   a7  rows - 1                           a14  runs left
//   a8  x: next load                       a15  columns left
//   q2...q7 weights (6 wide), q4... (otherwise); q0... activations; f0 a sum
//
// A row of no more than one slice goes a shorter way: a10 is then from one row of w to the next,
// a11 where the next sum goes.
//
// Alignment: x, w and strides 16, sums 4, partial 8. No over-read: the last row is not in the
// loop and loads nothing ahead. Bound: 127 * 127 * 65536 < 2^31.
#include "target.h"

#ifdef TTI_PIE
#include "pie.inc"

#define ROWS 0
#define STRIDE 4
#define RUNS 8
#define RUN 12
#define STEP 16
#define ZEROS 20
#define PARTIAL 24
#define COLS 28
#define W_STEP 32

#define X 0                     // on the stack

// Six wide, activations go through q0 and q1 in turn: a load needs an instruction between itself
// and its use. Otherwise each part of a row has a register, loaded for the next row once used.
#define WEIGHTS_6                       \
        ee.vld.128.ip q2, a4, 16;       \
        ee.vld.128.ip q3, a4, 16;       \
        ee.vld.128.ip q4, a4, 16;       \
        ee.vld.128.ip q5, a4, 16;       \
        ee.vld.128.ip q6, a4, 16;       \
        ee.vld.128.ip q7, a4, 16
#define FIRST_6                         \
        ee.vld.128.ip q0, a8, 16;       \
        ee.vld.128.ip q1, a8, 16
#define ROW_6                           \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q2;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q3;     \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q4;     \
        ee.vmulas.s8.accx.ld.xp q1, a8, a9, q1, q5;     \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q6;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q7
#define LAST_6                          \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q2;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q3;     \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q4;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q5;     \
        ee.vmulas.s8.accx q0, q6;       \
        ee.vmulas.s8.accx q1, q7

#define WEIGHTS_4 WEIGHTS_3; ee.vld.128.ip q7, a4, 16
#define FIRST_4                         \
        ee.vld.128.ip q0, a8, 16;       \
        ee.vld.128.ip q1, a8, 16;       \
        ee.vld.128.ip q2, a8, 16;       \
        ee.vld.128.xp q3, a8, a9
#define ROW_4                           \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q4;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q5;     \
        ee.vmulas.s8.accx.ld.ip q2, a8, 16, q2, q6;     \
        ee.vmulas.s8.accx.ld.xp q3, a8, a9, q3, q7
#define LAST_4 LAST_3; ee.vmulas.s8.accx q3, q7

#define WEIGHTS_3 WEIGHTS_2; ee.vld.128.ip q6, a4, 16
#define FIRST_3                         \
        ee.vld.128.ip q0, a8, 16;       \
        ee.vld.128.ip q1, a8, 16;       \
        ee.vld.128.xp q2, a8, a9
#define ROW_3                           \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q4;     \
        ee.vmulas.s8.accx.ld.ip q1, a8, 16, q1, q5;     \
        ee.vmulas.s8.accx.ld.xp q2, a8, a9, q2, q6
#define LAST_3 LAST_2; ee.vmulas.s8.accx q2, q6

#define WEIGHTS_2 WEIGHTS_1; ee.vld.128.ip q5, a4, 16
#define FIRST_2                         \
        ee.vld.128.ip q0, a8, 16;       \
        ee.vld.128.xp q1, a8, a9
#define ROW_2                           \
        ee.vmulas.s8.accx.ld.ip q0, a8, 16, q0, q4;     \
        ee.vmulas.s8.accx.ld.xp q1, a8, a9, q1, q5
#define LAST_2 LAST_1; ee.vmulas.s8.accx q1, q5

#define WEIGHTS_1 ee.vld.128.ip q4, a4, 16
#define FIRST_1 ee.vld.128.xp q0, a8, a9
#define ROW_1 ee.vmulas.s8.accx.ld.xp q0, a8, a9, q0, q4
#define LAST_1 ee.vmulas.s8.accx q0, q4

// Sums of rows, each stored while the next row is multiplied. The last row loads nothing ahead.
#define SUMS(n, to, ...)                \
        loopnez a7, 4f;                 \
        float.s f0, a12, 0;             \
        ROW_##n;                        \
        ssip    f0, to, 16;             \
        rur.accx_0 a12;                 \
        __VA_ARGS__;                    \
4:      float.s f0, a12, 0;             \
        LAST_##n;                       \
        ssip    f0, to, 16;             \
        rur.accx_0 a12;                 \
        float.s f0, a12, 0;             \
        ssi     f0, to, 0

// A slice of a longer row: its sums go to `partial`, or those of the last one to `sums`.
#define SLICE(n, loads_from_end)        \
        addi    a9, a9, -16 * (loads_from_end);         \
        WEIGHTS_##n;                    \
        FIRST_##n;                      \
        addi    a3, a3, 16 * (n);       \
        addi    a13, a13, -16 * (n);    \
        ee.ld.accx.ip a10, 8;           \
        bnez    a13, 1f;                \
        beqi    a14, 1, 3f;             \
1:      loopnez a7, 2f;                 \
        ROW_##n;                        \
        ee.st.accx.ip a11, 8;           \
        ee.ld.accx.ip a10, 8;           \
2:      LAST_##n;                       \
        ee.st.accx.ip a11, 8;           \
        mov     a10, a6;                \
        bnez    a13, .Lslice;           \
        l32i    a9, a5, STEP;           \
        l32i    a13, a5, RUN;           \
        addi    a14, a14, -1;           \
        add     a3, a3, a9;             \
        j       .Lslice;                \
3:      SUMS(n, a2, ee.ld.accx.ip a10, 8);              \
        j       .Lnext_column

// Rows of one slice.
#define SINGLE(n, loads_from_end)       \
        addi    a9, a9, -16 * (loads_from_end);         \
5:      WEIGHTS_##n;                    \
        mov     a8, a3;                 \
        FIRST_##n;                      \
        ee.zero.accx;                   \
        add     a4, a4, a10;            \
        mov     a11, a2;                \
        SUMS(n, a11, ee.zero.accx);     \
        addi    a15, a15, -1;           \
        addi    a2, a2, 4;              \
        bnez    a15, 5b;                \
        retw

        begin tti_pie_sums
        entry   a1, 32
        l32i    a7, a5, ROWS
        l32i    a14, a5, RUNS
        l32i    a13, a5, RUN
        l32i    a10, a5, W_STEP
        l32i    a9, a5, STRIDE
        l32i    a6, a5, PARTIAL
        l32i    a15, a5, COLS
        s32i    a3, a1, X
        addi    a7, a7, -1
        movi    a12, 96
        bnei    a14, 1, 1f              // branches do not reach over a slice, jumps do
        bne     a13, a12, 2f
        j       .Lsingle6
2:      bnei    a13, 64, 2f
        j       .Lsingle4
2:      bnei    a13, 32, 2f
        j       .Lsingle2
2:      bnei    a13, 16, 2f
        j       .Lsingle1
2:      movi    a8, 48
        beq     a13, a8, .Lsingle3
1:      j       .Lcolumn
.Lsingle3:
        SINGLE(3, 2)
.Lsingle6:
        SINGLE(6, 5)
.Lsingle4:
        SINGLE(4, 3)
.Lsingle2:
        SINGLE(2, 1)
.Lsingle1:
        SINGLE(1, 0)

.Lnarrow:
        bnei    a13, 32, 1f
        j       .Ltwo
1:      bnei    a13, 64, 1f
        j       .Lfour
1:      bnei    a13, 16, 1f
        j       .Lone
1:      j       .Lthree

.Lcolumn:
        movi    a12, 96
        l32i    a14, a5, RUNS
        l32i    a10, a5, ZEROS
        l32i    a13, a5, RUN
.Lslice:
        l32i    a9, a5, STRIDE
        mov     a8, a3
        mov     a11, a6
        bltu    a13, a12, .Lnarrow
        SLICE(6, 5)
.Lfour: SLICE(4, 3)
.Lthree:
        SLICE(3, 2)
.Ltwo:  SLICE(2, 1)
.Lone:  SLICE(1, 0)

.Lnext_column:
        l32i    a9, a5, W_STEP
        slli    a8, a7, 4
        addi    a15, a15, -1
        sub     a2, a2, a8
        add     a4, a4, a9
        l32i    a3, a1, X
        addi    a2, a2, 4 - 16
        bnez    a15, .Lcolumn
        retw
        end tti_pie_sums

        begin tti_pie_zero              // a2 to, a3 n
        entry   a1, 32
        ee.zero.q q0
        loopnez a3, 1f
        ee.vst.128.ip q0, a2, 16
1:      retw
        end tti_pie_zero
#endif

#ifdef __linux__ // or a PC's linker takes the stack for executable
        .section .note.GNU-stack, "", %progbits
#endif
