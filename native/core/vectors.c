// Sums, interpolation, embedding and the decoder's input: contract §11. Any sizes, no over-read.
#include "scalar.h"
#include "tti_kernels.h"

void tti_add(float *out, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

void tti_lerp(float *out, const float *a, const float *b, int hundredths, size_t n) {
    float h = (float)hundredths / 100.0f;
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i] + h * (b[i] - a[i]);
    }
}

void tti_mean_rows(float *out, const float *x, int rows, int cols) {
    for (int c = 0; c < cols; c++) {
        out[c] = 0.0f;
    }
    for (int r = 0; r < rows; r++) {
        const float *row = x + (size_t)r * (size_t)cols;
        for (int c = 0; c < cols; c++) {
            out[c] = out[c] + row[c];
        }
    }
    for (int c = 0; c < cols; c++) {
        out[c] = out[c] / (float)rows;
    }
}

void tti_embed(float *out, const float *table, const float *pos, const uint8_t *tokens, int n,
               int dim) {
    for (int t = 0; t < n; t++) {
        const float *entry = table + (size_t)tokens[t] * (size_t)dim;
        float *row = out + (size_t)t * (size_t)dim;
        if (pos == NULL) {
            memcpy(row, entry, (size_t)dim * sizeof(float));
        } else {
            tti_add(row, entry, pos + (size_t)t * (size_t)dim, (size_t)dim);
        }
    }
}

// Token (y / 2, x / 2) holds the pixel at position ((y % 2) * 2 + x % 2) * 4.
void tti_quantize_latent(int8_t *q, const float *x, const float *m, const float *b, int height,
                         int width) {
    for (int row = 0; row < height; row++) {
        for (int col = 0; col < width; col++) {
            size_t token = (size_t)(row / 2) * (size_t)(width / 2) + (size_t)(col / 2);
            const float *pixel = x + token * 16 + (size_t)((row % 2 * 2 + col % 2) * 4);
            for (int c = 0; c < 4; c++) {
                *q++ = tti_quantize((pixel[c] * m[c]) + b[c]);
            }
        }
    }
}
