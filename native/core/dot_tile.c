// Portable dot products of int8 rows (dot_tile.h; sums of contract §1).
//
// The rows of `b` are widened to int16 once and then used by all rows of `a`: a product of two
// int16 summed in int32 is what compilers turn into pmaddwd on x86 and smlad or vmlal on Arm, and
// they do not with int8 operands.
#include "dot_tile.h"

typedef int16_t wide_t[TTI_TILE_COLS][TTI_TILE_K];

static void widen(wide_t wide, const int8_t *b, size_t stride, int cols, int n) {
    for (int c = 0; c < TTI_TILE_COLS; c++) {
        for (int i = 0; i < n; i++) {
            wide[c][i] = c < cols ? b[i] : 0;
        }
        b = c + 1 < cols ? b + stride : b;
    }
}

static void dot_two_rows(int32_t *acc, const int8_t *a, size_t stride, wide_t w, int n) {
    const int8_t *a1 = a + stride;
    int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0;
    int32_t s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    for (int i = 0; i < n; i++) {
        int16_t u = a[i], v = a1[i];
        s00 += u * w[0][i];
        s01 += u * w[1][i];
        s02 += u * w[2][i];
        s03 += u * w[3][i];
        s10 += v * w[0][i];
        s11 += v * w[1][i];
        s12 += v * w[2][i];
        s13 += v * w[3][i];
    }
    acc[0] += s00;
    acc[1] += s01;
    acc[2] += s02;
    acc[3] += s03;
    acc[4] += s10;
    acc[5] += s11;
    acc[6] += s12;
    acc[7] += s13;
}

static void dot_one_row(int32_t *acc, const int8_t *a, wide_t w, int n) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int i = 0; i < n; i++) {
        int16_t u = a[i];
        s0 += u * w[0][i];
        s1 += u * w[1][i];
        s2 += u * w[2][i];
        s3 += u * w[3][i];
    }
    acc[0] += s0;
    acc[1] += s1;
    acc[2] += s2;
    acc[3] += s3;
}

void tti_dot_tile(int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS], const int8_t *a, size_t a_stride,
                  int rows, const int8_t *b, size_t b_stride, int cols, int k) {
    wide_t wide;
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < TTI_TILE_COLS; c++) {
            acc[r][c] = 0;
        }
    }
    for (int k0 = 0; k0 < k; k0 += TTI_TILE_K) {
        int n = tti_min(k - k0, TTI_TILE_K);
        widen(wide, b + k0, b_stride, cols, n);
        int r = 0;
        for (; r + 2 <= rows; r += 2) {
            dot_two_rows(acc[r], a + (size_t)r * a_stride + k0, a_stride, wide, n);
        }
        if (r < rows) {
            dot_one_row(acc[r], a + (size_t)r * a_stride + k0, wide, n);
        }
    }
}
