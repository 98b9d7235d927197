// Convolution 3x3 on the ESP32-S3: contract §8, the bytes of conv3x3_s8.c.
//
// Where the channels of a pixel are a multiple of 16 there are no patches. Scratch holds rows of
// pixels as the weights see them: with zeros around the image, ReLU applied, up-sampled. In such a
// row the three pixels that a row of weights needs lie side by side, and those of the next output
// pixel begin one pixel later; so the product takes its rows of activations straight from there
// (sums_pie.S), each output row from three of them. As many output rows as scratch has room for
// are computed at a time, so weights are read that much less often.
//
// For other channels patches are gathered first. Any sizes; scratch or weights that are not
// aligned go to the reference. 2.4 KB of stack.
#include "conv3x3_s8.h"
#include "reference.h"
#include "requantize_pie.h"
#include "scalar.h"

#ifdef TTI_PIE

static inline int min(int a, int b) {
    return a < b ? a : b;
}

static inline int max(int a, int b) {
    return a > b ? a : b;
}

static inline bool aligned(const void *p) {
    return ((uintptr_t)p & 15) == 0;
}

typedef struct {
    const tti_conv_t *c;
    int8_t *out;
    const int8_t *x, *w;
    const float *m, *b;
    const int8_t *res;
    const float *r;
    int kpad;
    tti_pie_shape_t shape; // of the rows of activations that are multiplied
    tti_pie_work_t *work;
} conv_t;

// Channels o ... o + 3, or fewer, of the pixels of v->shape, the first of which is at `at`.
static void finish(const conv_t *v, tti_pie_requantize_t *q, size_t at, int cols) {
    const float *sums = v->work->sums + TTI_COLUMNS;
    int8_t *out = v->out + at;
    q->res = v->res != NULL ? v->res + at : NULL;
    q->rows = v->shape.rows;
    if (cols == TTI_COLUMNS) {
        tti_pie_requantize(out, sums, q);
        return;
    }
    int t = 0, rows = v->shape.rows;
    if (cols == v->c->cout && v->res == NULL) {
        // Four bytes of each pixel as long as they stay inside: what is written behind its
        // channels the next pixels write again.
        t = q->rows = max(0, rows - (TTI_COLUMNS - 1) / cols);
        tti_pie_requantize(out, sums, q);
        out += t * q->stride;
        sums += t * TTI_COLUMNS;
    }
    for (; t < rows; t++, out += q->stride, sums += TTI_COLUMNS) {
        for (int i = 0; i < cols; i++) {
            float value = (sums[i] * q->m[i]) + q->b[i];
            if (v->res != NULL) {
                value = value + ((float)q->res[t * q->stride + i] * q->r);
            }
            value = value >= (float)q->low ? value : (float)q->low;
            value = value > (float)q->high ? (float)q->high : value;
            out[i] = (int8_t)(uint8_t)(int32_t)tti_rne_f(value);
        }
    }
}

// All channels of `lines` runs of v->shape.rows output pixels, `apart` bytes from one run's
// activations to the next and a row of the image from one run's results to the next.
static void multiply(conv_t *v, const int8_t *rows, int lines, int apart, size_t at) {
    const tti_conv_t *c = v->c;
    bool bytes = (c->flags & TTI_CONV_BYTES) != 0;
    tti_pie_requantize_t q = {.r = v->r != NULL ? *v->r : 0.0f,
                              .low = bytes ? 0 : -127,
                              .high = bytes ? 255 : 127,
                              .stride = c->cout};
    for (int o = 0; o < c->cout; o += TTI_COLUMNS) {
        int cols = min(TTI_COLUMNS, c->cout - o);
        for (int i = 0; i < cols; i++) {
            q.m[i] = v->m[o + i];
            q.b[i] = v->b[o + i];
        }
        const int8_t *w = v->w + (size_t)o * (size_t)v->kpad;
        v->shape.cols = cols;
        for (int line = 0; line < lines; line++) {
            tti_pie_sums(v->work->sums, rows + line * apart, w, &v->shape);
            size_t pixels = (size_t)line * (size_t)c->width;
            finish(v, &q, at + pixels * (size_t)c->cout + (size_t)o, cols);
        }
    }
}

static inline size_t place(const conv_t *v, int y, int x) {
    const tti_conv_t *c = v->c;
    return ((size_t)(y - c->out_y0) * (size_t)c->width + (size_t)x) * (size_t)c->cout;
}

