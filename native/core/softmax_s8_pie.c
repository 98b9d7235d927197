// Softmax to integer weights on the ESP32-S3: contract §7, the bytes of softmax_s8.c.
// Any sizes and addresses as there; rows that are not aligned, longer than COLS, or
// without a multiple of 8 valid columns go to the reference, and so do rows with a NaN, an
// infinity, or a score so far below the largest that its exponential is bounded.
//
// Rounding hands its rest from column to column, a chain of operations that wait for each other.
// So exponentials of two rows are taken first, and the chains of both then fill each other's
// waits. 1.1 KB of stack.
#include "divide_pie.h"
#include "quantize_pie.h"
#include "reference.h"

#ifdef TTI_PIE

#define COLS 128

// exp_pie.S
void tti_pie_range(int32_t range[2], const float *s, int n);
void tti_pie_exp(float *e, const float *s, float m, const float *constants, int n);
void tti_pie_diffuse2(int8_t *p, const float *e, size_t stride, size_t e_stride, int n,
                      int32_t sums[2]);

static const float exp_constants[] = {1.442695041f,  0.693359375f, -2.12194440e-4f, 1.0f / 720.0f,
                                      1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f,     0.5f,
                                      1.0f,          126.0f};

// A key of tti_pie_range as the number that it stands for.
static float number(int32_t key) {
    return tti_from_bits((uint32_t)(key < 0 ? key ^ 0x7FFFFFFF : key));
}

// e[n] of one row; false if it is one for the reference.
static bool exponentials(float *e, const float *s, int n) {
    int32_t range[2];
    tti_pie_range(range, s, n);
    float m = number(range[0]), least = number(range[1]);
    if (!(least - m >= -87.0f)) {
        return false;
    }
    tti_pie_exp(e, s, m, exp_constants, n);
    return true;
}

// Two rows of p, or one.
static bool two_rows(int8_t *p, float *inv, const float *s, int cols, int valid, bool two) {
    float e[2][COLS + 4] __attribute__((aligned(16)));
    int8_t none[COLS];
    int32_t sums[2];
    size_t n = (size_t)cols;
    if (!exponentials(e[0], s, valid) || (two && !exponentials(e[1], s + n, valid))) {
        return false;
    }
    int8_t *second = two ? p + n : none;
    size_t stride = (uintptr_t)second - (uintptr_t)p;
    tti_pie_diffuse2(p, e[0], stride, two ? sizeof(e[0]) : 0, valid, sums);
    for (int i = 0; i <= two; i++) {
        inv[i] = tti_pie_quotient(1.0f, (float)sums[i]);
        memset(p + (size_t)i * n + valid, 0, (size_t)(cols - valid));
    }
    return true;
}

void tti_softmax_s8(int8_t *p, float *inv, const float *s, int rows, int cols, int valid) {
    size_t n = (size_t)cols;
    bool takes = valid <= COLS && tti_pie_takes(s, (size_t)valid) && (rows == 1 || n % 4 == 0);
    for (int i = 0; i < rows; i += 2, p += 2 * n, s += 2 * n, inv += 2) {
        int some = rows - i < 2 ? 1 : 2;
        if (!takes || !two_rows(p, inv, s, cols, valid, some == 2)) {
            tti_ref_softmax_s8(p, inv, s, some, cols, valid);
        }
    }
}

#endif
