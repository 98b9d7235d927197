// Matrix product of int8 rows: contract §5. Any sizes and addresses, no over-read.
#include "product.h"
#include "reference.h"

void TTI_REF(gemm_s8)(float *out, const int8_t *x, const float *sx, const int8_t *w,
                      const float *sw, const float *bias, int t, int o, int k) {
    tti_product_t p = tti_gemm_product(out, NULL, x, sx, w, sw, bias, t, o, k);
    tti_product_ref(&p);
}

void TTI_REF(gemm_s8_add)(float *res, const float *gate, const int8_t *x, const float *sx,
                          const int8_t *w, const float *sw, const float *bias, int t, int o,
                          int k) {
    tti_product_t p = tti_gemm_product(res, gate, x, sx, w, sw, bias, t, o, k);
    tti_product_ref(&p);
}

#ifdef TTI_FAST

void tti_gemm_s8(float *out, const int8_t *x, const float *sx, const int8_t *w, const float *sw,
                 const float *bias, int t, int o, int k) {
    tti_product_t p = tti_gemm_product(out, NULL, x, sx, w, sw, bias, t, o, k);
    tti_product(&p);
}

void tti_gemm_s8_add(float *res, const float *gate, const int8_t *x, const float *sx,
                     const int8_t *w, const float *sw, const float *bias, int t, int o, int k) {
    tti_product_t p = tti_gemm_product(res, gate, x, sx, w, sw, bias, t, o, k);
    tti_product(&p);
}

#endif
