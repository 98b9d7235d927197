// Dot products of int8 rows on Cortex-M33, the inner part of the matrix product, of attention and
// of the convolution.
//
// smlad multiplies two pairs of int16 and adds both products. So rows are widened to int16 first,
// into panels: of every four terms one word holds (0, 2) and the next (1, 3), as sxtb16 leaves
// them, and the words of the rows that are multiplied together lie side by side. Panels end with
// zeros up to a multiple of TTI_M33_STEP terms.
#ifndef TTI_DOT_M33_H
#define TTI_DOT_M33_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "target.h"

#define TTI_M33_STEP 16

// Words of a panel's row of k terms.
static inline int tti_m33_words(int k) {
    return ((k + TTI_M33_STEP - 1) & -TTI_M33_STEP) / 2;
}

// Products of the two rows of panel `a` (up to a_end) with `tiles` >= 1 tiles of four rows in
// panel `b`: sums0[4 * tiles] of the first row and sums1[4 * tiles] of the second, added to what
// is there unless `first`. |values| <= 127, at most 65536 terms in all: |sum| < 2^30 + 2^16.
void tti_m33_dot(int32_t *sums0, int32_t *sums1, const uint32_t *a, const uint32_t *b,
                 const uint32_t *a_end, int tiles, bool first);

// Two rows, or four rows `stride` bytes apart, of n terms to a panel; n > 0, a multiple of
// TTI_M33_STEP; any addresses; no over-read.
void tti_m33_widen2(uint32_t *panel, const int8_t *r, const int8_t *s, int n);
void tti_m33_widen2_relu(uint32_t *panel, const int8_t *r, const int8_t *s, int n); // max(., 0)
void tti_m33_widen4(uint32_t *panel, const int8_t *r, size_t stride, int n);

// The same for any k >= 1.
void tti_m33_panel2(uint32_t *panel, const int8_t *r, const int8_t *s, int k);
void tti_m33_panel4(uint32_t *panel, const int8_t *r, size_t stride, int k);
// A tile of 1...3 rows of n terms; its other rows repeat the first.
void tti_m33_widen_part(uint32_t *panel, const int8_t *r, size_t stride, int rows, int n);

// out[n] = ((sums * sx) * sw) + bias, or out + gate * that; bias, gate may be NULL, n a multiple
// of 4, out may be sums.
void tti_m33_scale(float *out, const int32_t *sums, float sx, const float *sw, const float *bias,
                   const float *gate, int n);

#endif
