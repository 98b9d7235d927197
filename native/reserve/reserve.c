// Memory set aside for pictures (reserve.h).
#include "reserve.h"

enum {
    PARTS = 4
};

// What arena.plan() of mpy_modules/tti/arena.py asks for when it may use parts as large as its
// CHOICES; tests/native/test_reserve.py compares. Large to small, so that a part does not take the
// place that the next one needs.
static const size_t shapes[][PARTS] = {
    {167680},
    {106496, 63488},
    {61312, 57344, 45056, 18432},
};

static tti_part_t reserved[PARTS];
static size_t reserved_count;

static size_t take(const size_t *shape, void *(*allocate)(size_t bytes)) {
    size_t taken = 0;
    while (taken < PARTS && shape[taken] != 0) {
        void *start = allocate(shape[taken]);
        if (start == NULL) {
            break;
        }
        reserved[taken] = (tti_part_t){start, shape[taken]};
        taken++;
    }
    return taken;
}

bool tti_reserve(void *(*allocate)(size_t bytes), void (*release)(void *block)) {
    for (size_t i = 0; reserved_count == 0 && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        size_t taken = take(shapes[i], allocate);
        if (taken == PARTS || shapes[i][taken] == 0) {
            reserved_count = taken;
        } else {
            while (taken > 0) {
                release(reserved[--taken].start);
            }
        }
    }
    return reserved_count != 0;
}

const tti_part_t *tti_reserved(size_t *count) {
    *count = reserved_count;
    return reserved;
}
