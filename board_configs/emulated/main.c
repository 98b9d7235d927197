// MicroPython on the emulated board: start, prompt, soft reset, the end.
#include "board.h"
#include "cpu.h"

#include <string.h>

#include "py/cstack.h"
#include "py/gc.h"
#include "py/mphal.h"
#include "py/runtime.h"
#include "shared/readline/readline.h"
#include "shared/runtime/pyexec.h"

#define LAST_WORDS_US (1000000)

// One life between two soft resets: boot.py, main.py, then the prompt until Ctrl-D.
static void live(void) {
    pyexec_frozen_module("_boot.py", false);
    int ret = pyexec_file_if_exists("boot.py");
    if ((ret & PYEXEC_FORCED_EXIT) != 0) {
        return;
    }
    if (pyexec_mode_kind == PYEXEC_MODE_FRIENDLY_REPL && ret != 0) {
        ret = pyexec_file_if_exists("main.py");
        if ((ret & PYEXEC_FORCED_EXIT) != 0) {
            return;
        }
    }
    do {
        ret =
            pyexec_mode_kind == PYEXEC_MODE_RAW_REPL ? pyexec_raw_repl() : pyexec_friendly_repl();
    } while (ret == 0);
}

int main(void) {
    stack_paint();
    cpu_init();
    mp_cstack_init_with_top(&_estack, (size_t)(&_estack - &_sstack));
    gc_init(&_sheap, &_eheap);
    for (;;) {
        mp_init();
        readline_init0();
        live();
        mp_hal_stdout_tx_strn("MPY: soft reboot\r\n", 18);
        gc_sweep_all();
        mp_deinit();
    }
}

uint32_t board_random_u32(void) {
    uint32_t value = cpu_ticks();
    cpu_host_random(&value, sizeof(value));
    return value;
}

_Noreturn void board_stop(const char *why) {
    const char *const parts[] = {"\r\nboard stopped: ", why, "\r\n"};
    for (size_t i = 0; i < MP_ARRAY_SIZE(parts); i++) {
        cpu_console_write(parts[i], strlen(parts[i]));
    }
    cpu_host_error(why);
    // The terminal goes with the emulator, and with it what nobody has read yet.
    for (uint32_t start = cpu_ticks(); cpu_ticks() - start < LAST_WORDS_US * CPU_TICKS_PER_US;) {
    }
    cpu_host_exit(BOARD_STOPPED);
}

void nlr_jump_fail(void *val) {
    (void)val;
    board_stop("an exception that nothing catches");
}
