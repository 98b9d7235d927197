// Normally distributed noise from a counter-based generator: contract §9.
// out f32[n], n a multiple of 4. Value i depends only on (seed, i), so any part can be computed
// on its own. Integers are exact modulo 2^32; no over-read.
#include "scalar.h"
#include "tti_kernels.h"

// Philox4x32-10: ten rounds of two 32 x 32 multiplications (Salmon et al., SC 2011).
void tti_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

// Two uniform words to two normal values (Box and Muller 1958).
static void normal_pair(float *out, uint32_t first, uint32_t second) {
    float u = (float)((first >> 8) + 1u) * 5.9604644775390625e-8f; // (0, 1] in steps of 2^-24
    float v = (float)(second >> 8) * 5.9604644775390625e-8f;       // [0, 1)
    float radius = tti_sqrt_f(-2.0f * tti_log_f(u));
    float s, c;
    tti_sincos_f(v, &s, &c);
    out[0] = radius * c;
    out[1] = radius * s;
}

void tti_noise(float *out, uint32_t seed, size_t n) {
    const uint32_t key[2] = {seed, 0};
    for (size_t i = 0; i + 4 <= n; i += 4) {
        uint32_t counter[4] = {(uint32_t)(i / 4), 0, 0, 0};
        uint32_t w[4];
        tti_philox(w, counter, key);
        normal_pair(out + i, w[0], w[1]);
        normal_pair(out + i + 2, w[2], w[3]);
    }
}
