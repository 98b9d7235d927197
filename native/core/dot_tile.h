// Dot products of int8 rows, the inner part of the matrix product, of attention and of the
// convolution.
#ifndef TTI_DOT_TILE_H
#define TTI_DOT_TILE_H

#include <stddef.h>
#include <stdint.h>

#define TTI_TILE_ROWS 32  // rows of `a` in a tile, at most
#define TTI_TILE_COLS 4   // rows of `b` in a tile, at most
#define TTI_TILE_K    192 // terms that are widened at a time; 8 * TTI_TILE_K bytes of stack

// acc[r][c] = sum over i < k of a[r][i] * b[c][i], exact, for r < rows <= TTI_TILE_ROWS and
// c < cols <= TTI_TILE_COLS. Rows begin a_stride and b_stride bytes apart, at any address. Columns
// of acc from `cols` on are set to 0. |a|, |b| <= 127, k <= 65536: |acc| < 2^30 + 2^16.
// No over-read.
void tti_dot_tile(int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS], const int8_t *a, size_t a_stride,
                  int rows, const int8_t *b, size_t b_stride, int cols, int k);

static inline int tti_min(int a, int b) {
    return a < b ? a : b;
}

#endif
