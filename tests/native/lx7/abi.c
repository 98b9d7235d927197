// What the compiler for the emulated LX7, its headers and its run time must get right, for
// tests/native/test_lx7.py.
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

uint32_t check_arguments(uint32_t seed);
uint32_t check_windows(uint32_t depth, uint32_t seed);
uint32_t check_jumps(uint32_t depth, uint32_t rounds);
uint32_t choose(uint32_t which);
uint32_t fill_the_stack(uint32_t n);

// Each sum tells where an argument was taken from: argument i counts i + 1 times.
static uint32_t sum1(uint32_t n, ...) {
    va_list list, again;
    va_start(list, n);
    va_copy(again, list);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += (i + 1) * va_arg(list, uint32_t);
    }
    for (uint32_t i = 0; i < n; i++) {
        sum ^= (i + 1) * va_arg(again, uint32_t) << 1;
    }
    va_end(list);
    return sum;
}

static uint32_t sum4(uint32_t a, uint32_t b, uint32_t c, uint32_t n, ...) {
    va_list list;
    va_start(list, n);
    uint32_t sum = a + b + c;
    for (uint32_t i = 0; i < n; i++) {
        sum += (i + 1) * va_arg(list, uint32_t);
    }
    va_end(list);
    return sum;
}

// A wide one after each narrow one: they lie at even places.
static uint32_t sum_mixed(uint32_t n, ...) {
    va_list list;
    va_start(list, n);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += (2ull * i + 1) * va_arg(list, uint32_t);
        sum += (2ull * i + 2) * va_arg(list, uint64_t);
    }
    va_end(list);
    return (uint32_t)(sum ^ sum >> 32);
}

// Returns a bit for each thing that is wrong.
uint32_t check_arguments(uint32_t s) {
    uint32_t wrong = 0, a = s, b = s * 3, c = s * 5, d = s * 7, e = s * 11, f = s * 13, g = s * 17;
    uint32_t once = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g, twice = 0;
    twice = once;
    const uint32_t all[] = {a, b, c, d, e, f, g};
    for (uint32_t i = 0; i < 7; i++) {
        twice ^= (i + 1) * all[i] << 1;
    }
    wrong |= sum1(7, a, b, c, d, e, f, g) != twice ? 1 : 0;
    wrong |= sum4(1, 2, 3, 7, a, b, c, d, e, f, g) != 6 + once ? 2 : 0;
    uint64_t w = (uint64_t)s << 35 | s;
    uint64_t mixed = a + 2 * w + 3ull * b + 4 * (w + 1) + 5ull * c + 6 * (w + 2);
    uint32_t folded = (uint32_t)(mixed ^ mixed >> 32);
    wrong |= sum_mixed(3, a, w, b, w + 1, c, w + 2) != folded ? 4 : 0;
    return wrong;
}

// Registers that live across a call, through as many windows as `depth`.
__attribute__((noinline)) uint32_t check_windows(uint32_t depth, uint32_t seed) {
    if (depth == 0) {
        return seed;
    }
    uint32_t a = seed * 3 + 1, b = seed ^ depth, c = seed >> 3, d = seed * 5 + depth;
    uint32_t below = check_windows(depth - 1, a + b);
    return below * 31 + (a ^ b) + (c ^ d);
}

typedef struct {
    jmp_buf place;
    uint32_t value;
} target_t;

// Goes `depth` windows down, moves its stack, and jumps from there.
__attribute__((noinline)) static void descend(target_t *target, uint32_t depth, uint32_t value) {
    volatile uint8_t *moved = alloca(16 + 8 * depth);
    moved[0] = (uint8_t)value;
    if (depth == 0) {
        target->value = value ^ moved[0];
        longjmp(target->place, (int)value);
    }
    descend(target, depth - 1, value + 1);
    target->value = moved[0]; // never reached; keeps the frame
}

// How many jumps came back with the wrong value or lost what the registers held.
uint32_t check_jumps(uint32_t depth, uint32_t rounds) {
    uint32_t wrong = 0, a = rounds * 7, b = depth * 11, c = a ^ b, d = a + b;
    for (uint32_t i = 0; i < rounds; i++) {
        target_t target;
        volatile uint32_t start = i * 16;
        uint8_t *moved = alloca(32); // behind setjmp() the stack is elsewhere
        int got = setjmp(target.place);
        if (got == 0) {
            moved[0] = 1;
            volatile uint8_t *more = alloca(64); // over what lay below the old stack pointer
            for (uint32_t j = 0; j < 64; j++) {
                more[j] = moved[0];
            }
            descend(&target, depth, start);
        }
        uint32_t last = start + depth;
        wrong += (uint32_t)got != (last == 0 ? 1 : last);
        wrong += target.value != (last ^ (last & 0xFF));
        wrong += a != rounds * 7 || b != depth * 11 || c != (a ^ b) || d != a + b;
    }
    return wrong;
}

// The bits of one of two constants, which clang cannot compile by itself.
uint32_t choose(uint32_t which) {
    union {
        float value;
        uint32_t bits;
    } chosen = {(which != 0 ? 1.5f : -0.25f) + (float)(which > 7)};
    return chosen.bits;
}

__attribute__((noinline)) uint32_t fill_the_stack(uint32_t n) {
    volatile uint32_t frame[64];
    frame[n % 64] = n;
    if (n == UINT32_MAX) {
        return 0;
    }
    return fill_the_stack(n + 1) + frame[0];
}
