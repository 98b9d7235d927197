// Products of int8 rows with scales on Cortex-M33: what the matrix product and attention share.
#ifndef TTI_PRODUCT_M33_H
#define TTI_PRODUCT_M33_H

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
} tti_m33_product_t;

// Whether tti_m33_product takes these sizes: o a multiple of four, and with a gate k <= 320.
bool tti_m33_can_product(const tti_m33_product_t *p);
// s8 rows at any address, any t >= 1, 1 <= k <= 65536; no over-read; 4.6 KB of stack.
void tti_m33_product(const tti_m33_product_t *p);

#endif
