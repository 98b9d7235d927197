#include <stddef.h>

#include "py/mpconfig.h"

#include "hal.h"

#define CPU_TICKS_PER_US (40)

// The timer is the only interrupt, at level 1.
static inline mp_uint_t cpu_irq_mask(void) {
    mp_uint_t state;
    __asm volatile("rsil %0, 1" : "=r"(state)::"memory");
    return state;
}

static inline void cpu_irq_restore(mp_uint_t state) {
    __asm volatile("wsr %0, ps\n\trsync" ::"r"(state) : "memory");
}

#define MICROPY_BEGIN_ATOMIC_SECTION()    cpu_irq_mask()
#define MICROPY_END_ATOMIC_SECTION(state) cpu_irq_restore(state)
