// Ops of the decoder: its input and the convolution.
#include "args.h"
#include "ops.h"

static mp_obj_t op_quantize_latent(size_t n_args, const mp_obj_t *args) {
    enum {
        Q,
        X,
        M,
        B,
        HEIGHT,
        WIDTH
    };
    static const char name[] = "quantize_latent";
    static const tti_arg_t table[] = {
        WRITES("q", S8, HEIGHT, WIDTH, TTI_TIMES(4)),
        READS("x", F32, HEIGHT, WIDTH, TTI_TIMES(4)),
        READS("m", F32, TTI_TIMES(4)),
        READS("b", F32, TTI_TIMES(4)),
        SIZE("height"),
        SIZE("width"),
    };
    tti_value_t v[6];
    (void)n_args;
    TTI_CHECK_INTEGERS(name, table, args, v);
    tti_check_multiple(name, "height", v[HEIGHT].i, 2);
    tti_check_multiple(name, "width", v[WIDTH].i, 2);
    TTI_CHECK_BUFFERS(name, table, args, v);
    tti_quantize_latent(v[Q].p, v[X].p, v[M].p, v[B].p, v[HEIGHT].i, v[WIDTH].i);
    return mp_const_none;
}
TTI_DEFINE_OP(quantize_latent, 6);

// The largest number of channels whose rows of weights have at most TTI_MAX_K values.
#define MAX_CIN 7280

static const char conv_name[] = "conv3x3_s8";

static void check_conv_image(const tti_conv_t *c) {
    if ((c->flags & TTI_CONV_UPSAMPLE) != 0) {
        tti_check_multiple(conv_name, "height", c->height, 2);
        tti_check_multiple(conv_name, "width", c->width, 2);
    }
    tti_check_range(conv_name, "y0", c->y0, 0, c->height - 1);
    tti_check_range(conv_name, "y1", c->y1, c->y0 + 1, c->height);
    tti_check_range(conv_name, "in_y0", c->in_y0, 0, c->height - 1);
    tti_check_range(conv_name, "out_y0", c->out_y0, 0, c->y0);
}

// Input rows that are inside the image but not in x must not be taken for the zero border.
static void check_conv_window(const tti_conv_t *c, size_t x_bytes) {
    int first, last;
    tti_conv_input_rows(c, &first, &last);
    int in_width = (c->flags & TTI_CONV_UPSAMPLE) != 0 ? c->width / 2 : c->width;
    uint64_t rows = x_bytes / ((uint64_t)in_width * (uint64_t)c->cin);
    if (first < c->in_y0 || (uint64_t)(last - c->in_y0) >= rows) {
        mp_raise_msg_varg(
            &mp_type_ValueError,
            MP_ERROR_TEXT("%s: input rows %d to %d are needed, x begins with row %d and holds %u"),
            conv_name, first, last, c->in_y0, (unsigned)rows);
    }
}

static mp_obj_t op_conv3x3_s8(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        X,
        W,
        M,
        B,
        RES,
        R,
        PATCHES,
        HEIGHT,
        WIDTH,
        CIN,
        COUT
    };
    enum {
        FLAGS = COUT + 1,
        Y0,
        Y1,
        IN_Y0,
        OUT_Y0
    };
    // The sizes of out, x, w, res, r and patches are checked below.
    static const tti_arg_t table[] = {
        WRITES("out", S8, 0),   READS("x", S8, 0),          READS("w", S8, 0),
        READS("m", F32, COUT),  READS("b", F32, COUT),      OPTIONAL("res", S8, 0),
        OPTIONAL("r", F32, 0),  WRITES("patches", S8, 0),   SIZE("height"),
        SIZE("width"),          INTEGER("cin", 1, MAX_CIN), SIZE("cout"),
        INTEGER("flags", 0, 7), ANY_INTEGER("y0"),          ANY_INTEGER("y1"),
        ANY_INTEGER("in_y0"),   ANY_INTEGER("out_y0"),
    };
    tti_value_t v[17];
    (void)n_args;
    TTI_CHECK_INTEGERS(conv_name, table, args, v);
    tti_conv_t c = {v[HEIGHT].i, v[WIDTH].i, v[CIN].i,   v[COUT].i,  v[FLAGS].i,
                    v[Y0].i,     v[Y1].i,    v[IN_Y0].i, v[OUT_Y0].i};
    check_conv_image(&c);
    TTI_CHECK_BUFFERS(conv_name, table, args, v);
    check_conv_window(&c, v[X].bytes);
    size_t kpad = tti_conv_kpad(c.cin);
    uint64_t out_bytes = (uint64_t)(c.y1 - c.out_y0) * (uint64_t)c.width * (uint64_t)c.cout;
    tti_check_bytes(conv_name, "out", out_bytes, v[OUT].bytes);
    tti_check_bytes(conv_name, "w", (uint64_t)c.cout * kpad, v[W].bytes);
    tti_check_bytes(conv_name, "patches", kpad, v[PATCHES].bytes);
    if (args[RES] != mp_const_none) {
        tti_check_bytes(conv_name, "res", out_bytes, v[RES].bytes);
        tti_check_bytes(conv_name, "r", sizeof(float), v[R].bytes);
    }
    size_t pixels = v[PATCHES].bytes / kpad;
    pixels = pixels < TTI_CONV_PIXELS ? pixels : TTI_CONV_PIXELS;
    tti_split_conv3x3_s8(v[OUT].p, v[X].p, v[W].p, v[M].p, v[B].p, v[RES].p, v[R].p, v[PATCHES].p,
                         (int)pixels, &c);
    return mp_const_none;
}
TTI_DEFINE_OP(conv3x3_s8, 17);
