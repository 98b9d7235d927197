// Function objects of `_tti`, each defined beside its op in ops_*.c and model.c.
#ifndef TTI_BINDING_OPS_H
#define TTI_BINDING_OPS_H

#include "py/obj.h"

#define TTI_OPS(OP)                                                                               \
    OP(exp) \ OP(log) \ OP(rsqrt) \ OP(                                                           \
        sqrt) \ OP(silu) \ OP(sincos) \ OP(rne) \ OP(gelu) \ OP(quantize_rows) \ OP(quantize_cols_t) \ OP(gemm_s8) \ OP(gemm_s8_add) \ OP(layernorm_modulate_s8) \ OP(attention_scores) \ OP(softmax_s8) \ OP(attention_values) \ OP(conv3x3_s8) \ OP(noise) \ OP(timestep_features) \ OP(guide) \ OP(euler) \ OP(add) \ OP(mean_rows) \ OP(embed) \ OP(quantize_latent) \ OP(crc32) \ OP(model_check) \ OP(model_verify) \ OP(model_find) \ OP(build)

#define TTI_DECLARE_OP(name) MP_DECLARE_CONST_FUN_OBJ_VAR_BETWEEN(tti_##name##_obj);
TTI_OPS(TTI_DECLARE_OP)

// Follows the function op_<name>, which takes exactly `count` arguments.
#define TTI_DEFINE_OP(name, count)                                                                \
    MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(tti_##name##_obj, count, count, op_##name)

#endif
