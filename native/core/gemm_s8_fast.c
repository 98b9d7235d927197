// Matrix product of int8 rows by a chip's own product.h: contract §5, the bytes of gemm_s8_ref.c.
// Any sizes and addresses as there; what tti_product does not take goes to the reference.
#include "product.h"
#include "reference.h"

#ifdef TTI_FAST

void tti_gemm_s8(float *out, const int8_t *x, const float *sx, const int8_t *w, const float *sw,
                 const float *bias, int t, int o, int k) {
    size_t n = (size_t)o, depth = (size_t)k;
    tti_product_t p = {out, x, sx, w, sw, bias, NULL, t, o, k, n, depth, 1, depth, 1};
    if (tti_can_product(&p)) {
        tti_product(&p);
    } else {
        tti_ref_gemm_s8(out, x, sx, w, sw, bias, t, o, k);
    }
}

void tti_gemm_s8_add(float *res, const float *gate, const int8_t *x, const float *sx,
                     const int8_t *w, const float *sw, const float *bias, int t, int o, int k) {
    size_t n = (size_t)o, depth = (size_t)k;
    tti_product_t p = {res, x, sx, w, sw, bias, gate, t, o, k, n, depth, 1, depth, 1};
    if (tti_can_product(&p)) {
        tti_product(&p);
    } else {
        tti_ref_gemm_s8_add(res, gate, x, sx, w, sw, bias, t, o, k);
    }
}

#endif