// Pixels x0 - 1 ... x0 + n of row y of the (up-sampled) input, zeros outside.
static void fill(const conv_t *v, int8_t *to, int y, int x0, int n) {
    const tti_conv_t *c = v->c;
    bool up = (c->flags & TTI_CONV_UPSAMPLE) != 0;
    int cin = c->cin, floor = (c->flags & TTI_CONV_RELU) != 0 ? 0 : -128;
    if (y < 0 || y >= c->height) {
        tti_pie_zero(to, (n + 2) * cin / 16);
        return;
    }
    int row = (up ? y >> 1 : y) - c->in_y0, width = up ? c->width / 2 : c->width;
    const int8_t *from = v->x + (size_t)row * (size_t)width * (size_t)cin;
    int first = x0 - 1, end = x0 + n + 1;
    if (first < 0) {
        tti_pie_zero(to, cin / 16);
        to += cin;
        first = 0;
    }
    if (end > c->width) {
        end = c->width;
        tti_pie_zero(to + (end - first) * cin, cin / 16);
    }
    if (!up) {
        tti_pie_copy(to, from + first * cin, (end - first) * cin / 16, floor);
        return;
    }
    if ((first & 1) != 0) {
        tti_pie_copy(to, from + (first >> 1) * cin, cin / 16, floor);
        to += cin;
        first++;
    }
    if (end - first >= 2) {
        tti_pie_double(to, from + (first >> 1) * cin, cin / 16, floor, (end - first) / 2);
    }
    if (((end - first) & 1) != 0) {
        tti_pie_copy(to + (end - first - 1) * cin, from + (end >> 1) * cin, cin / 16, floor);
    }
}

// n: pixels of a row at a time. scratch has room for `room` bytes, three rows at least.
static void by_rows(conv_t *v, int8_t *scratch, int room, int n) {
    const tti_conv_t *c = v->c;
    for (int x0 = 0; x0 < c->width; x0 += n) {
        int some = min(n, c->width - x0), apart = (some + 2) * c->cin;
        int most = room / apart - 2;
        v->shape.rows = some;
        v->shape.stride = c->cin;
        v->shape.runs = 3;
        v->shape.run = 3 * c->cin;
        v->shape.step = apart - 3 * c->cin;
        for (int y = c->y0; y < c->y1; y += most) {
            int lines = min(most, c->y1 - y);
            for (int i = 0; i < lines + 2; i++) {
                fill(v, scratch + i * apart, y + i - 1, x0, some);
            }
            multiply(v, scratch, lines, apart, place(v, y, x0));
        }
    }
}

// n: patches at a time, some of a row or those of whole rows.
static void by_patches(conv_t *v, int8_t *patches, int n) {
    const tti_conv_t *c = v->c;
    int most = max(1, n / c->width);
    v->shape.stride = v->kpad;
    v->shape.runs = 1;
    v->shape.run = v->kpad;
    for (int y = c->y0; y < c->y1; y += most) {
        int lines = min(most, c->y1 - y);
        for (int x0 = 0; x0 < c->width; x0 += n) {
            int some = min(n, c->width - x0);
            for (int i = 0; i < lines; i++) {
                tti_conv_gather(patches + i * some * v->kpad, v->x, y + i, x0, some, c);
            }
            v->shape.rows = lines * some;
            multiply(v, patches, 1, 0, place(v, y, x0));
        }
    }
}

TTI_APART static void fast(conv_t *v, int8_t *scratch, int room) {
    tti_pie_work_t work;
    const tti_conv_t *c = v->c;
    int n = min(min(room / (3 * c->cin) - 2, TTI_PIE_ROWS), c->width);
    tti_pie_zero(work.zeros, sizeof(work.zeros) / 16);
    v->work = &work;
    v->shape.zeros = work.zeros;
    v->shape.partial = work.partial;
    if (c->cin % 16 == 0 && aligned(v->x) && n > 0) {
        int parts = (c->width + n - 1) / n; // of about the same size
        by_rows(v, scratch, room, (c->width + parts - 1) / parts);
    } else {
        by_patches(v, scratch, min(room / v->kpad, TTI_PIE_ROWS));
    }
}

void tti_conv3x3_s8(void *out, const int8_t *x, const int8_t *w, const float *m, const float *b,
                    const int8_t *res, const float *r, int8_t *patches, int pixels,
                    const tti_conv_t *c) {
    int kpad = (int)tti_conv_kpad(c->cin), skip = (int)(-(uintptr_t)patches & 15);
    int room = min(pixels, TTI_CONV_PIXELS) * kpad - skip;
    if (room < kpad || !aligned(w)) {
        tti_ref_conv3x3_s8(out, x, w, m, b, res, r, patches, pixels, c);
        return;
    }
    conv_t v = {.c = c, .out = out, .x = x, .w = w, .m = m, .b = b, .res = res, .r = r};
    v.kpad = kpad;
    fast(&v, patches + skip, room);
}

#endif
