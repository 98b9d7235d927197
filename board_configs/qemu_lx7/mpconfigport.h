// MicroPython's settings for the emulated board with an Xtensa LX7.
#include "mpconfig_emulated.h"

#define MICROPY_HW_BOARD_NAME "tti board on QEMU (sim)"
#define MICROPY_HW_MCU_NAME   "Xtensa LX7"

#define MICROPY_EMIT_XTENSAWIN    (1)
#define MICROPY_NLR_SETJMP        (1)
#define MICROPY_OPT_COMPUTED_GOTO (1)

// RAM beside that of the program; the file of the flash is read into it and written from it.
#define BOARD_FLASH_BASE (0x22000000)
