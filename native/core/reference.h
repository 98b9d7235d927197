// Names of the references of the ops that a chip's kernels replace (target.h).
#ifndef TTI_REFERENCE_H
#define TTI_REFERENCE_H

#include "target.h"
#include "tti_kernels.h"

#ifdef TTI_FAST
#define TTI_REF(op) tti_ref_##op
extern __typeof__(tti_gemm_s8) tti_ref_gemm_s8;
extern __typeof__(tti_gemm_s8_add) tti_ref_gemm_s8_add;
extern __typeof__(tti_attention_scores) tti_ref_attention_scores;
extern __typeof__(tti_attention_values) tti_ref_attention_values;
extern __typeof__(tti_conv3x3_s8) tti_ref_conv3x3_s8;
extern __typeof__(tti_gelu) tti_ref_gelu;
extern __typeof__(tti_quantize_rows) tti_ref_quantize_rows;
extern __typeof__(tti_quantize_cols_t) tti_ref_quantize_cols_t;
extern __typeof__(tti_layernorm_modulate_s8) tti_ref_layernorm_modulate_s8;
extern __typeof__(tti_softmax_s8) tti_ref_softmax_s8;
#else
#define TTI_REF(op)                   tti_##op
#define tti_ref_gemm_s8               tti_gemm_s8
#define tti_ref_gemm_s8_add           tti_gemm_s8_add
#define tti_ref_attention_scores      tti_attention_scores
#define tti_ref_attention_values      tti_attention_values
#define tti_ref_conv3x3_s8            tti_conv3x3_s8
#define tti_ref_gelu                  tti_gelu
#define tti_ref_quantize_rows         tti_quantize_rows
#define tti_ref_quantize_cols_t       tti_quantize_cols_t
#define tti_ref_layernorm_modulate_s8 tti_layernorm_modulate_s8
#define tti_ref_softmax_s8            tti_softmax_s8
#endif

#endif
