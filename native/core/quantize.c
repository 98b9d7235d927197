// Dynamic quantisation of activations: contract §4.
// Any rows and cols, q at any address, no over-read. |x| up to the largest float; a NaN never
// becomes the maximum and is stored as -127.
#include "quantize.h"
#include "reference.h"
#include "scalar.h"

#define SMALLEST 7.888609052210118e-31f // 2^-100

// The bit pattern of |x| orders like |x| itself, and integers are what compilers vectorise and
// small chips compare fastest. A NaN counts as 0.
static inline int32_t magnitude(float x) {
    int32_t bits = (int32_t)(tti_bits(x) & 0x7FFFFFFFu);
    return bits <= 0x7F800000 ? bits : 0;
}

static inline int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static float absmax(const float *x, int n) {
    int32_t m = 0;
    for (int i = 0; i < n; i++) {
        m = larger(m, magnitude(x[i]));
    }
    return tti_from_bits((uint32_t)m);
}

float tti_quantize_row(int8_t *q, const float *x, int n) {
    float m = absmax(x, n);
    if (m < SMALLEST) {
        memset(q, 0, (size_t)n);
        return 0.0f;
    }
    float inv = 127.0f / m;
    for (int i = 0; i < n; i++) {
        q[i] = tti_quantize(x[i] * inv);
    }
    return m / 127.0f;
}

void TTI_REF(quantize_rows)(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r * (size_t)cols;
        scale[r] = tti_quantize_row(q + row, x + row, cols);
    }
}

// The maxima are collected in `scale` row by row, as the rows lie in memory.
void TTI_REF(quantize_cols_t)(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int c = 0; c < cols; c++) {
        scale[c] = 0.0f;
    }
    for (int r = 0; r < rows; r++) {
        const float *row = x + (size_t)r * (size_t)cols;
        for (int c = 0; c < cols; c++) {
            float x_abs = tti_from_bits((uint32_t)magnitude(row[c]));
            scale[c] = x_abs > scale[c] ? x_abs : scale[c];
        }
    }
    for (int c = 0; c < cols; c++) {
        int8_t *column = q + (size_t)c * (size_t)rows;
        float m = scale[c];
        if (m < SMALLEST) {
            memset(column, 0, (size_t)rows);
            scale[c] = 0.0f;
            continue;
        }
        float inv = 127.0f / m;
        for (int r = 0; r < rows; r++) {
            column[r] = tti_quantize(x[(size_t)r * (size_t)cols + (size_t)c] * inv);
        }
        scale[c] = m / 127.0f;
    }
}
