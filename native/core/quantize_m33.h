// Dynamic quantisation on Cortex-M33.
#ifndef TTI_QUANTIZE_M33_H
#define TTI_QUANTIZE_M33_H

#include <stddef.h>
#include <stdint.h>

// As tti_quantize_row of quantize.h, the same bytes.
float tti_m33_quantize_row(int8_t *q, const float *x, int n);

// The largest doubled bit pattern of x[n]; from TTI_M33_NOT_FINITE on it is of an infinity or NaN.
// n > 0 is a multiple of 4 here and below.
uint32_t tti_m33_largest(const float *x, int n);
#define TTI_M33_NOT_FINITE 0xFF000000u

// q[n] = rne(x * inv), |x * inv| < 127.5; q at any address. The second takes x `stride` bytes
// apart.
void tti_m33_quantize(int8_t *q, const float *x, float inv, int n);
void tti_m33_quantize_strided(int8_t *q, const float *x, float inv, int n, size_t stride);

#endif
