// LayerNorm without parameters, modulation and quantisation on Cortex-M33: contract §6, the bytes
// of layernorm.c. Any sizes and addresses as there.
#include "quantize_m33.h"
#include "reference.h"
#include "scalar.h"

#ifdef TTI_M33

// normalize_m33.S
float tti_m33_sum4(const float *x, int n);
float tti_m33_sum4_squares(const float *x, float mean, int n);
void tti_m33_modulate(float *out, const float *x, const float *shift, const float *scale,
                      const float mean_and_r[2], int n);

void tti_layernorm_modulate_s8(int8_t *q, float *sq, const float *x, const float *shift,
                               const float *scale, float *scratch, int rows, int cols) {
    size_t n = (size_t)cols;
    for (int t = 0; t < rows; t++, x += n, q += n) {
        float mean = tti_m33_sum4(x, cols) / (float)cols;
        float var = tti_m33_sum4_squares(x, mean, cols) / (float)cols;
        float mean_and_r[2] = {mean, tti_rsqrt_f(var + 1e-6f)};
        tti_m33_modulate(scratch, x, shift, scale, mean_and_r, cols);
        sq[t] = tti_m33_quantize_row(q, scratch, cols);
    }
}

#endif
