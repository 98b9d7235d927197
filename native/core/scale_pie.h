// Sums of int8 products to float32 on the ESP32-S3.
#ifndef TTI_SCALE_PIE_H
#define TTI_SCALE_PIE_H

#include "sums_pie.h"

// Four columns of results.
typedef struct {
    float sw[TTI_PIE_COLS] __attribute__((aligned(16)));
    float bias[TTI_PIE_COLS]; // -0.0 where there is none: adding it changes nothing
    float gate[TTI_PIE_COLS];
    const float *sx;
    int32_t sx_stride, out_stride; // bytes
    int32_t rows;
    int32_t any_bias;
} tti_pie_scale_t;

// out[t][c] = ((sums[t][c] * sx[t]) * sw[c]) + bias[c], t < rows; out, sums and out_stride
// 16-aligned. The second: out[t][c] = out[t][c] + gate[c] * that.
void tti_pie_scale(float *out, const float *sums, const tti_pie_scale_t *s);
void tti_pie_scale_add(float *out, const float *sums, const tti_pie_scale_t *s);

#endif
