// Memory for the buffers of a picture that a board sets aside at boot, while its memory is still
// in one piece; _tti.reserved() lends it to Python. A board that does not call this has none.
#ifndef TTI_RESERVE_H
#define TTI_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    void *start;
    size_t bytes;
} tti_part_t;

// Sets memory aside in as few parts as there is room for; false, and nothing is taken, if there is
// not enough. allocate: returns a block at a multiple of 16, or NULL. Does nothing the second
// time.
bool tti_reserve(void *(*allocate)(size_t bytes), void (*release)(void *block));

// The parts; *count is 0 if nothing was set aside.
const tti_part_t *tti_reserved(size_t *count);

#endif
