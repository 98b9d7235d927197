// Sampler of the rectified flow: contract §10. f32 vectors of any n, no over-read.
#include "scalar.h"
#include "tti_kernels.h"

// freqs f32[n] in turns, 0 <= freqs < 2^24; out f32[2 * n]: cosines, then sines.
void tti_timestep_features(float *out, const float *freqs, int i, int steps, size_t n) {
    float t = (float)(steps - i) / (float)steps;
    for (size_t k = 0; k < n; k++) {
        float a = t * freqs[k];
        float u = a - (float)(int32_t)a;
        tti_sincos_f(u, &out[n + k], &out[k]);
    }
}

void tti_euler(float *x, const float *v, int steps, size_t n) {
    float dt = 1.0f / (float)steps;
    for (size_t i = 0; i < n; i++) {
        x[i] = x[i] - dt * v[i];
    }
}
