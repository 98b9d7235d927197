// How far the heap of the PC's MicroPython may grow.

#include "py/gc.h"

// Largest piece that one growth may add, in bytes. More than any model needs, and
// small enough that a program running away ends in MemoryError, not in swapping.
#define MAX_NEW_SPLIT (256 * 1024 * 1024)

size_t gc_get_max_new_split(void) {
    return MAX_NEW_SPLIT;
}
