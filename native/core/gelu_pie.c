// GELU from a table on the ESP32-S3: contract §3, the bytes of gelu.c. Any n, in place allowed, no
// over-read. Values whose place in the table needs no bounds are done a block at a time; a block
// with another one goes to the reference, and so does everything that is not aligned.
#include "quantize_pie.h"
#include "reference.h"

#ifdef TTI_PIE

#define BLOCK   128
#define PART    8
#define BOUNDED 0x40BF8000u // 5.984375 as a bit pattern: the last place is 1022

// gelu_table_pie.S
void tti_pie_gelu(float *out, const float *x, const float *table, size_t n, float six,
                  float steps);

// Whether all n values were bounded, and done.
static bool bounded(float *out, const float *x, const float *table, size_t n) {
    if (tti_pie_largest(x, n) >= BOUNDED) {
        return false;
    }
    tti_pie_gelu(out, x, table, n, 6.0f, 85.33333333f);
    return true;
}

static void block(float *out, const float *x, const float *table, size_t n) {
    if (bounded(out, x, table, n)) {
        return;
    }
    for (size_t i = 0; i < n; i += PART) {
        if (!bounded(out + i, x + i, table, PART)) {
            tti_ref_gelu(out + i, x + i, table, PART);
        }
    }
}

void tti_gelu(float *out, const float *x, const float *table, size_t n) {
    size_t done = 0;
    if (tti_pie_takes(x, 0) && tti_pie_takes(out, 0) && ((uintptr_t)table & 7) == 0) {
        for (size_t some; done + PART <= n; done += some) {
            some = n - done < BLOCK ? (n - done) / PART * PART : BLOCK;
            block(out + done, x + done, table, some);
        }
    }
    if (done < n) {
        tti_ref_gelu(out + done, x + done, table, n - done);
    }
}

#endif
