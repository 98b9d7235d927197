// LayerNorm without parameters, modulation and quantisation in one pass: contract §6.
// x f32[rows][cols], shift, scale, scratch f32[cols],
// q s8[rows][cols] at any address, sq f32[rows]; cols a multiple of 4, no over-read.
#include "quantize.h"
#include "reference.h"
#include "scalar.h"

static float sum4(const float *a, int n) {
    float lane[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < n; i += 4) {
        for (int j = 0; j < 4; j++) {
            lane[j] = lane[j] + a[i + j];
        }
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

static float sum4_squares(const float *a, float mean, int n) {
    float lane[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < n; i += 4) {
        for (int j = 0; j < 4; j++) {
            float d = a[i + j] - mean;
            lane[j] = lane[j] + d * d;
        }
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

void TTI_REF(layernorm_modulate_s8)(int8_t *q, float *sq, const float *x, const float *shift,
                                    const float *scale, float *scratch, int rows, int cols) {
    for (int t = 0; t < rows; t++) {
        const float *row = x + (size_t)t * (size_t)cols;
        float mean = sum4(row, cols) / (float)cols;
        float var = sum4_squares(row, mean, cols) / (float)cols;
        float r = tti_rsqrt_f(var + 1e-6f);
        for (int i = 0; i < cols; i++) {
            scratch[i] = (((row[i] - mean) * r) * (1.0f + scale[i])) + shift[i];
        }
        sq[t] = tti_quantize_row(q + (size_t)t * (size_t)cols, scratch, cols);
    }
}
