// Which rows, or columns, of an op each core computes (split.h).
#include "split.h"
#include "parallel.h"
#include "product.h"

// Multiplications, or the like, below which waking the other core costs more than it saves.
#ifndef TTI_SPLIT_WORTH
#define TTI_SPLIT_WORTH 8192
#endif

// Whether the cores share the columns of a matrix product instead of its rows, so that each row of
// weights is read by one of them.
#ifndef TTI_SPLIT_COLUMNS
#ifdef TTI_PIE
#define TTI_SPLIT_COLUMNS 1
#else
#define TTI_SPLIT_COLUMNS 0
#endif
#endif

#define TTI_PRODUCT(p) (tti_portable ? tti_product_ref(p) : tti_product(p))

#define OWN_COLS 256 // of a scratch row on the stack of the second core

bool tti_portable = false;

// Rows, or columns, of one core, and which core it is: 0, which has the caller's scratch, or 1.
typedef struct {
    int part;
    size_t first;
    int count;
} rows_t;

typedef void (*rows_work_t)(const void *op, const rows_t *rows);

typedef struct {
    rows_work_t work;
    const void *op;
    rows_t rows[2];
} job_t;

static void do_part(const void *job, int part) {
    const job_t *j = job;
    j->work(j->op, &j->rows[part]);
}

// Core 0 takes rows 0 ... first - 1. cost: multiplications of a row.
static void split(rows_work_t work, const void *op, int rows, int first, uint64_t cost) {
    if (first > 0 && first < rows && cost * (uint64_t)rows >= TTI_SPLIT_WORTH) {
        job_t job = {work, op, {{0, 0, first}, {1, (size_t)first, rows - first}}};
        if (tti_parallel_run(do_part, &job)) {
            return;
        }
    }
    rows_t all = {0, 0, rows};
    work(op, &all);
}

static inline int half(int rows) {
    return (rows + 1) / 2;
}

// Products take rows two at a time.
static inline int half_in_pairs(int rows) {
    return (rows / 2 + 1) & ~1;
}

static inline uint64_t product(int a, int b) {
    return (uint64_t)a * (uint64_t)b;
}

// All of a product's rows, and some of its columns.
static void some_columns(const void *op, const rows_t *r) {
    tti_product_t p = *(const tti_product_t *)op;
    p.out += r->first;
    p.w += r->first * p.w_stride;
    p.sw += r->first * p.sw_stride;
    p.bias = p.bias != NULL ? p.bias + r->first : NULL;
    p.gate = p.gate != NULL ? p.gate + r->first : NULL;
    p.o = r->count;
    TTI_PRODUCT(&p);
}

static void some_rows(const void *op, const rows_t *r) {
    tti_product_t p = *(const tti_product_t *)op;
    p.out += r->first * p.out_stride;
    p.x += r->first * p.x_stride;
    p.sx += r->first * p.sx_stride;
    p.t = r->count;
    TTI_PRODUCT(&p);
}

static void split_gemm(const tti_product_t *p) {
    if (TTI_SPLIT_COLUMNS) {
        split(some_columns, p, p->o, (p->o / 2 + 3) & ~3, product(p->t, p->k));
    } else {
        split(some_rows, p, p->t, half_in_pairs(p->t), product(p->o, p->k));
    }
}

void tti_split_gemm_s8(float *out, const int8_t *x, const float *sx, const int8_t *w,
                       const float *sw, const float *bias, int t, int o, int k) {
    tti_product_t p = tti_gemm_product(out, NULL, x, sx, w, sw, bias, t, o, k);
    split_gemm(&p);
}

void tti_split_gemm_s8_add(float *res, const float *gate, const int8_t *x, const float *sx,
                           const int8_t *w, const float *sw, const float *bias, int t, int o,
                           int k) {
    tti_product_t p = tti_gemm_product(res, gate, x, sx, w, sw, bias, t, o, k);
    split_gemm(&p);
}

// The rows of scores, weights and inverses begin with the call's first query row.
static tti_attention_t attention_rows(const tti_attention_t *a, const rows_t *r) {
    tti_attention_t part = *a;
    part.row0 += (int)r->first;
    part.rows = r->count;
    return part;
}

typedef struct {
    float *s;
    const int8_t *q;
    const float *sq;
    const int8_t *k;
    const float *sk;
    const tti_attention_t *a;
} scores_t;

static void scores_rows(const void *op, const rows_t *r) {
    const scores_t *s = op;
    tti_attention_t a = attention_rows(s->a, r);
    TTI_KERNEL(attention_scores)
    (s->s + r->first * (size_t)a.tokens, s->q, s->sq, s->k, s->sk, &a);
}

void tti_split_attention_scores(float *s, const int8_t *q, const float *sq, const int8_t *k,
                                const float *sk, const tti_attention_t *a) {
    scores_t op = {s, q, sq, k, sk, a};
    split(scores_rows, &op, a->rows, half_in_pairs(a->rows), product(a->tokens, a->head_dim));
}

