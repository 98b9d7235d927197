// GELU from a table of values and slopes: contract §3.
// x, out f32[n], table f32[2048] = 1024 pairs (value, slope) over [-6, 6). Any n, in place
// allowed, no over-read. A NaN gives 0.
#include "reference.h"

static inline float gelu(float x, const float *table) {
    if (!(x > -6.0f)) {
        return 0.0f;
    }
    if (x >= 6.0f) {
        return x;
    }
    float p = (x + 6.0f) * 85.33333333f;
    int32_t i = (int32_t)p;
    i = i < 1023 ? i : 1023;
    return table[2 * i] + table[2 * i + 1] * (p - (float)i);
}

void TTI_REF(gelu)(float *out, const float *x, const float *table, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = gelu(x[i], table);
    }
}
