// Dynamic quantisation of activations on Cortex-M33: contract §4, the bytes of quantize.c.
// Any sizes and addresses as there; rows with infinities or NaN go to the reference, and so does a
// transposed matrix with one.
#include "quantize_m33.h"
#include "quantize.h"
#include "reference.h"
#include "scalar.h"

#ifdef TTI_M33

#define SMALLEST (2 * 0x0D800000u) // 2^-100 as a doubled bit pattern

static inline uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static inline float inverse(uint32_t largest) {
    return 127.0f / tti_from_bits(largest >> 1);
}

TTI_HOT float tti_m33_quantize_row(int8_t *q, const float *x, int n) {
    int fours = n & -4;
    uint32_t most = fours > 0 ? tti_m33_largest(x, fours) : 0;
    for (int i = fours; i < n; i++) {
        most = larger(most, tti_bits(x[i]) << 1);
    }
    if (most < SMALLEST || most >= TTI_M33_NOT_FINITE) {
        return tti_quantize_row(q, x, n);
    }
    float inv = inverse(most);
    if (fours > 0) {
        tti_m33_quantize(q, x, inv, fours);
    }
    for (int i = fours; i < n; i++) {
        q[i] = (int8_t)(int32_t)tti_rne_f(x[i] * inv);
    }
    return tti_from_bits(most >> 1) / 127.0f;
}

void tti_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r * (size_t)cols;
        scale[r] = tti_m33_quantize_row(q + row, x + row, cols);
    }
}

// Doubled bit patterns of the largest magnitude of each column; returns the largest of them.
TTI_HOT static uint32_t column_maxima(uint32_t *most, const float *x, int rows, int cols) {
    uint32_t all = 0;
    for (int c = 0; c < cols; c++) {
        uint32_t m = 0;
        const float *p = x + c;
        for (int r = 0; r < rows; r++, p += cols) {
            m = larger(m, tti_bits(*p) << 1);
        }
        most[c] = m;
        all = larger(all, m);
    }
    return all;
}

static void quantize_column(int8_t *q, const float *x, float inv, int rows, int cols) {
    int fours = rows & -4;
    if (fours > 0) {
        tti_m33_quantize_strided(q, x, inv, fours, (size_t)cols * sizeof(float));
    }
    for (int r = fours; r < rows; r++) {
        q[r] = (int8_t)(int32_t)tti_rne_f(x[(size_t)r * (size_t)cols] * inv);
    }
}

// The maxima are collected in `scale`.
void tti_quantize_cols_t(int8_t *q, float *scale, const float *x, int rows, int cols) {
    if (column_maxima((uint32_t *)scale, x, rows, cols) >= TTI_M33_NOT_FINITE) {
        tti_ref_quantize_cols_t(q, scale, x, rows, cols);
        return;
    }
    for (int c = 0; c < cols; c++, q += rows) {
        uint32_t most = ((uint32_t *)scale)[c];
        if (most < SMALLEST) {
            memset(q, 0, (size_t)rows);
            scale[c] = 0.0f;
            continue;
        }
        quantize_column(q, x + c, inverse(most), rows, cols);
        scale[c] = tti_from_bits(most >> 1) / 127.0f;
    }
}

#endif
