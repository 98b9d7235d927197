// Dot products of int8 rows on the ESP32-S3, the inner part of the matrix product, of attention
// and of the convolution.
#ifndef TTI_SUMS_PIE_H
#define TTI_SUMS_PIE_H

#include <stdint.h>

#include "product.h"

#define TTI_PIE_ROWS 64 // rows of x at a time, at most

// Rows of x, and up to four rows of w that each of them is multiplied by. The terms of a row of x
// lie in `runs` pieces of `run` bytes, and a piece begins `step` bytes behind the end of the one
// before it.
typedef struct {
    int rows;   // 1 ... TTI_PIE_ROWS
    int stride; // bytes from a row of x to the next, a multiple of 16
    int runs;
    int run;  // a multiple of 16
    int step; // a multiple of 16
    const int64_t *zeros;
    int64_t *partial;
    int cols;   // 1 ... TTI_COLUMNS
    int w_step; // bytes from the end of a row of w to the next, a multiple of 16
} tti_pie_shape_t;

// What tti_pie_sums needs and leaves: sums of four rows of w side by side. The first four are
// written and mean nothing.
typedef struct {
    float sums[(TTI_PIE_ROWS + 1) * TTI_COLUMNS] __attribute__((aligned(16)));
    int64_t zeros[TTI_PIE_ROWS] __attribute__((aligned(16)));
    int64_t partial[TTI_PIE_ROWS];
} tti_pie_work_t;

// sums[4 * (1 + t) + c] = float(sum of x[t][i] * w[c][i]) for t < rows, c < cols; x, w 16-aligned,
// a row of w is runs * run bytes without gaps. No over-read. |x|, |w| <= 127, at most 65536 terms.
void tti_pie_sums(float *sums, const int8_t *x, const int8_t *w, const tti_pie_shape_t *shape);

// to[16 * n bytes] = 0, to 16-aligned.
void tti_pie_zero(void *to, int n);

#endif
