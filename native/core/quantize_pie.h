// Dynamic quantisation on the ESP32-S3.
#ifndef TTI_QUANTIZE_PIE_H
#define TTI_QUANTIZE_PIE_H

#include <stddef.h>
#include <stdint.h>

#include "target.h"

// Whether x[n] can go through what follows: it begins at a multiple of 16, n is one of 8.
static inline int tti_pie_takes(const float *x, size_t n) {
    return n % 8 == 0 && ((uintptr_t)x & 15) == 0;
}

// As tti_quantize_rows, for rows that tti_pie_takes.
void tti_pie_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols);

// The largest bit pattern of |x|, n > 0.
uint32_t tti_pie_largest(const float *x, size_t n);
// q[n] = rne(x * inv), |x * inv| < 127.5; q at any address.
void tti_pie_quantize(int8_t *q, const float *x, float inv, int n);

// The same for four columns, rows > 0 a multiple of 2, x `stride` bytes apart, inv 16-aligned;
// q[4][rows].
void tti_pie_largest4(uint32_t most[4], const float *x, int rows, size_t stride);
void tti_pie_quantize4(int8_t *q, const float *x, const float inv[4], int rows, size_t stride);

#endif
