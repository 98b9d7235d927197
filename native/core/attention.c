// Attention of one head over a slice of query rows: contract §7.
// Any tokens, heads, head_dim and slice; s8 buffers at any address; no over-read. Accumulators:
// dot products of head_dim or `tokens` terms (dot_tile.h).
#include "dot_tile.h"
#include "scalar.h"
#include "reference.h"

#define EXPS 32 // exponentials computed at a time

void TTI_REF(attention_scores)(float *s, const int8_t *q, const float *sq, const int8_t *k,
                               const float *sk, const tti_attention_t *a) {
    int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS];
    size_t stride = (size_t)a->heads * (size_t)a->head_dim;
    size_t heads = (size_t)a->heads, head = (size_t)a->head;
    q += head * (size_t)a->head_dim;
    k += head * (size_t)a->head_dim;
    for (int i0 = 0; i0 < a->rows; i0 += TTI_TILE_ROWS) {
        int rows = tti_min(a->rows - i0, TTI_TILE_ROWS);
        size_t token0 = (size_t)a->row0 + (size_t)i0;
        for (int j0 = 0; j0 < a->tokens; j0 += TTI_TILE_COLS) {
            int cols = tti_min(a->tokens - j0, TTI_TILE_COLS);
            tti_dot_tile(acc, q + token0 * stride, stride, rows, k + (size_t)j0 * stride, stride,
                         cols, a->head_dim);
            for (int i = 0; i < rows; i++) {
                float scale = sq[(token0 + (size_t)i) * heads + head];
                float *row = s + (size_t)(i0 + i) * (size_t)a->tokens + j0;
                for (int j = 0; j < cols; j++) {
                    row[j] = ((float)acc[i][j] * scale) * sk[(size_t)(j0 + j) * heads + head];
                }
            }
        }
    }
}

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

void TTI_REF(attention_values)(float *out, const int8_t *p, const float *inv, const int8_t *vt,
                               const float *sv, const tti_attention_t *a) {
    int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS];
    size_t tokens = (size_t)a->tokens;
    size_t stride = (size_t)a->heads * (size_t)a->head_dim;
    size_t channel0 = (size_t)a->head * (size_t)a->head_dim;
    vt += channel0 * tokens;
    sv += channel0;
    out += (size_t)a->row0 * stride + channel0;
    for (int i0 = 0; i0 < a->rows; i0 += TTI_TILE_ROWS) {
        int rows = tti_min(a->rows - i0, TTI_TILE_ROWS);
        for (int c0 = 0; c0 < a->head_dim; c0 += TTI_TILE_COLS) {
            int cols = tti_min(a->head_dim - c0, TTI_TILE_COLS);
            tti_dot_tile(acc, p + (size_t)i0 * tokens, tokens, rows, vt + (size_t)c0 * tokens,
                         tokens, cols, a->tokens);
            for (int i = 0; i < rows; i++) {
                float *row = out + (size_t)(i0 + i) * stride + c0;
                for (int c = 0; c < cols; c++) {
                    row[c] = ((float)acc[i][c] * inv[i0 + i]) * sv[c0 + c];
                }
            }
        }
    }
}
