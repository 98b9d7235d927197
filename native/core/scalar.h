// The contract's functions of one number (§2, §3), shared by the kernels. All are branch-free or
// have branches that compilers turn into selects, so that loops over them vectorise.
#ifndef TTI_SCALAR_H
#define TTI_SCALAR_H

#include <stdint.h>
#include <string.h>

static inline uint32_t tti_bits(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}

static inline float tti_from_bits(uint32_t b) {
    float x;
    memcpy(&x, &b, 4);
    return x;
}

// §2. Adding 1.5 * 2^23 leaves no bits for a fraction. |v| < 2^22.
static inline float tti_rne_f(float v) {
    return (v + 12582912.0f) - 12582912.0f;
}

static inline float tti_clamp8(float v) {
    v = v >= -127.0f ? v : -127.0f;
    return v > 127.0f ? 127.0f : v;
}

static inline float tti_clampu8(float v) {
    v = v >= 0.0f ? v : 0.0f;
    return v > 255.0f ? 255.0f : v;
}

static inline int8_t tti_quantize(float v) {
    return (int8_t)(int32_t)tti_rne_f(tti_clamp8(v));
}

// §3. Any input, NaN counts as -87. The contract states the largest errors of these functions.
static inline float tti_exp_f(float x) {
    x = x >= -87.0f ? x : -87.0f;
    x = x > 88.0f ? 88.0f : x;
    float n = tti_rne_f(x * 1.442695041f);
    float f = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.0f / 720.0f;
    p = p * f + 1.0f / 120.0f;
    p = p * f + 1.0f / 24.0f;
    p = p * f + 1.0f / 6.0f;
    p = p * f + 0.5f;
    p = p * f + 1.0f;
    p = p * f + 1.0f;
    return p * tti_from_bits((uint32_t)((int32_t)n + 127) << 23);
}

// §3. u normal and > 0.
static inline float tti_log_f(float u) {
    uint32_t bits = tti_bits(u);
    float m = tti_from_bits((bits & 0x007FFFFFu) | 0x3F800000u);
    int32_t exponent = (int32_t)(bits >> 23) - 127;
    float e = (float)(m > 1.414213562f ? exponent + 1 : exponent);
    m = m > 1.414213562f ? m * 0.5f : m;
    float f = m - 1.0f;
    float s = f / (2.0f + f);
    float z = s * s;
    float p = 1.0f / 9.0f;
    p = p * z + 1.0f / 7.0f;
    p = p * z + 1.0f / 5.0f;
    p = p * z + 1.0f / 3.0f;
    p = p * z + 1.0f;
    return (e * -2.12194440e-4f + (2.0f * s) * p) + e * 0.693359375f;
}

// §3. x >= 0; rsqrt(0) is finite, so that sqrt(0) = 0.
static inline float tti_rsqrt_f(float x) {
    float y = tti_from_bits(0x5F3759DFu - (tti_bits(x) >> 1));
    float h = 0.5f * x;
    for (int i = 0; i < 3; i++) {
        y = y * (1.5f - (h * y) * y);
    }
    return y;
}

static inline float tti_sqrt_f(float x) {
    return x * tti_rsqrt_f(x);
}

// §3. 0 <= u < 1 turns.
static inline void tti_sincos_f(float u, float *sine, float *cosine) {
    int32_t k = (int32_t)(u * 4.0f + 0.5f);
    float a = (u - (float)k * 0.25f) * 6.283185307f;
    float z = a * a;
    float p = 1.0f / 362880.0f;
    p = p * z - 1.0f / 5040.0f;
    p = p * z + 1.0f / 120.0f;
    p = p * z - 1.0f / 6.0f;
    p = p * z + 1.0f;
    float s = p * a;
    p = 1.0f / 40320.0f;
    p = p * z - 1.0f / 720.0f;
    p = p * z + 1.0f / 24.0f;
    p = p * z - 0.5f;
    float c = p * z + 1.0f;
    float x = (k & 1) != 0 ? c : s;
    float y = (k & 1) != 0 ? s : c;
    *sine = (k & 2) != 0 ? -x : x;
    *cosine = ((k + 1) & 2) != 0 ? -y : y;
}

#endif
