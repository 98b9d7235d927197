// Function objects of `_tti`, each defined beside its op in ops_*.c, model.c, cores.c, reserved.c.
#ifndef TTI_BINDING_OPS_H
#define TTI_BINDING_OPS_H

#include "py/obj.h"
#include "split.h"

// Follows the function op_<name>, which takes exactly `count` arguments.
#define TTI_DEFINE_OP(name, count)                                                                \
    MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(tti_##name##_obj, count, count, op_##name)

#define TTI_DECLARE_OP(name) MP_DECLARE_CONST_FUN_OBJ_VAR_BETWEEN(tti_##name##_obj)

TTI_DECLARE_OP(exp);
TTI_DECLARE_OP(log);
TTI_DECLARE_OP(rsqrt);
TTI_DECLARE_OP(sqrt);
TTI_DECLARE_OP(silu);
TTI_DECLARE_OP(sincos);
TTI_DECLARE_OP(rne);
TTI_DECLARE_OP(gelu);
TTI_DECLARE_OP(quantize_rows);
TTI_DECLARE_OP(quantize_cols_t);
TTI_DECLARE_OP(gemm_s8);
TTI_DECLARE_OP(gemm_s8_add);
TTI_DECLARE_OP(layernorm_modulate_s8);
TTI_DECLARE_OP(attention_scores);
TTI_DECLARE_OP(softmax_s8);
TTI_DECLARE_OP(attention_values);
TTI_DECLARE_OP(conv3x3_s8);
TTI_DECLARE_OP(noise);
TTI_DECLARE_OP(timestep_features);
TTI_DECLARE_OP(euler);
TTI_DECLARE_OP(add);
TTI_DECLARE_OP(lerp);
TTI_DECLARE_OP(mean_rows);
TTI_DECLARE_OP(embed);
TTI_DECLARE_OP(quantize_latent);
TTI_DECLARE_OP(crc32);
TTI_DECLARE_OP(model_check);
TTI_DECLARE_OP(model_head_bytes);
TTI_DECLARE_OP(model_check_head);
TTI_DECLARE_OP(model_verify);
TTI_DECLARE_OP(model_find);
TTI_DECLARE_OP(cores);
TTI_DECLARE_OP(reserved);

#endif
