// What clang calls for float32 and, where only the type occurs, float64: rounded to nearest even,
// like IEEE 754 says, by integers. A NaN becomes the default one.
#include <stdint.h>

#define SIGN     0x80000000u
#define INFINITE 0x7F800000u
#define QUIET    0x7FC00000u

typedef union {
    float value;
    uint32_t bits;
} float_t;

typedef union {
    double value;
    uint64_t bits;
} double_t;

float __divsf3(float x, float y);
float __floatundisf(uint64_t n);
float __floatdisf(int64_t n);
uint64_t __fixunssfdi(float x);
int64_t __fixsfdi(float x);
double __extendsfdf2(float x);
float __truncdfsf2(double x);
double __floatsidf(int32_t n);
float copysignf(float x, float y); // of the mathematical library, but not in MicroPython's

static int leading_zeros64(uint64_t n) {
    uint32_t high = (uint32_t)(n >> 32);
    return high != 0 ? __builtin_clz(high) : 32 + __builtin_clz((uint32_t)n);
}

static float from_bits(uint32_t bits) {
    float_t x = {.bits = bits};
    return x.value;
}

// A positive number: `mantissa` has its first bit at 30 and counts from 2^exponent there; `rest`
// says whether there is anything below. Rounds, also to numbers below the smallest normal one.
static uint32_t rounded(int exponent, uint32_t mantissa, int rest) {
    int biased = exponent + 127;
    if (biased >= 255) {
        return INFINITE;
    }
    int drop = 7;
    if (biased <= 0) {
        drop += 1 - biased;
        if (drop > 31) {
            return 0;
        }
        biased = 0;
    }
    uint32_t kept = mantissa >> drop;
    uint32_t half = 1u << (drop - 1), lost = mantissa & ((half << 1) - 1);
    if (lost > half || (lost == half && (rest || (kept & 1) != 0))) {
        kept++;
    }
    // The first bit of a normal number is not stored: it adds one to the exponent instead.
    return biased == 0 ? kept : ((uint32_t)(biased - 1) << 23) + kept;
}

// Takes a finite number that is not 0 apart: a mantissa with its first bit at 23.
static int unpack(uint32_t bits, uint32_t *mantissa) {
    int biased = (int)(bits >> 23 & 0xFF);
    *mantissa = bits & 0x7FFFFF;
    if (biased != 0) {
        *mantissa |= 0x800000;
        return biased - 127;
    }
    int shift = __builtin_clz(*mantissa) - 8;
    *mantissa <<= shift;
    return -126 - shift;
}

float __divsf3(float x, float y) {
    float_t n = {x}, d = {y};
    uint32_t sign = (n.bits ^ d.bits) & SIGN, a = n.bits & ~SIGN, b = d.bits & ~SIGN;
    if (a > INFINITE || b > INFINITE || (a == INFINITE && b == INFINITE) || (a | b) == 0) {
        return from_bits(QUIET);
    }
    if (a == INFINITE || b == 0) {
        return from_bits(sign | INFINITE);
    }
    if (b == INFINITE || a == 0) {
        return from_bits(sign);
    }
    uint32_t over, under;
    int exponent = unpack(a, &over) - unpack(b, &under);
    if (over < under) {
        over <<= 1;
        exponent--;
    }
    // 31 bits of the quotient: the first one, then six times five.
    uint32_t quotient = 1, rest = over - under;
    for (int i = 0; i < 6; i++) {
        rest <<= 5;
        quotient = quotient << 5 | rest / under;
        rest %= under;
    }
    return from_bits(sign | rounded(exponent, quotient, rest != 0));
}

float __floatundisf(uint64_t n) {
    if (n == 0) {
        return 0;
    }
    int zeros = leading_zeros64(n);
    uint64_t first = n << zeros >> 1;
    return from_bits(rounded(63 - zeros, (uint32_t)(first >> 32), (uint32_t)first != 0));
}

float __floatdisf(int64_t n) {
    return n < 0 ? -__floatundisf(-(uint64_t)n) : __floatundisf((uint64_t)n);
}

// Towards 0; what does not fit is the nearest that does.
uint64_t __fixunssfdi(float x) {
    float_t n = {x};
    int exponent = (int)(n.bits >> 23 & 0xFF) - 127;
    if (exponent < 0 || (n.bits & SIGN) != 0) {
        return 0;
    }
    if (exponent > 63) {
        return UINT64_MAX;
    }
    uint64_t mantissa = (n.bits & 0x7FFFFF) | 0x800000;
    return exponent >= 23 ? mantissa << (exponent - 23) : mantissa >> (23 - exponent);
}

int64_t __fixsfdi(float x) {
    uint64_t whole = __fixunssfdi(x < 0 ? -x : x);
    if (whole > INT64_MAX) {
        return x < 0 ? INT64_MIN : INT64_MAX;
    }
    return x < 0 ? -(int64_t)whole : (int64_t)whole;
}

double __extendsfdf2(float x) {
    float_t n = {x};
    double_t out = {.bits = (uint64_t)(n.bits & SIGN) << 32};
    uint32_t bits = n.bits & ~SIGN, mantissa;
    if (bits >= INFINITE) {
        out.bits |= 0x7FFull << 52 | (uint64_t)(bits & 0x7FFFFF) << 29;
    } else if (bits != 0) {
        int exponent = unpack(bits, &mantissa);
        out.bits |= (uint64_t)(exponent + 1023) << 52 | (uint64_t)(mantissa & 0x7FFFFF) << 29;
    }
    return out.value;
}

float __truncdfsf2(double x) {
    double_t n = {x};
    uint32_t sign = (uint32_t)(n.bits >> 32) & SIGN;
    int biased = (int)(n.bits >> 52 & 0x7FF);
    uint64_t fraction = n.bits & 0xFFFFFFFFFFFFFull;
    if (biased == 0x7FF) {
        return from_bits(sign | (fraction != 0 ? QUIET : INFINITE));
    }
    if (biased == 0) {
        return from_bits(sign);
    }
    uint32_t mantissa = 1u << 30 | (uint32_t)(fraction >> 22);
    return from_bits(sign | rounded(biased - 1023, mantissa, (fraction & 0x3FFFFF) != 0));
}

double __floatsidf(int32_t n) {
    double_t out = {.bits = 0};
    if (n != 0) {
        uint32_t size = n < 0 ? -(uint32_t)n : (uint32_t)n;
        int zeros = __builtin_clz(size);
        uint64_t fraction = (uint64_t)(size << zeros) << 21 & 0xFFFFFFFFFFFFFull;
        out.bits = (uint64_t)(n < 0) << 63 | (uint64_t)(1023 + 31 - zeros) << 52 | fraction;
    }
    return out.value;
}

float copysignf(float x, float y) {
    float_t size = {x}, sign = {y};
    return from_bits((size.bits & ~SIGN) | (sign.bits & SIGN));
}
