// Ops over vectors: elementary functions, noise, sampler, sums, embedding.
#include "args.h"
#include "ops.h"

#define UNARY_OP(name, type)                                                                      \
    static mp_obj_t op_##name(size_t n_args, const mp_obj_t *args) {                              \
        static const tti_arg_t table[] = {WRITES("out", type, 2), READS("x", F32, 2),             \
                                          LENGTH("n")};                                           \
        tti_value_t v[3];                                                                         \
        (void)n_args;                                                                             \
        TTI_CHECK(#name, table, args, v);                                                         \
        tti_##name(v[0].p, v[1].p, (size_t)v[2].i);                                               \
        return mp_const_none;                                                                     \
    }                                                                                             \
    TTI_DEFINE_OP(name, 3)

UNARY_OP(exp, F32);
UNARY_OP(log, F32);
UNARY_OP(rsqrt, F32);
UNARY_OP(sqrt, F32);
UNARY_OP(silu, F32);
UNARY_OP(rne, I32);

static mp_obj_t op_sincos(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT_SIN,
        OUT_COS,
        TURNS,
        N
    };
    static const tti_arg_t table[] = {WRITES("out_sin", F32, N), WRITES("out_cos", F32, N),
                                      READS("turns", F32, N), LENGTH("n")};
    tti_value_t v[4];
    (void)n_args;
    TTI_CHECK("sincos", table, args, v);
    tti_sincos(v[OUT_SIN].p, v[OUT_COS].p, v[TURNS].p, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(sincos, 4);

static mp_obj_t op_gelu(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        X,
        TABLE,
        N
    };
    static const tti_arg_t table[] = {WRITES("out", F32, N), READS("x", F32, N),
                                      READS("table", F32, TTI_TIMES(TTI_GELU_SIZE)), LENGTH("n")};
    tti_value_t v[4];
    (void)n_args;
    TTI_CHECK("gelu", table, args, v);
    tti_split_gelu(v[OUT].p, v[X].p, v[TABLE].p, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(gelu, 4);

static mp_obj_t op_noise(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        SEED,
        N
    };
    static const tti_arg_t table[] = {WRITES("out", F32, N), UNSIGNED("seed"), LENGTH("n")};
    tti_value_t v[3];
    (void)n_args;
    TTI_CHECK_INTEGERS("noise", table, args, v);
    tti_check_multiple("noise", "n", v[N].i, 4);
    TTI_CHECK_BUFFERS("noise", table, args, v);
    tti_noise(v[OUT].p, v[SEED].u, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(noise, 3);

static mp_obj_t op_timestep_features(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        FREQS,
        I,
        STEPS,
        N
    };
    static const char name[] = "timestep_features";
    static const tti_arg_t table[] = {WRITES("out", F32, N, TTI_TIMES(2)), READS("freqs", F32, N),
                                      ANY_INTEGER("i"), INTEGER("steps", 1, 65535), LENGTH("n")};
    tti_value_t v[5];
    (void)n_args;
    TTI_CHECK_INTEGERS(name, table, args, v);
    tti_check_range(name, "i", v[I].i, 0, v[STEPS].i - 1);
    TTI_CHECK_BUFFERS(name, table, args, v);
    tti_timestep_features(v[OUT].p, v[FREQS].p, v[I].i, v[STEPS].i, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(timestep_features, 5);

static mp_obj_t op_euler(size_t n_args, const mp_obj_t *args) {
    enum {
        X,
        V,
        STEPS,
        N
    };
    static const tti_arg_t table[] = {WRITES("x", F32, N), READS("v", F32, N),
                                      INTEGER("steps", 1, 65535), LENGTH("n")};
    tti_value_t v[4];
    (void)n_args;
    TTI_CHECK("euler", table, args, v);
    tti_euler(v[X].p, v[V].p, v[STEPS].i, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(euler, 4);

static mp_obj_t op_add(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        A,
        B,
        N
    };
    static const tti_arg_t table[] = {WRITES("out", F32, N), READS("a", F32, N),
                                      READS("b", F32, N), LENGTH("n")};
    tti_value_t v[4];
    (void)n_args;
    TTI_CHECK("add", table, args, v);
    tti_add(v[OUT].p, v[A].p, v[B].p, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(add, 4);

static mp_obj_t op_lerp(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        A,
        B,
        HUNDREDTHS,
        N
    };
    static const tti_arg_t table[] = {WRITES("out", F32, N), READS("a", F32, N),
                                      READS("b", F32, N), INTEGER("hundredths", 0, 100),
                                      LENGTH("n")};
    tti_value_t v[5];
    (void)n_args;
    TTI_CHECK("lerp", table, args, v);
    tti_lerp(v[OUT].p, v[A].p, v[B].p, v[HUNDREDTHS].i, (size_t)v[N].i);
    return mp_const_none;
}
TTI_DEFINE_OP(lerp, 5);

static mp_obj_t op_mean_rows(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        X,
        ROWS,
        COLS
    };
    static const tti_arg_t table[] = {WRITES("out", F32, COLS), READS("x", F32, ROWS, COLS),
                                      SIZE("rows"), SIZE("cols")};
    tti_value_t v[4];
    (void)n_args;
    TTI_CHECK("mean_rows", table, args, v);
    tti_mean_rows(v[OUT].p, v[X].p, v[ROWS].i, v[COLS].i);
    return mp_const_none;
}
TTI_DEFINE_OP(mean_rows, 4);

static void check_tokens(const uint8_t *tokens, int n, size_t vocabulary) {
    for (int i = 0; i < n; i++) {
        if (tokens[i] >= vocabulary) {
            mp_raise_msg_varg(&mp_type_ValueError,
                              MP_ERROR_TEXT("embed: token %d is outside the table of %u rows"),
                              (int)tokens[i], (unsigned)vocabulary);
        }
    }
}

static mp_obj_t op_embed(size_t n_args, const mp_obj_t *args) {
    enum {
        OUT,
        TABLE,
        POS,
        TOKENS,
        N,
        DIM
    };
    static const tti_arg_t table[] = {WRITES("out", F32, N, DIM),
                                      READS("table", F32, 0),
                                      OPTIONAL("pos", F32, N, DIM),
                                      READS("tokens", S8, N),
                                      SIZE("n"),
                                      SIZE("dim")};
    tti_value_t v[6];
    (void)n_args;
    TTI_CHECK("embed", table, args, v);
    check_tokens(v[TOKENS].p, v[N].i, v[TABLE].bytes / ((size_t)v[DIM].i * sizeof(float)));
    tti_embed(v[OUT].p, v[TABLE].p, v[POS].p, v[TOKENS].p, v[N].i, v[DIM].i);
    return mp_const_none;
}
TTI_DEFINE_OP(embed, 6);
