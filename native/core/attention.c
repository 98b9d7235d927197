// The products of attention: contract §7. Any tokens, heads, head_dim and slice; s8 buffers at any
// address; no over-read.
#include "product.h"
#include "reference.h"

static tti_product_t scores(float *s, const int8_t *q, const float *sq, const int8_t *k,
                            const float *sk, const tti_attention_t *a) {
    size_t heads = (size_t)a->heads, head = (size_t)a->head, stride = heads * (size_t)a->head_dim;
    size_t row0 = (size_t)a->row0, channel0 = head * (size_t)a->head_dim;
    tti_product_t p = {
        .out = s,
        .x = q + row0 * stride + channel0,
        .sx = sq + row0 * heads + head,
        .w = k + channel0,
        .sw = sk + head,
        .t = a->rows,
        .o = a->tokens,
        .k = a->head_dim,
        .out_stride = (size_t)a->tokens,
        .x_stride = stride,
        .sx_stride = heads,
        .w_stride = stride,
        .sw_stride = heads,
    };
    return p;
}

static tti_product_t values(float *out, const int8_t *p8, const float *inv, const int8_t *vt,
                            const float *sv, const tti_attention_t *a) {
    size_t tokens = (size_t)a->tokens, stride = (size_t)a->heads * (size_t)a->head_dim;
    size_t channel0 = (size_t)a->head * (size_t)a->head_dim;
    tti_product_t p = {
        .out = out + (size_t)a->row0 * stride + channel0,
        .x = p8,
        .sx = inv,
        .w = vt + channel0 * tokens,
        .sw = sv + channel0,
        .t = a->rows,
        .o = a->head_dim,
        .k = a->tokens,
        .out_stride = stride,
        .x_stride = tokens,
        .sx_stride = 1,
        .w_stride = tokens,
        .sw_stride = 1,
    };
    return p;
}

void TTI_REF(attention_scores)(float *s, const int8_t *q, const float *sq, const int8_t *k,
                               const float *sk, const tti_attention_t *a) {
    tti_product_t p = scores(s, q, sq, k, sk, a);
    tti_product_ref(&p);
}

void TTI_REF(attention_values)(float *out, const int8_t *p8, const float *inv, const int8_t *vt,
                               const float *sv, const tti_attention_t *a) {
    tti_product_t p = values(out, p8, inv, vt, sv, a);
    tti_product_ref(&p);
}

#ifdef TTI_FAST

void tti_attention_scores(float *s, const int8_t *q, const float *sq, const int8_t *k,
                          const float *sk, const tti_attention_t *a) {
    tti_product_t p = scores(s, q, sq, k, sk, a);
    tti_product(&p);
}

void tti_attention_values(float *out, const int8_t *p8, const float *inv, const int8_t *vt,
                          const float *sv, const tti_attention_t *a) {
    tti_product_t p = values(out, p8, inv, vt, sv, a);
    tti_product(&p);
}

#endif
