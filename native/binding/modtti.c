// Module `_tti`: the ops of tti for MicroPython. docs/ops.md describes them, docs/arithmetic.md
// says what they compute, and ttikit.simulator offers the same functions on a PC.
#include "ops.h"
#include "target.h"

#include "editor.h"

#include "py/objtuple.h"
#include "py/runtime.h"

// Which implementation each replaceable part has in this build: dict(_tti.build()).
#define BACKEND(name, backend)                                                                    \
    static const mp_rom_obj_tuple_t name##_##backend = {                                          \
        {&mp_type_tuple}, 2, {MP_ROM_QSTR(MP_QSTR_##name), MP_ROM_QSTR(MP_QSTR_##backend)}}

#ifdef TTI_M33
#define KERNEL(name)    BACKEND(name, m33)
#define KERNEL_OF(name) MP_OBJ_FROM_PTR(&name##_m33)
#elif defined(TTI_PIE)
#define KERNEL(name)    BACKEND(name, pie)
#define KERNEL_OF(name) MP_OBJ_FROM_PTR(&name##_pie)
#else
#define KERNEL(name)    BACKEND(name, ref)
#define KERNEL_OF(name) MP_OBJ_FROM_PTR(&name##_ref)
#endif

KERNEL(gemm_s8);
KERNEL(attention);
KERNEL(conv3x3_s8);
KERNEL(quantize);
KERNEL(layernorm);
KERNEL(gelu);
BACKEND(readline, tti);
BACKEND(readline, stock);

static mp_obj_t op_build(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    (void)args;
    const mp_obj_t backends[] = {
        KERNEL_OF(gemm_s8),
        KERNEL_OF(attention),
        KERNEL_OF(conv3x3_s8),
        KERNEL_OF(quantize),
        KERNEL_OF(layernorm),
        KERNEL_OF(gelu),
        MP_OBJ_FROM_PTR(tti_readline_is_linked() ? &readline_tti : &readline_stock),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(backends), backends);
}
TTI_DEFINE_OP(build, 0);

// portable(on): whether ops use the references from now on; returns whether they did.
static mp_obj_t op_portable(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    bool before = tti_portable;
    tti_portable = mp_obj_is_true(args[0]);
    return mp_obj_new_bool(before);
}
TTI_DEFINE_OP(portable, 1);

// The names are spelled out because MicroPython finds its interned strings by reading the source.
static const mp_rom_map_elem_t tti_globals_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__tti)},
    {MP_ROM_QSTR(MP_QSTR_exp), MP_ROM_PTR(&tti_exp_obj)},
    {MP_ROM_QSTR(MP_QSTR_log), MP_ROM_PTR(&tti_log_obj)},
    {MP_ROM_QSTR(MP_QSTR_rsqrt), MP_ROM_PTR(&tti_rsqrt_obj)},
    {MP_ROM_QSTR(MP_QSTR_sqrt), MP_ROM_PTR(&tti_sqrt_obj)},
    {MP_ROM_QSTR(MP_QSTR_silu), MP_ROM_PTR(&tti_silu_obj)},
    {MP_ROM_QSTR(MP_QSTR_sincos), MP_ROM_PTR(&tti_sincos_obj)},
    {MP_ROM_QSTR(MP_QSTR_rne), MP_ROM_PTR(&tti_rne_obj)},
    {MP_ROM_QSTR(MP_QSTR_gelu), MP_ROM_PTR(&tti_gelu_obj)},
    {MP_ROM_QSTR(MP_QSTR_quantize_rows), MP_ROM_PTR(&tti_quantize_rows_obj)},
    {MP_ROM_QSTR(MP_QSTR_quantize_cols_t), MP_ROM_PTR(&tti_quantize_cols_t_obj)},
    {MP_ROM_QSTR(MP_QSTR_gemm_s8), MP_ROM_PTR(&tti_gemm_s8_obj)},
    {MP_ROM_QSTR(MP_QSTR_gemm_s8_add), MP_ROM_PTR(&tti_gemm_s8_add_obj)},
    {MP_ROM_QSTR(MP_QSTR_layernorm_modulate_s8), MP_ROM_PTR(&tti_layernorm_modulate_s8_obj)},
    {MP_ROM_QSTR(MP_QSTR_attention_scores), MP_ROM_PTR(&tti_attention_scores_obj)},
    {MP_ROM_QSTR(MP_QSTR_softmax_s8), MP_ROM_PTR(&tti_softmax_s8_obj)},
    {MP_ROM_QSTR(MP_QSTR_attention_values), MP_ROM_PTR(&tti_attention_values_obj)},
    {MP_ROM_QSTR(MP_QSTR_conv3x3_s8), MP_ROM_PTR(&tti_conv3x3_s8_obj)},
    {MP_ROM_QSTR(MP_QSTR_noise), MP_ROM_PTR(&tti_noise_obj)},
    {MP_ROM_QSTR(MP_QSTR_timestep_features), MP_ROM_PTR(&tti_timestep_features_obj)},
    {MP_ROM_QSTR(MP_QSTR_euler), MP_ROM_PTR(&tti_euler_obj)},
    {MP_ROM_QSTR(MP_QSTR_add), MP_ROM_PTR(&tti_add_obj)},
    {MP_ROM_QSTR(MP_QSTR_lerp), MP_ROM_PTR(&tti_lerp_obj)},
    {MP_ROM_QSTR(MP_QSTR_mean_rows), MP_ROM_PTR(&tti_mean_rows_obj)},
    {MP_ROM_QSTR(MP_QSTR_embed), MP_ROM_PTR(&tti_embed_obj)},
    {MP_ROM_QSTR(MP_QSTR_quantize_latent), MP_ROM_PTR(&tti_quantize_latent_obj)},
    {MP_ROM_QSTR(MP_QSTR_crc32), MP_ROM_PTR(&tti_crc32_obj)},
    {MP_ROM_QSTR(MP_QSTR_model_check), MP_ROM_PTR(&tti_model_check_obj)},
    {MP_ROM_QSTR(MP_QSTR_model_head_bytes), MP_ROM_PTR(&tti_model_head_bytes_obj)},
    {MP_ROM_QSTR(MP_QSTR_model_check_head), MP_ROM_PTR(&tti_model_check_head_obj)},
    {MP_ROM_QSTR(MP_QSTR_model_verify), MP_ROM_PTR(&tti_model_verify_obj)},
    {MP_ROM_QSTR(MP_QSTR_model_find), MP_ROM_PTR(&tti_model_find_obj)},
    {MP_ROM_QSTR(MP_QSTR_build), MP_ROM_PTR(&tti_build_obj)},
    {MP_ROM_QSTR(MP_QSTR_portable), MP_ROM_PTR(&tti_portable_obj)},
    {MP_ROM_QSTR(MP_QSTR_cores), MP_ROM_PTR(&tti_cores_obj)},
    {MP_ROM_QSTR(MP_QSTR_reserved), MP_ROM_PTR(&tti_reserved_obj)},
};
static MP_DEFINE_CONST_DICT(tti_globals, tti_globals_table);

const mp_obj_module_t tti_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&tti_globals,
};

MP_REGISTER_MODULE(MP_QSTR__tti, tti_module);
