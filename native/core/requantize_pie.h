// Sums of a convolution to int8 or bytes, and its copies of pixels, on the ESP32-S3.
#ifndef TTI_REQUANTIZE_PIE_H
#define TTI_REQUANTIZE_PIE_H

#include "sums_pie.h"

// Four channels of results.
typedef struct {
    float m[TTI_COLUMNS] __attribute__((aligned(16)));
    float b[TTI_COLUMNS];
    const int8_t *res; // or NULL
    float r;
    int32_t low, high; // what results are clamped to
    int32_t stride;    // bytes from a pixel of out and res to the next
    int32_t rows;      // pixels
} tti_pie_requantize_t;

// out[t * stride + c] = rne((sums[4 * t + c] * m[c]) + b[c] + res[t * stride + c] * r), clamped;
// res may be out. What is rounded must not be NaN.
void tti_pie_requantize(int8_t *out, const float *sums, const tti_pie_requantize_t *q);

// to[16 * n] = max(from, floor), n > 0.
void tti_pie_copy(int8_t *to, const int8_t *from, int n, int floor);
// The same for `pixels` of 16 * n bytes, each written twice.
void tti_pie_double(int8_t *to, const int8_t *from, int n, int floor, int pixels);

#endif
