// The board's part of mphalport.h; the CPU's part defines the atomic section beside it.
#ifndef TTI_EMULATED_HAL_H
#define TTI_EMULATED_HAL_H

#include <stdbool.h>

#include "shared/runtime/interrupt_char.h"

#define MICROPY_INTERNAL_WFE(ms) board_wait(ms)
#define MICROPY_INTERNAL_EVENT_HOOK

// Sleeps until something has happened, for `ms` at most; -1 means for as long as it takes.
void board_wait(int ms);
bool board_has_input(void);

mp_uint_t mp_hal_ticks_ms(void);
mp_uint_t mp_hal_ticks_us(void);
mp_uint_t mp_hal_ticks_cpu(void);
void mp_hal_set_interrupt_char(int c);

#endif
