// A condition that ends a test program if it does not hold.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                               \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

#endif
