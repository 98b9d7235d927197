// What happens before MicroPython's task, and long before Wi-Fi, is started.
#include "esp_heap_caps.h"

#include "py/mpconfig.h"

#include "reserve.h"

// Python's own heap lies in PSRAM, where the kernels would wait for most of their operands.
static void *allocate(size_t bytes) {
    return heap_caps_aligned_alloc(16, bytes, MALLOC_CAP_INTERNAL | MALLOC_CAP_8BIT);
}

// If there is not enough, the arena comes from Python's heap, and tti.memory() tells.
void tti_board_startup(void) {
    boardctrl_startup();
    tti_reserve(allocate, heap_caps_free);
}
