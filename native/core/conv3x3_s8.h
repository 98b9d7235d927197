// A part of the convolution that faster ones use too.
#ifndef TTI_CONV3X3_S8_H
#define TTI_CONV3X3_S8_H

#include "tti_kernels.h"

// The patches s8[n][kpad] of output pixels (y, x0) ... (y, x0 + n - 1); x as for tti_conv3x3_s8.
void tti_conv_gather(int8_t *patches, const int8_t *x, int y, int x0, int n, const tti_conv_t *c);

#endif
