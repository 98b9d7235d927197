// Products of int8 rows with scales on the ESP32-S3: contract §5, §7.
//
// Four rows of w are multiplied by up to 64 rows of x (sums_pie.S), then scaled (scale_pie.S).
// Each row of w is read once for 64 rows of x, from flash too. Rows of x and w begin at multiples
// of 16 and have a multiple of 16 terms, others go to the reference; results at any address. 2.4
// KB of stack.
#include "product.h"
#include "scale_pie.h"

#ifdef TTI_PIE

static inline int min(int a, int b) {
    return a < b ? a : b;
}

static inline bool multiple_of_16(const void *p, size_t stride) {
    return (((uintptr_t)p | stride) & 15) == 0;
}

static bool takes(const tti_product_t *p) {
    return p->k % 16 == 0 && multiple_of_16(p->x, p->t > 1 ? p->x_stride : 0) &&
           multiple_of_16(p->w, p->o > 1 ? p->w_stride : 0);
}

// Fewer than four columns, or results that are not aligned.
static void scale_each(float *out, const float *sums, const tti_pie_scale_t *s, int cols,
                       const tti_product_t *p) {
    const float *sx = s->sx;
    for (int t = 0; t < s->rows; t++, sums += TTI_COLUMNS, sx += p->sx_stride) {
        tti_finish_columns(out, sums, *sx, &s->columns, cols, p->gate != NULL);
        out += p->out_stride;
    }
}

static void columns(tti_pie_work_t *work, tti_pie_scale_t *s, tti_pie_shape_t *shape,
                    const tti_product_t *p, int row, int o) {
    int cols = min(TTI_COLUMNS, p->o - o);
    const int8_t *x = p->x + (size_t)row * p->x_stride;
    const int8_t *w = p->w + (size_t)o * p->w_stride;
    shape->cols = cols;
    tti_pie_sums(work->sums, x, w, shape);
    tti_take_columns(&s->columns, p, o, cols);
    float *out = p->out + (size_t)row * p->out_stride + o;
    const float *sums = work->sums + TTI_COLUMNS;
    if (cols < TTI_COLUMNS || !multiple_of_16(out, p->out_stride * sizeof(float))) {
        scale_each(out, sums, s, cols, p);
    } else if (p->gate != NULL) {
        tti_pie_scale_add(out, sums, s);
    } else {
        tti_pie_scale(out, sums, s);
    }
}

TTI_APART static void by_columns(const tti_product_t *p) {
    tti_pie_work_t work;
    tti_pie_scale_t scale = {.sx_stride = (int32_t)(p->sx_stride * sizeof(float)),
                             .out_stride = (int32_t)(p->out_stride * sizeof(float)),
                             .any_bias = p->bias != NULL};
    tti_pie_zero(work.zeros, sizeof(work.zeros) / 16);
    for (int row = 0; row < p->t; row += TTI_PIE_ROWS) {
        int rows = min(TTI_PIE_ROWS, p->t - row);
        tti_pie_shape_t shape = {.rows = rows,
                                 .stride = (int)p->x_stride,
                                 .runs = 1,
                                 .run = p->k,
                                 .zeros = work.zeros,
                                 .partial = work.partial,
                                 .w_step = (int)p->w_stride - p->k};
        scale.sx = p->sx + (size_t)row * p->sx_stride;
        scale.rows = rows;
        for (int o = 0; o < p->o; o += TTI_COLUMNS) {
            columns(&work, &scale, &shape, p, row, o);
        }
    }
}

void tti_product(const tti_product_t *p) {
    if (takes(p)) {
        by_columns(p);
    } else {
        tti_product_ref(p);
    }
}

#endif
