// Matrix product of int8 rows, portable reference: contract §5.
// x s8[t][k], w s8[o][k] at any address, any t, o >= 1, 1 <= k <= 65536 (accumulators:
// dot_tile.h), no over-read. The weights are read once for every TTI_TILE_ROWS rows of x.
#include "dot_tile.h"
#include "reference.h"

typedef struct {
    const float *sw;
    const float *bias; // or NULL
    const float *gate; // or NULL: store instead of adding
    int o;
} columns_t;

// ((acc * sx) * sw) + bias
static inline float value(int32_t acc, float sx, float sw, const float *bias) {
    float v = ((float)acc * sx) * sw;
    return bias != NULL ? v + *bias : v;
}

// One row of a tile, channels o ... o + cols - 1.
static void finish_row(float *out, const int32_t *acc, float sx, const columns_t *c, int o,
                       int cols) {
    const float *sw = c->sw + o, *bias = c->bias != NULL ? c->bias + o : NULL;
    if (c->gate == NULL) {
        for (int j = 0; j < cols; j++) {
            out[j] = value(acc[j], sx, sw[j], bias != NULL ? bias + j : NULL);
        }
        return;
    }
    const float *gate = c->gate + o;
    for (int j = 0; j < cols; j++) {
        float v = value(acc[j], sx, sw[j], bias != NULL ? bias + j : NULL);
        out[j] = out[j] + gate[j] * v;
    }
}

static void product(float *out, const int8_t *x, const float *sx, const int8_t *w,
                    const columns_t *c, int t, int k) {
    int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS];
    size_t stride = (size_t)k;
    for (int t0 = 0; t0 < t; t0 += TTI_TILE_ROWS) {
        int rows = tti_min(t - t0, TTI_TILE_ROWS);
        for (int o = 0; o < c->o; o += TTI_TILE_COLS) {
            int cols = tti_min(c->o - o, TTI_TILE_COLS);
            tti_dot_tile(acc, x + (size_t)t0 * stride, stride, rows, w + (size_t)o * stride,
                         stride, cols, k);
            for (int r = 0; r < rows; r++) {
                float *row = out + (size_t)(t0 + r) * (size_t)c->o + o;
                finish_row(row, acc[r], sx[t0 + r], c, o, cols);
            }
        }
    }
}

void TTI_REF(gemm_s8)(float *out, const int8_t *x, const float *sx, const int8_t *w,
                      const float *sw, const float *bias, int t, int o, int k) {
    columns_t c = {sw, bias, NULL, o};
    product(out, x, sx, w, &c, t, k);
}

void TTI_REF(gemm_s8_add)(float *res, const float *gate, const int8_t *x, const float *sx,
                          const int8_t *w, const float *sw, const float *bias, int t, int o,
                          int k) {
    columns_t c = {sw, bias, gate, o};
    product(res, x, sx, w, &c, t, k);
}
