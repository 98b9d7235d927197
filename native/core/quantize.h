// Dynamic quantisation of one row (§4), shared by quantize.c and layernorm.c.
#ifndef TTI_QUANTIZE_H
#define TTI_QUANTIZE_H

#include <stdint.h>

// x f32[n] to q s8[n], any n and any address of q. Returns the scale, 0 for a row without values.
float tti_quantize_row(int8_t *q, const float *x, int n);

#endif
