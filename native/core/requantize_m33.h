// Sums of a convolution to int8 or bytes on Cortex-M33.
#ifndef TTI_REQUANTIZE_M33_H
#define TTI_REQUANTIZE_M33_H

#include <stdint.h>

typedef struct {
    const float *m, *b;
    float r;         // scale of the residual
    float low, high; // -127 and 127, or 0 and 255
} tti_m33_requantize_t;

// out[n] = rne(clamp(((sums * m) + b) + res * r)) for n > 0, a multiple of 4; without the last
// addition if res is NULL; out and res at any address, out may be res.
void tti_m33_requantize(int8_t *out, const int32_t *sums, const tti_m33_requantize_t *q,
                        const int8_t *res, int n);

#endif
