// Products of int8 rows with scales: what the matrix product and attention share (gemm_s8.c,
// attention.c). The reference takes everything; a chip's own product goes back to it for what it
// does not take.
#ifndef TTI_PRODUCT_H
#define TTI_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

// out[t][o] = ((acc * sx) * sw) + bias, or out + gate * that. Strides are in elements.
typedef struct {
    float *out;
    const int8_t *x;
    const float *sx;
    const int8_t *w;
    const float *sw;
    const float *bias; // or NULL
    const float *gate; // or NULL: store instead of adding
    int t, o, k;
    size_t out_stride, x_stride, sx_stride, w_stride, sw_stride;
} tti_product_t;

// product_ref.c: s8 rows at any address, any t, o >= 1, 1 <= k <= 65536; no over-read.
void tti_product_ref(const tti_product_t *p);

// product_m33.c, product_pie.c: the same.
#ifdef TTI_FAST
void tti_product(const tti_product_t *p);
#else
#define tti_product tti_product_ref
#endif

// The product that is tti_gemm_s8, or tti_gemm_s8_add if there is a gate.
static inline tti_product_t tti_gemm_product(float *out, const float *gate, const int8_t *x,
                                             const float *sx, const int8_t *w, const float *sw,
                                             const float *bias, int t, int o, int k) {
    tti_product_t p = {out, x, sx,        w,         sw, bias,      gate, t,
                       o,   k, (size_t)o, (size_t)k, 1,  (size_t)k, 1};
    return p;
}

// Scales of four columns, and how they finish a sum.
#define TTI_COLUMNS 4

typedef struct {
    float sw[TTI_COLUMNS] __attribute__((aligned(16)));
    float
        bias[TTI_COLUMNS]; // -0.0 where there is none, which changes no number that it is added to
    float gate[TTI_COLUMNS];
} tti_columns_t;

// Those of columns o ... o + cols - 1.
static inline void tti_take_columns(tti_columns_t *c, const tti_product_t *p, int o, int cols) {
    for (int i = 0; i < cols; i++) {
        size_t at = (size_t)(o + i);
        c->sw[i] = p->sw[at * p->sw_stride];
        c->bias[i] = p->bias != NULL ? p->bias[at] : -0.0f;
        c->gate[i] = p->gate != NULL ? p->gate[at] : 0.0f;
    }
}

// One row of results.
static inline void tti_finish_columns(float *out, const float *sums, float sx,
                                      const tti_columns_t *c, int cols, bool gated) {
    for (int i = 0; i < cols; i++) {
        float v = ((sums[i] * sx) * c->sw[i]) + c->bias[i];
        out[i] = gated ? out[i] + c->gate[i] * v : v;
    }
}

#endif
