// Panels of any length and of fewer rows (dot_m33.h). The last terms, fewer than a step, go
// through a row of zeros.
#include "dot_m33.h"

#ifdef TTI_M33

TTI_HOT void tti_m33_panel2(uint32_t *panel, const int8_t *r, const int8_t *s, int k) {
    int n = k & -TTI_M33_STEP;
    if (n > 0) {
        tti_m33_widen2(panel, r, s, n);
    }
    if (n < k) {
        int8_t rest[2][TTI_M33_STEP] = {{0}};
        memcpy(rest[0], r + n, (size_t)(k - n));
        memcpy(rest[1], s + n, (size_t)(k - n));
        tti_m33_widen2(panel + n, rest[0], rest[1], TTI_M33_STEP);
    }
}

TTI_HOT void tti_m33_panel4(uint32_t *panel, const int8_t *r, size_t stride, int k) {
    int n = k & -TTI_M33_STEP;
    if (n > 0) {
        tti_m33_widen4(panel, r, stride, n);
    }
    if (n < k) {
        int8_t rest[4][TTI_M33_STEP] = {{0}};
        for (int i = 0; i < 4; i++) {
            memcpy(rest[i], r + (size_t)i * stride + n, (size_t)(k - n));
        }
        tti_m33_widen4(panel + 2 * n, rest[0], TTI_M33_STEP, TTI_M33_STEP);
    }
}

void tti_m33_widen_part(uint32_t *panel, const int8_t *r, size_t stride, int rows, int n) {
    tti_m33_widen4(panel, r, 0, n);
    for (int i = 1; i < rows; i++) {
        uint32_t *lane = panel + i;
        r += stride;
        for (int j = 0; j < n; j += 4, lane += 8) {
            uint32_t bytes;
            memcpy(&bytes, r + j, 4);
            __asm__("sxtb16 %0, %1" : "=r"(lane[0]) : "r"(bytes));
            __asm__("sxtb16 %0, %1, ror #8" : "=r"(lane[4]) : "r"(bytes));
        }
    }
}

#endif
