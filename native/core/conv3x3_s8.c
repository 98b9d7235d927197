// Convolution 3x3 over int8 with zero padding, nearest up-sampling in its indexing and ReLU on
// copy: contract §8.
//
// Patches of `pixels` output pixels are gathered (im2col), then multiplied like a matrix, so the
// up-sampled image never exists. Any sizes, s8 buffers at any address, no over-read; accumulators:
// dot products of kpad terms (dot_tile.h), kpad <= 65536. `res` may be `out`: an element is read
// just before it is written, and patches only read x.
#include "conv3x3_s8.h"
#include "dot_tile.h"
#include "reference.h"
#include "scalar.h"

size_t tti_conv_kpad(int cin) {
    return ((size_t)cin * 9 + 15) & ~(size_t)15;
}

static int input_row(const tti_conv_t *c, int y) {
    return (c->flags & TTI_CONV_UPSAMPLE) != 0 ? y >> 1 : y;
}

void tti_conv_input_rows(const tti_conv_t *c, int *first, int *last) {
    *first = input_row(c, c->y0 > 0 ? c->y0 - 1 : 0);
    *last = input_row(c, c->y1 < c->height ? c->y1 : c->height - 1);
}

static void copy(int8_t *to, const int8_t *from, int n, bool relu) {
    if (!relu) {
        memcpy(to, from, (size_t)n);
        return;
    }
    for (int i = 0; i < n; i++) {
        to[i] = from[i] > 0 ? from[i] : 0;
    }
}

// One of the three rows of the patch of (y, x): [kx][cin]. `row` is the input row or NULL outside
// the image. Without up-sampling the three pixels lie side by side.
static void patch_row(int8_t *to, const int8_t *row, int x, const tti_conv_t *c) {
    bool up = (c->flags & TTI_CONV_UPSAMPLE) != 0, relu = (c->flags & TTI_CONV_RELU) != 0;
    int cin = c->cin;
    if (row == NULL) {
        memset(to, 0, (size_t)cin * 3);
    } else if (!up && x > 0 && x + 1 < c->width) {
        copy(to, row + (size_t)(x - 1) * (size_t)cin, 3 * cin, relu);
    } else {
        for (int kx = x - 1; kx <= x + 1; kx++, to += cin) {
            if (kx < 0 || kx >= c->width) {
                memset(to, 0, (size_t)cin);
            } else {
                copy(to, row + (size_t)(up ? kx >> 1 : kx) * (size_t)cin, cin, relu);
            }
        }
    }
}

void tti_conv_gather(int8_t *patches, const int8_t *x, int y, int x0, int n, const tti_conv_t *c) {
    size_t kpad = tti_conv_kpad(c->cin), used = (size_t)c->cin * 9;
    int in_width = (c->flags & TTI_CONV_UPSAMPLE) != 0 ? c->width / 2 : c->width;
    size_t in_stride = (size_t)in_width * (size_t)c->cin;
    const int8_t *rows[3];
    for (int ky = 0; ky < 3; ky++) {
        int v = y + ky - 1;
        bool inside = v >= 0 && v < c->height;
        rows[ky] = inside ? x + (size_t)(input_row(c, v) - c->in_y0) * in_stride : NULL;
    }
    for (int i = 0; i < n; i++, patches += kpad) {
        for (int ky = 0; ky < 3; ky++) {
            patch_row(patches + ky * 3 * c->cin, rows[ky], x0 + i, c);
        }
        memset(patches + used, 0, kpad - used);
    }
}

typedef struct {
    const float *m, *b, *r;
    int cols;
    bool bytes;
} requantize_t;

// out[j] from acc[j] for the channels of one tile; res is NULL or the residual beside out.
static void requantize(int8_t *out, const int32_t *acc, const int8_t *res, const requantize_t *q) {
    for (int j = 0; j < q->cols; j++) {
        float v = ((float)acc[j] * q->m[j]) + q->b[j];
        if (res != NULL) {
            v = v + ((float)res[j] * *q->r);
        }
        out[j] = q->bytes ? (int8_t)(uint8_t)(int32_t)tti_rne_f(tti_clampu8(v)) : tti_quantize(v);
    }
}

void TTI_REF(conv3x3_s8)(void *out, const int8_t *x, const int8_t *w, const float *m,
                         const float *b, const int8_t *res, const float *r, int8_t *patches,
                         int pixels, const tti_conv_t *c) {
    int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS];
    size_t kpad = tti_conv_kpad(c->cin), cout = (size_t)c->cout;
    for (int y = c->y0; y < c->y1; y++) {
        for (int x0 = 0; x0 < c->width; x0 += pixels) {
            int n = tti_min(c->width - x0, pixels);
            size_t pixel0 = (size_t)(y - c->out_y0) * (size_t)c->width + (size_t)x0;
            tti_conv_gather(patches, x, y, x0, n, c);
            for (int i0 = 0; i0 < n; i0 += TTI_TILE_ROWS) {
                int rows = tti_min(n - i0, TTI_TILE_ROWS);
                for (int o = 0; o < c->cout; o += TTI_TILE_COLS) {
                    int cols = tti_min(c->cout - o, TTI_TILE_COLS);
                    requantize_t q = {m + o, b + o, r, cols, (c->flags & TTI_CONV_BYTES) != 0};
                    tti_dot_tile(acc, patches + (size_t)i0 * kpad, kpad, rows,
                                 w + (size_t)o * kpad, kpad, cols, (int)kpad);
                    for (int i = 0; i < rows; i++) {
                        size_t at = (pixel0 + (size_t)(i0 + i)) * cout + (size_t)o;
                        requantize((int8_t *)out + at, acc[i], res != NULL ? res + at : NULL, &q);
                    }
                }
            }
        }
    }
}
