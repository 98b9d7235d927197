// Float32 only: MicroPython's lib/libm has the functions.
#ifndef TTI_LX7_MATH_H
#define TTI_LX7_MATH_H

#include <sys/types.h>

typedef float float_t;
typedef double double_t;

#define NAN          __builtin_nanf("")
#define INFINITY     __builtin_inff()
#define HUGE_VALF    __builtin_inff()
#define M_PI         3.14159265358979323846
#define M_E          2.7182818284590452354
#define FP_NAN       0
#define FP_INFINITE  1
#define FP_ZERO      2
#define FP_SUBNORMAL 3
#define FP_NORMAL    4
#define nanf(text)   __builtin_nanf(text)
#define nan(text)    __builtin_nan(text)

static inline unsigned float_bits_(float x) {
    union {
        float value;
        unsigned bits;
    } both = {x};
    return both.bits;
}

int __fpclassifyf(float x);
#define fpclassify(x) __fpclassifyf(x)
#define signbit(x)    ((int)(float_bits_(x) >> 31))
#define isnan(x)      ((float_bits_(x) & 0x7FFFFFFF) > 0x7F800000)
#define isinf(x)      ((float_bits_(x) & 0x7FFFFFFF) == 0x7F800000)
#define isfinite(x)   ((float_bits_(x) & 0x7F800000) != 0x7F800000)
#define isnormal(x)   (__fpclassifyf(x) == FP_NORMAL)

static inline float fabsf(float x) {
    return __builtin_fabsf(x);
}

float acosf(float), asinf(float), atanf(float), cosf(float), sinf(float), tanf(float);
float coshf(float), sinhf(float), tanhf(float), acoshf(float), asinhf(float), atanhf(float);
float expf(float), expm1f(float), logf(float), log1pf(float), log10f(float), log2f(float);
float sqrtf(float), ceilf(float), floorf(float), truncf(float), roundf(float), nearbyintf(float);
float rintf(float), erff(float), erfcf(float), tgammaf(float), lgammaf(float);
float powf(float, float), fmodf(float, float), atan2f(float, float), copysignf(float, float);
float fminf(float, float), fmaxf(float, float), nextafterf(float, float), hypotf(float, float);
float ldexpf(float, int), scalbnf(float, int), frexpf(float, int *), modff(float, float *);
extern int signgam;

#endif
