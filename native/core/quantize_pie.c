// Dynamic quantisation of activations on the ESP32-S3: contract §4, the bytes of quantize.c.
// Any sizes and addresses as there. Rows that begin at a multiple of 16 and have a multiple of 8
// values are done here, the others by the reference, and so are those with infinities, NaN, or a
// largest magnitude outside 2^-100...2^120.
#include "quantize_pie.h"
#include "divide_pie.h"
#include "quantize.h"
#include "reference.h"

#ifdef TTI_PIE

#define SMALLEST 0x0D800000u // 2^-100 as a bit pattern
#define LARGEST  0x7B800000u // 2^120

static const float one_127th = 1.0f / 127.0f;

// Whether the largest magnitude of a row, as a bit pattern, gives a scale that is no special case.
static inline bool plain(uint32_t most) {
    return most >= SMALLEST && most < LARGEST;
}

// Up to four rows: their scales are computed side by side.
static void quantize_some(int8_t *q, float *scale, const float *x, int rows, int cols) {
    float most[4] __attribute__((aligned(16))) = {1.0f, 1.0f, 1.0f, 1.0f};
    float inv[4] __attribute__((aligned(16))), scales[4] __attribute__((aligned(16)));
    size_t n = (size_t)cols;
    bool special = false;
    for (int r = 0; r < rows; r++) {
        uint32_t m = tti_pie_largest(x + (size_t)r * n, n);
        special = special || !plain(m);
        most[r] = tti_from_bits(m);
    }
    tti_pie_scales4(inv, scales, most, one_127th);
    for (int r = 0; r < rows; r++, q += n, x += n) {
        if (special) {
            scale[r] = tti_quantize_row(q, x, cols);
        } else {
            tti_pie_quantize(q, x, inv[r], cols);
            scale[r] = scales[r];
        }
    }
}

void tti_pie_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    for (int r = 0; r < rows; r += 4) {
        size_t row = (size_t)r * (size_t)cols;
        quantize_some(q + row, scale + r, x + row, rows - r < 4 ? rows - r : 4, cols);
    }
}

void tti_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    if (tti_pie_takes(x, (size_t)cols)) {
        tti_pie_quantize_rows(q, scale, x, rows, cols);
    } else {
        tti_ref_quantize_rows(q, scale, x, rows, cols);
    }
}

// Columns c ... c + 3. False, and nothing is done, if one of them has an infinity or NaN, or a
// number as large.
static bool four_columns(int8_t *q, float *scale, const float *x, int rows, size_t stride) {
    float inv[4] __attribute__((aligned(16))), scales[4] __attribute__((aligned(16)));
    float m[4] __attribute__((aligned(16)));
    uint32_t most[4];
    tti_pie_largest4(most, x, rows, stride);
    for (int c = 0; c < 4; c++) {
        if (most[c] >= LARGEST) {
            return false;
        }
        m[c] = tti_from_bits(plain(most[c]) ? most[c] : LARGEST - 1);
    }
    tti_pie_scales4(inv, scales, m, one_127th);
    for (int c = 0; c < 4; c++) {
        scale[c] = plain(most[c]) ? scales[c] : 0.0f;
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
