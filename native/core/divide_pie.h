// Divisions on the ESP32-S3, rounded like any other operation (contract §1), without the library's
// function for any two numbers.
#ifndef TTI_DIVIDE_PIE_H
#define TTI_DIVIDE_PIE_H

#include "scalar.h"

// inv[4] = 127 / m, scale[4] = m / 127, 2^-100 <= m < 2^120; all 16-aligned.
void tti_pie_scales4(float *inv, float *scale, const float *m, float one_127th);

// a / b, b a whole number from 1 to 2^23 and |a| from 2^-60 to 2^100.
float tti_pie_quotient(float a, float b);

// a / b for any a.
static inline float tti_pie_divide(float a, float b) {
    uint32_t exponent = tti_bits(a) << 1 >> 24;
    return exponent >= 127 - 60 && exponent < 127 + 100 ? tti_pie_quotient(a, b) : a / b;
}

#endif
