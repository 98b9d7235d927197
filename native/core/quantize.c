// Dynamic quantisation of activations: contract §4.
// Any rows and cols, q at any address, no over-read. |x| up to the largest float; a NaN never
// becomes the maximum and is stored as -127, an infinity makes the scale infinite and q = -127.
#include "quantize.h"
#include "scalar.h"
#include "tti_kernels.h"

#define SMALLEST 7.888609052210118e-31f // 2^-100

static inline float larger(float m, float x) {
    x = tti_abs(x);
    return x > m ? x : m;
}

// The order of comparisons does not matter, so four lanes let the loop run in parallel.
static float absmax(const float *x, int n) {
    float m[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int j = 0; j < 4; j++) {
            m[j] = larger(m[j], x[i + j]);
        }
    }
    for (; i < n; i++) {
        m[0] = larger(m[0], x[i]);
    }
    return larger(larger(m[0], m[1]), larger(m[2], m[3]));
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

void tti_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r * (size_t)cols;
        scale[r] = tti_quantize_row(q + row, x + row, cols);
    }
}

// The maxima are collected in `scale` row by row, as the rows lie in memory.
void tti_quantize_cols_t(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int c = 0; c < cols; c++) {
        scale[c] = 0.0f;
    }
    for (int r = 0; r < rows; r++) {
        const float *row = x + (size_t)r * (size_t)cols;
        for (int c = 0; c < cols; c++) {
            scale[c] = larger(scale[c], row[c]);
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
