// The ops that take the time, each computed by two cores if there are two: tti_split_<op> has the
// arguments and gives the bytes of tti_<op> (tti_kernels.h). The rows of an op are independent, so
// each core computes some of them, with a part of the scratch of its own.
#ifndef TTI_SPLIT_H
#define TTI_SPLIT_H

#include "reference.h"

// Whether the references take the place of the fastest kernels.
extern bool tti_portable;
#define TTI_KERNEL(op) (tti_portable ? tti_ref_##op : tti_##op)

extern __typeof__(tti_gemm_s8) tti_split_gemm_s8;
extern __typeof__(tti_gemm_s8_add) tti_split_gemm_s8_add;
extern __typeof__(tti_attention_scores) tti_split_attention_scores;
extern __typeof__(tti_attention_values) tti_split_attention_values;
extern __typeof__(tti_softmax_s8) tti_split_softmax_s8;
extern __typeof__(tti_conv3x3_s8) tti_split_conv3x3_s8;
extern __typeof__(tti_quantize_rows) tti_split_quantize_rows;
extern __typeof__(tti_layernorm_modulate_s8) tti_split_layernorm_modulate_s8;
extern __typeof__(tti_gelu) tti_split_gelu;

#endif
