#ifndef TTI_LX7_STDLIB_H
#define TTI_LX7_STDLIB_H

#include <stddef.h>

_Noreturn void abort(void);

static inline int abs(int x) {
    return x < 0 ? -x : x;
}

#endif
