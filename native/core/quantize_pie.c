// Dynamic quantisation of activations on the ESP32-S3: contract §4, the bytes of quantize.c.
// Any sizes and addresses as there. Rows that begin at a multiple of 16 and have a multiple of 8
// values are done here, the others, and those with infinities or NaN, by the reference.
#include "quantize_pie.h"
#include "quantize.h"
#include "reference.h"
#include "scalar.h"

#ifdef TTI_PIE

#define SMALLEST 0x0D800000u // 2^-100 as a bit pattern

float tti_pie_quantize_row(int8_t *q, const float *x, int n) {
    if (!tti_pie_takes(x, (size_t)n)) {
        return tti_quantize_row(q, x, n);
    }
    uint32_t most = tti_pie_largest(x, (size_t)n);
    if (most < SMALLEST || most >= TTI_PIE_INFINITY) {
        return tti_quantize_row(q, x, n);
    }
    float m = tti_from_bits(most);
    tti_pie_quantize(q, x, 127.0f / m, n);
    return m / 127.0f;
}

void tti_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r * (size_t)cols;
        scale[r] = tti_pie_quantize_row(q + row, x + row, cols);
    }
}

// Columns c ... c + 3. False, and nothing is done, if one of them has an infinity or NaN.
static bool four_columns(int8_t *q, float *scale, const float *x, int rows, size_t stride) {
    float inv[4] __attribute__((aligned(16)));
    uint32_t most[4];
    tti_pie_largest4(most, x, rows, stride);
    for (int c = 0; c < 4; c++) {
        if (most[c] >= TTI_PIE_INFINITY) {
            return false;
        }
    }
    for (int c = 0; c < 4; c++) {
        bool zero = most[c] < SMALLEST;
        float m = tti_from_bits(most[c]);
        inv[c] = zero ? 0.0f : 127.0f / m;
        scale[c] = zero ? 0.0f : m / 127.0f;
    }
    tti_pie_quantize4(q, x, inv, rows, stride);
    return true;
}

void tti_quantize_cols_t(int8_t *q, float *scale, const float *x, int rows, int cols) {
    size_t stride = (size_t)cols * sizeof(float);
    bool takes = rows % 2 == 0 && stride % 16 == 0 && ((uintptr_t)x & 15) == 0;
    for (int c = 0; takes && c < cols; c += 4) {
        takes = four_columns(q + (size_t)c * (size_t)rows, scale + c, x + c, rows, stride);
    }
    if (!takes) {
        tti_ref_quantize_cols_t(q, scale, x, rows, cols);
    }
}

#endif
