// Ops of the transformer: quantisation, matrix product, LayerNorm, attention.
#include "args.h"
#include "ops.h"

static mp_obj_t op_quantize_rows(size_t n_args, const mp_obj_t *args) {
    enum {
        Q,
        SCALE,
        X,
        ROWS,
        COLS
    };
    static const tti_arg_t table[] = {WRITES("q", S8, ROWS, COLS), WRITES("scale", F32, ROWS),
                                      READS("x", F32, ROWS, COLS), SIZE("rows"), SIZE("cols")};
    tti_value_t v[5];
    (void)n_args;
    TTI_CHECK("quantize_rows", table, args, v);
    tti_split_quantize_rows(v[Q].p, v[SCALE].p, v[X].p, v[ROWS].i, v[COLS].i);
    return mp_const_none;
}
TTI_DEFINE_OP(quantize_rows, 5);

static mp_obj_t op_quantize_cols_t(size_t n_args, const mp_obj_t *args) {
    enum {
        Q,
        SCALE,
        X,
        ROWS,
        COLS
    };
    static const tti_arg_t table[] = {WRITES("q", S8, COLS, ROWS), WRITES("scale", F32, COLS),
                                      READS("x", F32, ROWS, COLS), SIZE("rows"), SIZE("cols")};
    tti_value_t v[5];
    (void)n_args;
    TTI_CHECK("quantize_cols_t", table, args, v);
    TTI_KERNEL(quantize_cols_t)(v[Q].p, v[SCALE].p, v[X].p, v[ROWS].i, v[COLS].i);
    return mp_const_none;
}
TTI_DEFINE_OP(quantize_cols_t, 5);

static mp_obj_t op_gemm_s8(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        X,
        SX,
        W,
        SW,
        BIAS,
        T,
        O,
        K
    };
    static const tti_arg_t table[] = {
        WRITES("out", F32, T, O),
        READS("x", S8, T, K),
        READS("sx", F32, T),
        READS("w", S8, O, K),
        READS("sw", F32, O),
        OPTIONAL("bias", F32, O),
        SIZE("t"),
        SIZE("o"),
        SIZE("k"),
    };
    tti_value_t v[9];
    (void)n_args;
    TTI_CHECK("gemm_s8", table, args, v);
    tti_split_gemm_s8(v[OUT].p, v[X].p, v[SX].p, v[W].p, v[SW].p, v[BIAS].p, v[T].i, v[O].i,
                      v[K].i);
    return mp_const_none;
}
TTI_DEFINE_OP(gemm_s8, 9);

static mp_obj_t op_gemm_s8_add(size_t n_args, const mp_obj_t *args) {
    enum {
        RES,
        GATE,
        X,
        SX,
        W,
        SW,
        BIAS,
        T,
        O,
        K
    };
    static const tti_arg_t table[] = {
        WRITES("res", F32, T, O),
        READS("gate", F32, O),
        READS("x", S8, T, K),
        READS("sx", F32, T),
        READS("w", S8, O, K),
        READS("sw", F32, O),
        OPTIONAL("bias", F32, O),
        SIZE("t"),
        SIZE("o"),
        SIZE("k"),
    };
    tti_value_t v[10];
    (void)n_args;
    TTI_CHECK("gemm_s8_add", table, args, v);
    tti_split_gemm_s8_add(v[RES].p, v[GATE].p, v[X].p, v[SX].p, v[W].p, v[SW].p, v[BIAS].p, v[T].i,
                          v[O].i, v[K].i);
    return mp_const_none;
}
TTI_DEFINE_OP(gemm_s8_add, 10);

static mp_obj_t op_layernorm_modulate_s8(size_t n_args, const mp_obj_t *args) {
    enum {
        Q,
        SQ,
        X,
        SHIFT,
        SCALE,
        SCRATCH,
        ROWS,
        COLS
    };
    static const char name[] = "layernorm_modulate_s8";
    static const tti_arg_t table[] = {
        WRITES("q", S8, ROWS, COLS),
        WRITES("sq", F32, ROWS),
        READS("x", F32, ROWS, COLS),
        READS("shift", F32, COLS),
        READS("scale", F32, COLS),
        WRITES("scratch", F32, COLS),
        SIZE("rows"),
        SIZE("cols"),
    };
    tti_value_t v[8];
    (void)n_args;
    TTI_CHECK_INTEGERS(name, table, args, v);
    tti_check_multiple(name, "cols", v[COLS].i, 4);
    TTI_CHECK_BUFFERS(name, table, args, v);
    tti_split_layernorm_modulate_s8(v[Q].p, v[SQ].p, v[X].p, v[SHIFT].p, v[SCALE].p, v[SCRATCH].p,
                                    v[ROWS].i, v[COLS].i);
    return mp_const_none;
}
TTI_DEFINE_OP(layernorm_modulate_s8, 8);

