// MicroPython's settings for the emulated board with a Cortex-M33.
#include "mpconfig_emulated.h"

#define MICROPY_HW_BOARD_NAME "tti board on QEMU (mps2-an505)"
#define MICROPY_HW_MCU_NAME   "Cortex-M33"

#define MICROPY_EMIT_THUMB               (1)
#define MICROPY_EMIT_INLINE_THUMB        (1)
#define MICROPY_OPT_COMPUTED_GOTO        (1)
#define MICROPY_MAKE_POINTER_CALLABLE(p) ((void *)((mp_uint_t)(p) | 1))

// The machine's PSRAM, which QEMU maps to the file of the flash.
#define BOARD_FLASH_BASE (0x80000000)
