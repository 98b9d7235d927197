// What clang calls for integers of 64 bits (the names are the compiler's).
#include <stdint.h>

typedef union {
    uint64_t all;
    struct {
        uint32_t low, high;
    };
} words_t;

uint64_t __muldi3(uint64_t a, uint64_t b);
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);
int __clzdi2(uint64_t a);
int __ctzsi2(uint32_t a);
int __ctzdi2(uint64_t a);
int __popcountsi2(uint32_t a);
uint32_t __bswapsi2(uint32_t a);
uint64_t __ashldi3(uint64_t a, int n);
uint64_t __lshrdi3(uint64_t a, int n);
int64_t __ashrdi3(int64_t a, int n);

// The emulated core multiplies to 32 bits only.
static uint64_t multiply(uint32_t a, uint32_t b) {
    uint32_t al = a & 0xFFFF, ah = a >> 16, bl = b & 0xFFFF, bh = b >> 16;
    uint32_t low = al * bl, middle = ah * bl + (low >> 16);
    uint32_t rest = al * bh + (middle & 0xFFFF);
    words_t product = {.low = rest << 16 | (low & 0xFFFF),
                       .high = ah * bh + (middle >> 16) + (rest >> 16)};
    return product.all;
}

uint64_t __muldi3(uint64_t a, uint64_t b) {
    words_t x = {a}, y = {b}, product = {multiply(x.low, y.low)};
    product.high += x.low * y.high + x.high * y.low;
    return product.all;
}

int __clzdi2(uint64_t a) {
    words_t x = {a};
    return x.high != 0 ? __builtin_clz(x.high) : 32 + (x.low != 0 ? __builtin_clz(x.low) : 32);
}

int __ctzsi2(uint32_t a) {
    return 31 - __builtin_clz(a & -a);
}

int __ctzdi2(uint64_t a) {
    words_t x = {a};
    return x.low != 0 ? __ctzsi2(x.low) : 32 + __ctzsi2(x.high);
}

int __popcountsi2(uint32_t a) {
    int count = 0;
    for (; a != 0; a &= a - 1) {
        count++;
    }
    return count;
}

uint32_t __bswapsi2(uint32_t a) {
    return a >> 24 | (a >> 8 & 0xFF00) | (a << 8 & 0xFF0000) | a << 24;
}

uint64_t __ashldi3(uint64_t a, int n) {
    words_t x = {a}, out = {0};
    if (n >= 32) {
        out.high = x.low << (n - 32);
    } else if (n == 0) {
        out = x;
    } else {
        out.low = x.low << n;
        out.high = x.high << n | x.low >> (32 - n);
    }
    return out.all;
}

uint64_t __lshrdi3(uint64_t a, int n) {
    words_t x = {a}, out = {0};
    if (n >= 32) {
        out.low = x.high >> (n - 32);
    } else if (n == 0) {
        out = x;
    } else {
        out.high = x.high >> n;
        out.low = x.low >> n | x.high << (32 - n);
    }
    return out.all;
}

int64_t __ashrdi3(int64_t a, int n) {
    words_t x = {(uint64_t)a}, out;
    int32_t high = (int32_t)x.high;
    if (n >= 32) {
        out.low = (uint32_t)(high >> (n - 32));
        out.high = (uint32_t)(high >> 31);
    } else if (n == 0) {
        out = x;
    } else {
        out.high = (uint32_t)(high >> n);
        out.low = x.low >> n | x.high << (32 - n);
    }
    return (int64_t)out.all;
}

// Bit by bit, but for numbers that fit a word.
uint64_t __udivmoddi4(uint64_t n, uint64_t d, uint64_t *rest) {
    words_t x = {n}, y = {d};
    if (x.high == 0 && y.high == 0) {
        uint32_t quotient = x.low / y.low;
        *rest = x.low - quotient * y.low;
        return quotient;
    }
    uint64_t quotient = 0;
    if (d <= n) {
        int shift = __clzdi2(d) - __clzdi2(n);
        d = __ashldi3(d, shift);
        for (; shift >= 0; shift--) {
            quotient <<= 1;
            if (n >= d) {
                n -= d;
                quotient |= 1;
            }
            d >>= 1;
        }
    }
    *rest = n;
    return quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d) {
    uint64_t rest;
    return __udivmoddi4(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d) {
    uint64_t rest;
    __udivmoddi4(n, d, &rest);
    return rest;
}

static uint64_t magnitude(int64_t a) {
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

int64_t __divdi3(int64_t n, int64_t d) {
    uint64_t quotient = __udivdi3(magnitude(n), magnitude(d));
    return (int64_t)((n ^ d) < 0 ? -quotient : quotient);
}

int64_t __moddi3(int64_t n, int64_t d) {
    uint64_t rest = __umoddi3(magnitude(n), magnitude(d));
    return (int64_t)(n < 0 ? -rest : rest);
}
