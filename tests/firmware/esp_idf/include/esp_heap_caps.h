// As ESP-IDF declares it.
#include <stddef.h>
#define MALLOC_CAP_8BIT     (1 << 2)
#define MALLOC_CAP_INTERNAL (1 << 11)
void *heap_caps_aligned_alloc(size_t alignment, size_t size, unsigned caps);
void heap_caps_free(void *block);
