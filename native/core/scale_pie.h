// Sums of int8 products to float32 on the ESP32-S3.
#ifndef TTI_SCALE_PIE_H
#define TTI_SCALE_PIE_H

#include "product.h"
#include "sums_pie.h"

// Four columns of results.
typedef struct {
    tti_columns_t columns;
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
