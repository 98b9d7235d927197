// What a compiler may call in any program, for those without MicroPython's own.
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((((uintptr_t)out | (uintptr_t)in) & 3) == 0) {
        for (; n >= 4; n -= 4, out += 4, in += 4) {
            *(uint32_t *)out = *(const uint32_t *)in;
        }
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = in[i];
    }
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if (out <= in) {
        return memcpy(to, from, n);
    }
    while (n-- > 0) {
        out[n] = in[n];
    }
    return to;
}

void *memset(void *to, int byte, size_t n) {
    uint8_t *out = to;
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)byte;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i]) {
            return x[i] - y[i];
        }
    }
    return 0;
}

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n] != '\0') {
        n++;
    }
    return n;
}
