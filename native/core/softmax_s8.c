// Softmax to integer weights: contract §7. Any sizes and addresses, no over-read.
#include "dot_tile.h"
#include "reference.h"
#include "scalar.h"

#define EXPS 32 // exponentials computed at a time

// Rounds the weights `e` of n columns to integers; what a column loses or wins, `rest`, goes to
// the next one. |rest| <= 0.5 and 0 <= e <= 126 keep a weight in 0...126. Returns their sum.
static int32_t diffuse(int8_t *p, float *rest, const float *e, int n) {
    int32_t sum = 0;
    float r = *rest;
    for (int j = 0; j < n; j++) {
        r = r + e[j];
        float whole = tti_rne_f(r);
        r = r - whole;
        p[j] = (int8_t)(int32_t)whole;
        sum += p[j];
    }
    *rest = r;
    return sum;
}

// The exponentials are taken a few columns at a time, so that their loop vectorises. The largest
// weight is 126; the sum is at most 126 * cols.
static float softmax_row(int8_t *p, const float *s, int cols, int valid) {
    float m = s[0];
    for (int j = 1; j < valid; j++) {
        m = s[j] > m ? s[j] : m;
    }
    float e[EXPS], rest = 0.0f;
    int32_t sum = 0;
    for (int j0 = 0; j0 < valid; j0 += EXPS) {
        int n = tti_min(valid - j0, EXPS);
        for (int j = 0; j < n; j++) {
            e[j] = tti_exp_f(s[j0 + j] - m) * 126.0f;
        }
        sum += diffuse(p + j0, &rest, e, n);
    }
    memset(p + valid, 0, (size_t)(cols - valid));
    return 1.0f / (float)sum;
}

void TTI_REF(softmax_s8)(int8_t *p, float *inv, const float *s, int rows, int cols, int valid) {
    for (int i = 0; i < rows; i++) {
        size_t row = (size_t)i * (size_t)cols;
        inv[i] = softmax_row(p + row, s + row, cols, valid);
    }
}
