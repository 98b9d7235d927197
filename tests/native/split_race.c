// Two threads draw at once, as two `_thread`s of MicroPython may on a PC: each takes the second
// core, computes some ops and gives it back. ThreadSanitizer watches; results are compared.
#include "parallel.h"
#include "split.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ROWS   9
#define COLS   64
#define ROUNDS 200

typedef struct {
    float x[ROWS * COLS], scale[ROWS], sw[COLS], out[ROWS * COLS], row[COLS];
    int8_t q[ROWS * COLS], w[COLS * COLS], image[ROWS * COLS], patches[2 * 144];
} buffers_t;

#define OUTPUTS (offsetof(buffers_t, patches) - offsetof(buffers_t, q))

static void fill(buffers_t *b, uint32_t seed) {
    memset(b, 0, sizeof(*b));
    tti_noise(b->x, seed, ROWS * COLS);
    tti_noise(b->sw, seed + 1, COLS);
    for (int i = 0; i < COLS * COLS; i++) {
        b->w[i] = (int8_t)((i * 37 + (int)seed) % 255 - 127);
    }
}

static bool draw(uint32_t seed) {
    buffers_t one, two;
    fill(&one, seed);
    fill(&two, seed);
    // An image of ROWS × 4 pixels of 16 channels.
    const tti_conv_t c = {ROWS, 4, 16, 16, 0, 0, ROWS, 0, 0};
    tti_quantize_rows(one.q, one.scale, one.x, ROWS, COLS);
    tti_gemm_s8(one.out, one.q, one.scale, one.w, one.sw, NULL, ROWS, COLS, COLS);
    tti_conv3x3_s8(one.image, one.q, one.w, one.sw, one.sw, NULL, NULL, one.patches, 2, &c);
    tti_layernorm_modulate_s8(one.q, one.scale, one.out, one.sw, one.sw, one.row, ROWS, COLS);
    tti_split_quantize_rows(two.q, two.scale, two.x, ROWS, COLS);
    tti_split_gemm_s8(two.out, two.q, two.scale, two.w, two.sw, NULL, ROWS, COLS, COLS);
    tti_split_conv3x3_s8(two.image, two.q, two.w, two.sw, two.sw, NULL, NULL, two.patches, 2, &c);
    tti_split_layernorm_modulate_s8(two.q, two.scale, two.out, two.sw, two.sw, two.row, ROWS,
                                    COLS);
    return memcmp(&one, &two, offsetof(buffers_t, row)) == 0 && memcmp(one.q, two.q, OUTPUTS) == 0;
}

// Seeds of one thread are even, of the other odd. NULL if all is well.
static void *pictures(void *first) {
    for (uint32_t i = 0; i < ROUNDS; i++) {
        bool started = tti_parallel_start();
        bool same = draw(2 * i + *(const uint32_t *)first) && draw(i);
        tti_parallel_stop();
        if (!started || !same) {
            return first;
        }
    }
    return NULL;
}

int main(void) {
    uint32_t firsts[2] = {0, 1};
    pthread_t other;
    if (pthread_create(&other, NULL, pictures, &firsts[1]) != 0) {
        return 2;
    }
    void *here = pictures(&firsts[0]), *there;
    pthread_join(other, &there);
    printf("%d rounds twice\n", ROUNDS);
    return here != NULL || there != NULL;
}
