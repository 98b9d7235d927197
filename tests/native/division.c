// The divisions of native/core/divide_pie.S, in the same operations, for every mantissa.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}

static float reciprocal(float b) {
    float y = from_bits(0x7EF00000u - bits(b));
    for (int i = 0; i < 4; i++) {
        y = fmaf(y, fmaf(-b, y, 1.0f), y);
    }
    return y;
}

static float quotient(float a, float b, float y) {
    float q = a * y;
    return fmaf(fmaf(-b, q, a), y, q);
}

// Mantissas for which the reciprocal of a number is not the rounded one; with that the quotient is
// rounded for any dividend. Of numbers below 2^23 none may be among them.
static uint32_t wrong_reciprocals(void) {
    uint32_t wrong = 0;
    for (uint32_t m = 0; m < 1u << 23; m++) {
        float b = from_bits(127u << 23 | m);
        wrong += bits(reciprocal(b)) != bits(1.0f / b);
    }
    return wrong;
}

static uint32_t wrong_scales(uint32_t exponent) {
    uint32_t wrong = 0;
    for (uint32_t m = 0; m < 1u << 23; m++) {
        float x = from_bits(exponent << 23 | m);
        wrong += bits(quotient(127.0f, x, reciprocal(x))) != bits(127.0f / x);
        wrong += bits(quotient(x, 127.0f, 1.0f / 127.0f)) != bits(x / 127.0f);
    }
    return wrong;
}

static uint32_t wrong_whole_numbers(void) {
    uint32_t wrong = 0;
    for (uint32_t n = 1; n < 1u << 23; n++) {
        wrong += bits(reciprocal((float)n)) != bits(1.0f / (float)n);
    }
    return wrong;
}

int main(void) {
    // The smallest and the largest exponent of scales.
    printf("%u of 8388608 reciprocals, %u of 8388607 of whole numbers, %u %u scales\n",
           wrong_reciprocals(), wrong_whole_numbers(), wrong_scales(27), wrong_scales(246));
    return 0;
}
