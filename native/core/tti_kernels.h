// The kernels of tti. They compute what docs/arithmetic.md says ("§n" below), byte for byte.
//
// Common to all of them:
// - s8 buffers may have any address, f32 and i32 buffers an address divisible by 4; matrices are
//   row-major without gaps, and [a][b] means a rows of b elements;
// - sizes are at least 1; no size has to be a multiple of anything unless a kernel says so;
// - no kernel reads or writes a byte outside the sizes stated ("over-read" would say so);
// - int8 values lie in -127...127 and dot products have at most TTI_MAX_K terms, so accumulators
//   stay below 2^30 + 2^16 in int32;
// - nothing is allocated; the deepest kernel takes about 2.5 KB of stack (dot_tile.h),
//   on a Cortex-M33 4.6 KB (product_m33.c), on an ESP32-S3 2.6 KB (conv3x3_s8_pie.c);
// - `out` may be the same buffer as an input only where the kernel says so.
#ifndef TTI_KERNELS_H
#define TTI_KERNELS_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "tti needs exact float32: compile without -ffast-math (docs/arithmetic.md, paragraph 1)"
#endif
#if FLT_EVAL_METHOD != 0
#error "tti needs float32 without excess precision: on 32-bit x86 add -msse2 -mfpmath=sse"
#endif

#define TTI_MAX_K     65536
#define TTI_GELU_SIZE 2048 // floats: 1024 pairs (value, slope)

// §2, §3 elementary.c: out[n] from x[n]. A float out may be x; out_sin or out_cos may be turns.
void tti_exp(float *out, const float *x, size_t n);
void tti_log(float *out, const float *x, size_t n);   // x normal and > 0
void tti_rsqrt(float *out, const float *x, size_t n); // x >= 0
void tti_sqrt(float *out, const float *x, size_t n);  // x >= 0
void tti_silu(float *out, const float *x, size_t n);
void tti_sincos(float *out_sin, float *out_cos, const float *turns, size_t n); // 0 <= turns < 1
void tti_rne(int32_t *out, const float *x, size_t n);                          // |x| < 2^22

// §3 gelu.c: table f32[TTI_GELU_SIZE]; out may be x.
void tti_gelu(float *out, const float *x, const float *table, size_t n);

// §4 quantize.c: x f32[rows][cols]; q s8[rows][cols] and scale f32[rows], or transposed:
// q s8[cols][rows] and scale f32[cols].
void tti_quantize_rows(int8_t *q, float *scale, const float *x, int rows, int cols);
void tti_quantize_cols_t(int8_t *q, float *scale, const float *x, int rows, int cols);

// §5 gemm_s8.c: x s8[t][k], sx f32[t], w s8[o][k], sw f32[o], bias f32[o] or NULL;
// out f32[t][o]. The second adds to res f32[t][o] after multiplying by gate f32[o].
void tti_gemm_s8(float *out, const int8_t *x, const float *sx, const int8_t *w, const float *sw,
                 const float *bias, int t, int o, int k);
void tti_gemm_s8_add(float *res, const float *gate, const int8_t *x, const float *sx,
                     const int8_t *w, const float *sw, const float *bias, int t, int o, int k);

// §6 layernorm.c: x f32[rows][cols], cols a multiple of 4, shift, scale, scratch f32[cols];
// q s8[rows][cols], sq f32[rows].
void tti_layernorm_modulate_s8(int8_t *q, float *sq, const float *x, const float *shift,
                               const float *scale, float *scratch, int rows, int cols);

// §7 attention.c, softmax_s8.c
typedef struct {
    int head;     // number of the head, 0 <= head < heads
    int row0;     // first query row, row0 + rows <= tokens
    int rows;     // number of query rows
    int tokens;   // keys and values
    int heads;    // number of heads
    int head_dim; // channels of a head
} tti_attention_t;

// q, k s8[tokens][heads * head_dim], sq, sk f32[tokens][heads]; s f32[rows][tokens].
void tti_attention_scores(float *s, const int8_t *q, const float *sq, const int8_t *k,
                          const float *sk, const tti_attention_t *a);
// s f32[rows][cols], 1 <= valid <= cols; p s8[rows][cols], inv f32[rows].
void tti_softmax_s8(int8_t *p, float *inv, const float *s, int rows, int cols, int valid);
// p s8[rows][tokens], inv f32[rows], vt s8[heads * head_dim][tokens], sv f32[heads * head_dim];
// writes the head's columns of rows row0... of out f32[tokens][heads * head_dim].
void tti_attention_values(float *out, const int8_t *p, const float *inv, const int8_t *vt,
                          const float *sv, const tti_attention_t *a);

// §8 conv3x3_s8.c
enum {
    TTI_CONV_UPSAMPLE = 1, // the input has half the height and width of the output
    TTI_CONV_RELU = 2,     // negative inputs count as 0
    TTI_CONV_BYTES = 4,    // out holds bytes 0...255 instead of int8
};

typedef struct {
    int height, width; // of the whole output image; even when up-sampling
    int cin, cout;     // channels
    int flags;         // TTI_CONV_...
    int y0, y1;        // output rows y0 <= y < y1 are computed
    int in_y0;         // input row that x begins with
    int out_y0;        // output row that out and res begin with, out_y0 <= y0
} tti_conv_t;

#define TTI_CONV_PIXELS 1024 // more of them make no kernel faster

// Bytes in a row of weights and in the patch of a pixel: 9 * cin rounded up to a multiple of 16.
size_t tti_conv_kpad(int cin);
// First and last input row that the rows y0...y1 need, clamped to the image.
void tti_conv_input_rows(const tti_conv_t *c, int *first, int *last);
// x s8[...][in_width][cin] from input row in_y0 on, w s8[cout][kpad], m, b f32[cout]; res and r
// NULL or s8[...][width][cout] from output row out_y0 on (may be out itself) and f32[1];
// patches s8[pixels][kpad], 1 <= pixels <= TTI_CONV_PIXELS, scratch; out s8[...][width][cout] from
// output row out_y0 on.
void tti_conv3x3_s8(void *out, const int8_t *x, const int8_t *w, const float *m, const float *b,
                    const int8_t *res, const float *r, int8_t *patches, int pixels,
                    const tti_conv_t *c);

// §9 noise.c: n values, n a multiple of 4.
void tti_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);
void tti_noise(float *out, uint32_t seed, size_t n);

// §10 sampler.c: 1 <= steps <= 65535, 0 <= i < steps.
void tti_timestep_features(float *out, const float *freqs, int i, int steps, size_t n);
void tti_euler(float *x, const float *v, int steps, size_t n); // in place in x

// §11 vectors.c: add, lerp: out may be a or b. mean_rows: x f32[rows][cols], out f32[cols].
void tti_add(float *out, const float *a, const float *b, size_t n);
void tti_lerp(float *out, const float *a, const float *b, int hundredths, size_t n); // 0...100
void tti_mean_rows(float *out, const float *x, int rows, int cols);
// tokens u8[n] < vocabulary, table f32[vocabulary][dim], pos f32[n][dim] or NULL; out f32[n][dim].
void tti_embed(float *out, const float *table, const float *pos, const uint8_t *tokens, int n,
               int dim);
// x f32[(height / 2) * (width / 2)][16], m, b f32[4], height and width even;
// q s8[height][width][4].
void tti_quantize_latent(int8_t *q, const float *x, const float *m, const float *b, int height,
                         int width);

#endif
