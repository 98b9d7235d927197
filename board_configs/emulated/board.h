// What the parts of the emulated board know of each other.
#ifndef TTI_EMULATED_BOARD_H
#define TTI_EMULATED_BOARD_H

#include "py/obj.h"

extern const mp_obj_type_t emulated_flash_type;

// The linker script's: ends of the Python heap and of the stack. Their addresses are the values.
extern uint8_t _sheap, _eheap, _sstack, _estack;

void stack_paint(void); // as early as possible, for emulated.stack()

#endif
