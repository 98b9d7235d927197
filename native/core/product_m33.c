// Products of int8 rows with scales on Cortex-M33: contract §5, §7.
//
// A panel of rows of w is widened once and multiplied by all rows of x, two at a time, so weights
// are read from flash once. A long k is cut into pieces, and `out` holds the sums until the last
// one. With a gate `out` may not be written before: then the panel has fewer rows, and all of k.
// s8 rows at any address; o that is no multiple of four, or with a gate k > 320, goes to the
// reference. 4.6 KB of stack.
#include "product.h"
#include "dot_m33.h"

#ifdef TTI_M33

#define PANEL 960 // words: rows of w and two rows of x
#define COLS  32  // rows of w at a time, at most
#define DEPTH 96  // terms of a piece of a long k

static inline int min(int a, int b) {
    return a < b ? a : b;
}

// Rows of w of k terms that fit into a panel.
static inline int panel_cols(int k) {
    return min((PANEL / tti_m33_words(k) - 2) & -4, COLS);
}

static inline const float *at(const float *vector, int i) {
    return vector != NULL ? vector + i : NULL;
}

// A piece: terms k0 ... k0 + n - 1 of channels o ... o + cols - 1, for all rows.
typedef struct {
    int o, cols, k0, n;
} piece_t;

// Sums of one row to its results.
static inline void finish(const tti_product_t *p, const piece_t *c, float *out,
                          const int32_t *sums, int row, const float *sw) {
    float sx = p->sx[(size_t)row * p->sx_stride];
    tti_m33_scale(out, sums, sx, sw, at(p->bias, c->o), at(p->gate, c->o), c->cols);
}

// Without a gate the sums of a row live where its results will; a second row that does not exist
// gets sums of its own.
TTI_HOT static void multiply(const tti_product_t *p, const piece_t *c, const uint32_t *panel,
                             uint32_t *pair, const float *sw) {
    int32_t own[2][COLS];
    const uint32_t *end = pair + 2 * tti_m33_words(c->n);
    const int8_t *x = p->x + c->k0;
    float *out = p->out + c->o;
    for (int row = 0; row < p->t; row += 2, x += 2 * p->x_stride, out += 2 * p->out_stride) {
        bool two = row + 1 < p->t;
        float *next = out + p->out_stride;
        int32_t *sums = p->gate == NULL ? (int32_t *)out : own[0];
        int32_t *more = p->gate == NULL && two ? (int32_t *)next : own[1];
        tti_m33_panel2(pair, x, two ? x + p->x_stride : x, c->n);
        tti_m33_dot(sums, more, pair, panel, end, c->cols / 4, c->k0 == 0);
        if (c->k0 + c->n == p->k) {
            finish(p, c, out, sums, row, sw);
            if (two) {
                finish(p, c, next, more, row + 1, sw);
            }
        }
    }
}

static void piece(const tti_product_t *p, const piece_t *c, uint32_t *panel) {
    int words = tti_m33_words(c->n);
    float apart[COLS];
    const float *sw = p->sw + (size_t)c->o * p->sw_stride;
    if (p->sw_stride != 1) {
        for (int i = 0; i < c->cols; i++) {
            apart[i] = sw[(size_t)i * p->sw_stride];
        }
        sw = apart;
    }
    const int8_t *w = p->w + (size_t)c->o * p->w_stride + c->k0;
    for (int i = 0; i < c->cols; i += 4, w += 4 * p->w_stride) {
        tti_m33_panel4(panel + i * words, w, p->w_stride, c->n);
    }
    multiply(p, c, panel, panel + c->cols * words, sw);
}

static void panels(const tti_product_t *p) {
    uint32_t panel[PANEL];
    int depth = p->gate != NULL ? p->k : min(p->k, DEPTH), cols = panel_cols(depth);
    for (int o = 0; o < p->o; o += cols) {
        for (int k0 = 0; k0 < p->k; k0 += depth) {
            piece_t c = {o, min(cols, p->o - o), k0, min(depth, p->k - k0)};
            piece(p, &c, panel);
        }
    }
}

void tti_product(const tti_product_t *p) {
    if (p->o % 4 == 0 && (p->gate == NULL || panel_cols(p->k) >= 4)) {
        panels(p);
    } else {
        tti_product_ref(p);
    }
}

#endif
