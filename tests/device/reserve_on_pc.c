// A board on the PC: sets memory aside at start, in blocks of at most $TTI_LARGEST bytes.
#include "reserve.h"

#include <stdlib.h>

static void *allocate(size_t bytes) {
    const char *largest = getenv("TTI_LARGEST");
    void *block = NULL;
    if (largest == NULL || bytes > strtoul(largest, NULL, 10) ||
        posix_memalign(&block, 16, bytes) != 0) {
        return NULL;
    }
    return block;
}

__attribute__((constructor)) static void at_boot(void) {
    tti_reserve(allocate, free);
}
