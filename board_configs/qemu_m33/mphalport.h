#include "py/mpconfig.h"

#include "hal.h"

#define CPU_TICKS_PER_US (20)

static inline mp_uint_t cpu_irq_mask(void) {
    mp_uint_t state;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(state)::"memory");
    return state;
}

static inline void cpu_irq_restore(mp_uint_t state) {
    __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

#define MICROPY_BEGIN_ATOMIC_SECTION()    cpu_irq_mask()
#define MICROPY_END_ATOMIC_SECTION(state) cpu_irq_restore(state)
