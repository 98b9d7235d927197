// Convolution 3x3 over int8 on Cortex-M33: contract §8, the bytes of conv3x3_s8.c.
// Any sizes and addresses as there, no over-read; 4.6 KB of stack. Patches of more than MAX_K
// bytes and scratch with no room for four rows of weights go to the reference.
//
// The caller's scratch holds int16 weights instead of patches: as many output channels as fit are
// widened once and serve all pixels of the call. Pixels are taken two at a time, their patches
// widened straight from the image.
#include "dot_m33.h"
#include "reference.h"
#include "requantize_m33.h"
#include "scalar.h"

#ifdef TTI_M33

#define MAX_K 640
#define COLS  32 // output channels at a time, at most

typedef struct {
    const tti_conv_t *c;
    const int8_t *x;
    int kpad;
    bool up, relu, blocks; // blocks: a pixel's channels fill whole steps
} patches_t;

// A pixel of an input row, by its place in the up-sampled row; zeros outside.
static inline const int8_t *pixel(const patches_t *p, const int8_t *row, int x) {
    static const int8_t zeros[MAX_K / 9] = {0};
    if (row == NULL || x < 0 || x >= p->c->width) {
        return zeros;
    }
    return row + (size_t)(p->up ? x >> 1 : x) * (size_t)p->c->cin;
}

static const int8_t *input_row(const patches_t *p, int y) {
    const tti_conv_t *c = p->c;
    if (y < 0 || y >= c->height) {
        return NULL;
    }
    int width = p->up ? c->width / 2 : c->width, row = p->up ? y >> 1 : y;
    return p->x + (size_t)(row - c->in_y0) * (size_t)width * (size_t)c->cin;
}

// Patches of pixels (y, x) and (y, x + 1) by way of int8, for any number of channels.
static void gather_bytes(uint32_t *pair, const patches_t *p, int y, int x) {
    int8_t patch[2][MAX_K];
    int cin = p->c->cin;
    for (int i = 0; i < 2; i++) {
        int8_t *to = patch[i];
        for (int tap = 0; tap < 9; tap++) {
            const int8_t *row = input_row(p, y + tap / 3 - 1);
            const int8_t *from = pixel(p, row, x + i + tap % 3 - 1);
            for (int j = 0; j < cin; j++) {
                *to++ = p->relu && from[j] < 0 ? 0 : from[j];
            }
        }
        memset(to, 0, (size_t)(p->kpad - 9 * cin));
    }
    tti_m33_widen2(pair, patch[0], patch[1], p->kpad);
}

// The same for channels that are a multiple of a step. Inside the image the three pixels of a row
// lie side by side.
TTI_HOT static void gather_blocks(uint32_t *pair, const patches_t *p, int y, int x) {
    int cin = p->c->cin;
    void (*widen)(uint32_t *, const int8_t *, const int8_t *, int) =
        p->relu ? tti_m33_widen2_relu : tti_m33_widen2;
    bool inside = !p->up && x >= 1 && x + 2 < p->c->width;
    for (int ky = -1; ky <= 1; ky++) {
        const int8_t *row = input_row(p, y + ky);
        if (inside && row != NULL) {
            const int8_t *from = pixel(p, row, x - 1);
            widen(pair, from, from + cin, 3 * cin);
            pair += 3 * cin;
            continue;
        }
        for (int kx = -1; kx <= 1; kx++, pair += cin) {
            widen(pair, pixel(p, row, x + kx), pixel(p, row, x + kx + 1), cin);
        }
    }
}

static void widen_weights(uint32_t *panel, const int8_t *w, int cols, int kpad) {
    size_t stride = (size_t)kpad;
    for (; cols > 0; cols -= 4, w += 4 * stride, panel += 2 * kpad) {
        if (cols >= 4) {
            tti_m33_widen4(panel, w, stride, kpad);
        } else {
            tti_m33_widen_part(panel, w, stride, cols, kpad);
        }
    }
}

// One pixel; the channels behind the last four are done one by one.
static void finish(int8_t *out, const int32_t *sums, const tti_m33_requantize_t *q,
                   const int8_t *res, int cols) {
    int fours = cols & -4;
    if (fours > 0) {
        tti_m33_requantize(out, sums, q, res, fours);
    }
    for (int j = fours; j < cols; j++) {
        float v = ((float)sums[j] * q->m[j]) + q->b[j];
        v = res != NULL ? v + ((float)res[j] * q->r) : v;
        v = v >= q->low ? v : q->low;
        v = v > q->high ? q->high : v;
        out[j] = (int8_t)(uint8_t)(int32_t)tti_rne_f(v);
    }
}

// Channels o ... o + cols - 1 of the pixels of the call.
TTI_HOT static void channels(int8_t *out, const int8_t *res, const patches_t *p,
                             const uint32_t *panel, const tti_m33_requantize_t *q, int o,
                             int cols) {
    uint32_t pair[MAX_K];
    int32_t sums[2][COLS];
    const tti_conv_t *c = p->c;
    size_t cout = (size_t)c->cout;
    size_t at = (size_t)(c->y0 - c->out_y0) * (size_t)c->width * cout + (size_t)o;
    for (int y = c->y0; y < c->y1; y++) {
        for (int x = 0; x < c->width; x += 2) {
            if (p->blocks) {
                gather_blocks(pair, p, y, x);
            } else {
                gather_bytes(pair, p, y, x);
            }
            tti_m33_dot(sums[0], sums[1], pair, panel, pair + p->kpad, (cols + 3) / 4, true);
            for (int i = 0; i < 2 && x + i < c->width; i++, at += cout) {
                finish(out + at, sums[i], q, res != NULL ? res + at : NULL, cols);
            }
        }
    }
}

void tti_conv3x3_s8(void *out, const int8_t *x, const int8_t *w, const float *m, const float *b,
                    const int8_t *res, const float *r, int8_t *patches, int pixels,
                    const tti_conv_t *c) {
    size_t kpad = tti_conv_kpad(c->cin), cout = (size_t)c->cout;
    size_t skip = (size_t)(-(uintptr_t)patches & 3), bytes = (size_t)pixels * kpad;
    size_t room = bytes > skip ? (bytes - skip) / (8 * kpad) * 4 : 0; // rows of weights
    if (kpad > MAX_K || room < 4) {
        tti_ref_conv3x3_s8(out, x, w, m, b, res, r, patches, pixels, c);
        return;
    }
    size_t most = room < COLS ? room : COLS;
    bool bytes_out = (c->flags & TTI_CONV_BYTES) != 0;
    patches_t p = {c,
                   x,
                   (int)kpad,
                   (c->flags & TTI_CONV_UPSAMPLE) != 0,
                   (c->flags & TTI_CONV_RELU) != 0,
                   c->cin % TTI_M33_STEP == 0};
    uint32_t *panel = (uint32_t *)(void *)(patches + skip);
    for (size_t o = 0; o < cout; o += most) {
        int cols = (int)(cout - o < most ? cout - o : most);
        tti_m33_requantize_t q = {m + o, b + o, r != NULL ? *r : 0.0f, bytes_out ? 0.0f : -127.0f,
                                  bytes_out ? 255.0f : 127.0f};
        widen_weights(panel, w + o * kpad, cols, (int)kpad);
        channels(out, res, &p, panel, &q, (int)o, cols);
    }
}

#endif
