// LayerNorm without parameters, modulation and quantisation on the ESP32-S3: contract §6, the
// bytes of layernorm.c. Any sizes and addresses as there; buffers that do not begin at a multiple
// of 16, or columns that are no multiple of 8, go to the reference.
#include "divide_pie.h"
#include "quantize_pie.h"
#include "reference.h"

#ifdef TTI_PIE

// normalize_pie.S
float tti_pie_sum4(const float *x, int n);
float tti_pie_sum4_squares(const float *x, float mean, int n);
void tti_pie_modulate(float *out, const float *x, const float *shift, const float *scale,
                      const float mean_and_r[2], int n);

void tti_layernorm_modulate_s8(int8_t *q, float *sq, const float *x, const float *shift,
                               const float *scale, float *scratch, int rows, int cols) {
    size_t n = (size_t)cols;
    if (!tti_pie_takes(x, n) || !tti_pie_takes(shift, n) || !tti_pie_takes(scale, n) ||
        !tti_pie_takes(scratch, n)) {
        tti_ref_layernorm_modulate_s8(q, sq, x, shift, scale, scratch, rows, cols);
        return;
    }
    for (int t = 0; t < rows; t++, x += n, q += n) {
        float mean = tti_pie_divide(tti_pie_sum4(x, cols), (float)cols);
        float var = tti_pie_divide(tti_pie_sum4_squares(x, mean, cols), (float)cols);
        float mean_and_r[2] = {mean, tti_rsqrt_f(var + 1e-6f)};
        tti_pie_modulate(scratch, x, shift, scale, mean_and_r, cols);
        tti_pie_quantize_rows(q, sq + t, scratch, 1, cols);
    }
}

#endif