typedef struct {
    float *out;
    const int8_t *p;
    const float *inv;
    const int8_t *vt;
    const float *sv;
    const tti_attention_t *a;
} values_t;

static void values_rows(const void *op, const rows_t *r) {
    const values_t *v = op;
    tti_attention_t a = attention_rows(v->a, r);
    TTI_KERNEL(attention_values)
    (v->out, v->p + r->first * (size_t)a.tokens, v->inv + r->first, v->vt, v->sv, &a);
}

void tti_split_attention_values(float *out, const int8_t *p, const float *inv, const int8_t *vt,
                                const float *sv, const tti_attention_t *a) {
    values_t op = {out, p, inv, vt, sv, a};
    split(values_rows, &op, a->rows, half_in_pairs(a->rows), product(a->tokens, a->head_dim));
}

typedef struct {
    int8_t *p;
    float *inv;
    const float *s;
    int cols, valid;
} softmax_t;

static void softmax_rows(const void *op, const rows_t *r) {
    const softmax_t *s = op;
    size_t at = r->first * (size_t)s->cols;
    TTI_KERNEL(softmax_s8)(s->p + at, s->inv + r->first, s->s + at, r->count, s->cols, s->valid);
}

void tti_split_softmax_s8(int8_t *p, float *inv, const float *s, int rows, int cols, int valid) {
    softmax_t op = {p, inv, s, cols, valid};
    split(softmax_rows, &op, rows, half(rows), product(valid, 32));
}

typedef struct {
    uint8_t *out;
    const int8_t *x, *w;
    const float *m, *b;
    const int8_t *res;
    const float *r;
    int8_t *patches;
    int pixels;
    const tti_conv_t *c;
} conv_t;

static void conv_rows(const void *op, const rows_t *r) {
    const conv_t *v = op;
    tti_conv_t c = *v->c;
    c.y0 += (int)r->first;
    bool all = c.y0 + r->count == c.y1 && r->part == 0;
    c.y1 = c.y0 + r->count;
    int pixels = all ? v->pixels : v->pixels / 2;
    int8_t *patches = v->patches + (size_t)(r->part * pixels) * tti_conv_kpad(c.cin);
    TTI_KERNEL(conv3x3_s8)
    (v->out, v->x, v->w, v->m, v->b, v->res, v->r, patches, pixels, &c);
}

// Each core needs room for a pixel at least.
void tti_split_conv3x3_s8(void *out, const int8_t *x, const int8_t *w, const float *m,
                          const float *b, const int8_t *res, const float *r, int8_t *patches,
                          int pixels, const tti_conv_t *c) {
    conv_t op = {out, x, w, m, b, res, r, patches, pixels, c};
    int rows = c->y1 - c->y0;
    uint64_t cost = product(c->width, 9 * c->cin) * (uint64_t)c->cout;
    split(conv_rows, &op, rows, pixels > 1 ? half(rows) : rows, cost);
}

typedef struct {
    int8_t *q;
    float *scale;
    const float *x;
    int cols;
} quantize_t;

static void quantize_some(const void *op, const rows_t *r) {
    const quantize_t *q = op;
    size_t at = r->first * (size_t)q->cols;
    TTI_KERNEL(quantize_rows)(q->q + at, q->scale + r->first, q->x + at, r->count, q->cols);
}

void tti_split_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols) {
    quantize_t op = {q, scale, x, cols};
    split(quantize_some, &op, rows, half(rows), product(cols, 8));
}

typedef struct {
    int8_t *q;
    float *sq;
    const float *x, *shift, *scale;
    float *scratch;
    int cols;
} layernorm_t;

static void layernorm_rows(const void *op, const rows_t *r) {
    const layernorm_t *n = op;
    float own[OWN_COLS] __attribute__((aligned(16))); // as vector kernels want it
    size_t at = r->first * (size_t)n->cols;
    TTI_KERNEL(layernorm_modulate_s8)
    (n->q + at, n->sq + r->first, n->x + at, n->shift, n->scale, r->part == 0 ? n->scratch : own,
     r->count, n->cols);
}

void tti_split_layernorm_modulate_s8(int8_t *q, float *sq, const float *x, const float *shift,
                                     const float *scale, float *scratch, int rows, int cols) {
    layernorm_t op = {q, sq, x, shift, scale, scratch, cols};
    int first = cols <= OWN_COLS ? half(rows) : rows;
    split(layernorm_rows, &op, rows, first, product(cols, 16));
}

typedef struct {
    float *out;
    const float *x, *table;
} gelu_t;

static void gelu_some(const void *op, const rows_t *r) {
    const gelu_t *g = op;
    TTI_KERNEL(gelu)(g->out + r->first, g->x + r->first, g->table, (size_t)r->count);
}

// A vector is a column of rows of one value. n is at most 2^24.
void tti_split_gelu(float *out, const float *x, const float *table, size_t n) {
    gelu_t op = {out, x, table};
    split(gelu_some, &op, (int)n, half((int)n + 3) & ~3, 12);
}
