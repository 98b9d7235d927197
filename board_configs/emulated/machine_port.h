// The module `machine`: reset, and the time-out of idle().
#include "cpu.h"

#include "py/mphal.h"

static void mp_machine_idle(void) {
    board_wait(1);
}

static void mp_machine_reset(void) {
    cpu_reset();
}

static mp_int_t mp_machine_reset_cause(void) {
    return 0; // QEMU does not tell one kind of reset from another
}
