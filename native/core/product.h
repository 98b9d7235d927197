// Products of int8 rows with scales, as a chip's own kernels compute them (target.h): what the
// matrix product and attention share.
#ifndef TTI_PRODUCT_H
#define TTI_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

// Whether tti_product takes these sizes and addresses; product_m33.c and product_pie.c say which.
bool tti_can_product(const tti_product_t *p);
// Any t >= 1, 1 <= k <= 65536; no over-read.
void tti_product(const tti_product_t *p);

#endif