#define ATTENTION_SIZES                                                                           \
    ANY_INTEGER("head"), ANY_INTEGER("row0"), SIZE("rows"), SIZE("tokens"), SIZE("heads"),        \
        SIZE("head_dim")

// The six integers of an attention op, in the order of ATTENTION_SIZES.
static tti_attention_t get_attention(const char *op, const tti_value_t *v) {
    tti_attention_t a = {v[0].i, v[1].i, v[2].i, v[3].i, v[4].i, v[5].i};
    tti_check_range(op, "head", a.head, 0, a.heads - 1);
    tti_check_range(op, "row0", a.row0, 0, a.tokens - 1);
    tti_check_range(op, "rows", a.rows, 1, a.tokens - a.row0);
    return a;
}

static mp_obj_t op_attention_scores(size_t n_args, const mp_obj_t *args) {
    enum {
        S,
        Q,
        SQ,
        K,
        SK,
        HEAD,
        ROW0,
        ROWS,
        TOKENS,
        HEADS,
        HEAD_DIM
    };
    static const tti_arg_t table[] = {
        WRITES("s", F32, ROWS, TOKENS),  READS("q", S8, TOKENS, HEADS, HEAD_DIM),
        READS("sq", F32, TOKENS, HEADS), READS("k", S8, TOKENS, HEADS, HEAD_DIM),
        READS("sk", F32, TOKENS, HEADS), ATTENTION_SIZES,
    };
    tti_value_t v[11];
    (void)n_args;
    TTI_CHECK_INTEGERS("attention_scores", table, args, v);
    tti_attention_t a = get_attention("attention_scores", v + HEAD);
    TTI_CHECK_BUFFERS("attention_scores", table, args, v);
    tti_split_attention_scores(v[S].p, v[Q].p, v[SQ].p, v[K].p, v[SK].p, &a);
    return mp_const_none;
}
TTI_DEFINE_OP(attention_scores, 11);

static mp_obj_t op_softmax_s8(size_t n_args, const mp_obj_t *args) {
    enum {
        P,
        INV,
        S,
        ROWS,
        COLS,
        VALID
    };
    static const tti_arg_t table[] = {WRITES("p", S8, ROWS, COLS),
                                      WRITES("inv", F32, ROWS),
                                      READS("s", F32, ROWS, COLS),
                                      SIZE("rows"),
                                      SIZE("cols"),
                                      ANY_INTEGER("valid")};
    tti_value_t v[6];
    (void)n_args;
    TTI_CHECK_INTEGERS("softmax_s8", table, args, v);
    tti_check_range("softmax_s8", "valid", v[VALID].i, 1, v[COLS].i);
    TTI_CHECK_BUFFERS("softmax_s8", table, args, v);
    tti_split_softmax_s8(v[P].p, v[INV].p, v[S].p, v[ROWS].i, v[COLS].i, v[VALID].i);
    return mp_const_none;
}
TTI_DEFINE_OP(softmax_s8, 6);

static mp_obj_t op_attention_values(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        P,
        INV,
        VT,
        SV,
        HEAD,
        ROW0,
        ROWS,
        TOKENS,
        HEADS,
        HEAD_DIM
    };
    static const tti_arg_t table[] = {
        WRITES("out", F32, TOKENS, HEADS, HEAD_DIM),
        READS("p", S8, ROWS, TOKENS),
        READS("inv", F32, ROWS),
        READS("vt", S8, HEADS, HEAD_DIM, TOKENS),
        READS("sv", F32, HEADS, HEAD_DIM),
        ATTENTION_SIZES,
    };
    tti_value_t v[11];
    (void)n_args;
    TTI_CHECK_INTEGERS("attention_values", table, args, v);
    tti_attention_t a = get_attention("attention_values", v + HEAD);
    TTI_CHECK_BUFFERS("attention_values", table, args, v);
    tti_split_attention_values(v[OUT].p, v[P].p, v[INV].p, v[VT].p, v[SV].p, &a);
    return mp_const_none;
}
TTI_DEFINE_OP(attention_values, 11);
