// Matrix product of int8 rows on Cortex-M33: contract §5, the bytes of gemm_s8_ref.c.
// x s8[t][k], w s8[o][k] at any address, any t, o >= 1, 1 <= k <= 65536 (an o that is no multiple
// of four goes to the reference); no over-read; about 4 KB of stack.
//
// COLS rows of w are widened once and multiplied by all rows of x, two at a time, so weights are
// read from flash once. A long k is cut into pieces, and `out` holds the sums until the last one.
// gemm_s8_add may not write there: it takes fewer rows of w and all of k at a time, and leaves a k
// with no room for four rows to the reference.
#include "dot_m33.h"
#include "reference.h"

#ifdef TTI_M33

#define PANEL 960 // words: rows of w and two rows of x
#define COLS  16
#define DEPTH 96 // terms of a piece of a long k; (COLS + 2) * DEPTH / 2 <= PANEL

typedef struct {
    float *out; // [t][o]
    const int8_t *x;
    const float *sx;
    const int8_t *w;
    const float *sw;
    const float *bias; // or NULL
    const float *gate; // or NULL: store instead of adding
    int t, o, k;
} product_t;

static inline int min(int a, int b) {
    return a < b ? a : b;
}

static inline const float *at(const float *vector, int i) {
    return vector != NULL ? vector + i : NULL;
}

// Terms k0 ... k0 + n - 1 of channels o ... o + cols - 1, for all rows. Without a gate the sums of
// a row live where its results will; a second row that does not exist gets sums of its own.
TTI_HOT static void piece(const product_t *p, uint32_t *panel, int o, int cols, int k0, int n) {
    int32_t own[2][COLS];
    int words = tti_m33_words(n);
    size_t k = (size_t)p->k;
    const int8_t *w = p->w + (size_t)o * k + k0, *x = p->x + k0;
    for (int c = 0; c < cols; c += 4) {
        tti_m33_panel4(panel + c * words, w + (size_t)c * k, k, n);
    }
    uint32_t *pair = panel + cols * words;
    for (int row = 0; row < p->t; row += 2, x += 2 * k) {
        bool two = row + 1 < p->t;
        float *out = p->out + (size_t)row * (size_t)p->o + o, *next = out + p->o;
        int32_t *sums[2] = {own[0], own[1]};
        if (p->gate == NULL) {
            sums[0] = (int32_t *)out;
            sums[1] = two ? (int32_t *)next : own[1];
        }
        tti_m33_panel2(pair, x, two ? x + k : x, n);
        tti_m33_dot(sums[0], sums[1], pair, panel, pair + 2 * words, cols / 4, k0 == 0);
        if (k0 + n == p->k) {
            const float *sw = p->sw + o, *bias = at(p->bias, o), *gate = at(p->gate, o);
            tti_m33_scale(out, sums[0], p->sx[row], sw, bias, gate, cols);
            if (two) {
                tti_m33_scale(next, sums[1], p->sx[row + 1], sw, bias, gate, cols);
            }
        }
    }
}

static void product(const product_t *p, int cols, int depth) {
    uint32_t panel[PANEL];
    for (int o = 0; o < p->o; o += cols) {
        for (int k0 = 0; k0 < p->k; k0 += depth) {
            piece(p, panel, o, min(cols, p->o - o), k0, min(depth, p->k - k0));
        }
    }
}

void tti_gemm_s8(float *out, const int8_t *x, const float *sx, const int8_t *w, const float *sw,
                 const float *bias, int t, int o, int k) {
    if (o % 4 != 0) {
        tti_ref_gemm_s8(out, x, sx, w, sw, bias, t, o, k);
        return;
    }
    product_t p = {out, x, sx, w, sw, bias, NULL, t, o, k};
    product(&p, COLS, DEPTH);
}

void tti_gemm_s8_add(float *res, const float *gate, const int8_t *x, const float *sx,
                     const int8_t *w, const float *sw, const float *bias, int t, int o, int k) {
    int cols = (PANEL / tti_m33_words(k) - 2) & -4;
    if (o % 4 != 0 || cols < 4) {
        tti_ref_gemm_s8_add(res, gate, x, sx, w, sw, bias, t, o, k);
        return;
    }
    product_t p = {res, x, sx, w, sw, bias, gate, t, o, k};
    product(&p, min(cols, COLS), k);
}

#endif
