// GELU from a table on Cortex-M33: contract §3, the bytes of gelu.c. Any n, in place allowed, no
// over-read. Values outside the table, and the last ones, go to the reference four at a time.
#include "reference.h"

#ifdef TTI_M33

// gelu_table_m33.S
size_t tti_m33_gelu(float *out, const float *x, const float *table, size_t n);

void tti_gelu(float *out, const float *x, const float *table, size_t n) {
    while (n > 0) {
        size_t fours = n & ~(size_t)3, left = tti_m33_gelu(out, x, table, fours);
        size_t done = fours - left, some = n - done < 4 ? n - done : 4;
        out += done;
        x += done;
        tti_ref_gelu(out, x, table, some);
        out += some;
        x += some;
        n -= done + some;
    }
}

#endif
