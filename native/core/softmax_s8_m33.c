// Softmax to integer weights on Cortex-M33: contract §7, the bytes of softmax_s8.c.
// Any sizes and addresses as there.
#include "reference.h"
#include "scalar.h"

#ifdef TTI_M33

typedef struct {
    float rest; // what rounding has taken from the columns so far
    int32_t sum;
} diffusion_t;

// exp_m33.S
float tti_m33_max(const float *x, int n);
void tti_m33_exp_diffuse(int8_t *p, const float *s, float m, diffusion_t *d, int n);

TTI_HOT static float softmax_row(int8_t *p, const float *s, int cols, int valid) {
    int fours = valid & -4;
    float m = fours > 0 ? tti_m33_max(s, fours) : s[0];
    for (int j = fours; j < valid; j++) {
        m = s[j] > m ? s[j] : m;
    }
    diffusion_t d = {0.0f, 0};
    if (fours > 0) {
        tti_m33_exp_diffuse(p, s, m, &d, fours);
    }
    for (int j = fours; j < valid; j++) {
        float r = d.rest + tti_exp_f(s[j] - m) * 126.0f;
        float whole = tti_rne_f(r);
        d.rest = r - whole;
        p[j] = (int8_t)(int32_t)whole;
        d.sum += p[j];
    }
    memset(p + valid, 0, (size_t)(cols - valid));
    return 1.0f / (float)d.sum;
}

void tti_softmax_s8(int8_t *p, float *inv, const float *s, int rows, int cols, int valid) {
    for (int i = 0; i < rows; i++, p += cols, s += cols) {
        inv[i] = softmax_row(p, s, cols, valid);
    }
}

#endif
