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

// Prints the mantissas for which the reciprocal of a number is not the rounded one. For the others
// the quotient is rounded whatever the dividend is.
static void print_wrong_reciprocals(void) {
    for (uint32_t m = 0; m < 1u << 23; m++) {
        float b = from_bits(127u << 23 | m);
        if (bits(reciprocal(b)) != bits(1.0f / b)) {
            printf("0x%06x ", m);
        }
    }
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

int main(void) {
    print_wrong_reciprocals();
    // The smallest and the largest exponent of scales.
    printf("and %u %u scales\n", wrong_scales(27), wrong_scales(246));
    return 0;
}
