// Elementary functions over vectors: contract §2 (rne) and §3 (the others).
// f32[n] to f32[n], in place allowed (rne: to i32[n], not in place); any n, no over-read.
#include "scalar.h"
#include "tti_kernels.h"

void tti_exp(float *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tti_exp_f(x[i]);
    }
}

void tti_log(float *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tti_log_f(x[i]);
    }
}

void tti_rsqrt(float *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tti_rsqrt_f(x[i]);
    }
}

void tti_sqrt(float *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tti_sqrt_f(x[i]);
    }
}

void tti_silu(float *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i] / (1.0f + tti_exp_f(-x[i]));
    }
}

void tti_sincos(float *out_sin, float *out_cos, const float *turns, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float s, c;
        tti_sincos_f(turns[i], &s, &c);
        out_sin[i] = s;
        out_cos[i] = c;
    }
}

void tti_rne(int32_t *out, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = (int32_t)tti_rne_f(x[i]);
    }
}
