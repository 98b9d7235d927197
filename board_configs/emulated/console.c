// The board's console: the bytes that came in, Ctrl-C, and the way out.
#include "cpu.h"

#include "py/mphal.h"
#include "py/ringbuf.h"
#include "py/runtime.h"
#include "py/stream.h"

static uint8_t input_bytes[1024];
static ringbuf_t input = {input_bytes, sizeof(input_bytes), 0, 0};

bool console_has_room(void) {
    return ringbuf_free(&input) > 0;
}

// Called by the CPU's interrupt. Ctrl-C works at once, even while C code runs or earlier bytes
// wait to be read; those are dropped, as a terminal does.
void console_put(uint8_t byte) {
    if (byte == mp_interrupt_char) {
        while (ringbuf_get(&input) >= 0) {
        }
        mp_sched_keyboard_interrupt();
    } else {
        ringbuf_put(&input, byte);
    }
}

bool board_has_input(void) {
    return ringbuf_peek(&input) >= 0;
}

uintptr_t mp_hal_stdio_poll(uintptr_t poll_flags) {
    uintptr_t ready = poll_flags & MP_STREAM_POLL_WR;
    if (board_has_input()) {
        ready |= poll_flags & MP_STREAM_POLL_RD;
    }
    return ready;
}

int mp_hal_stdin_rx_chr(void) {
    for (;;) {
        mp_uint_t state = MICROPY_BEGIN_ATOMIC_SECTION();
        int c = ringbuf_get(&input);
        cpu_console_resume();
        MICROPY_END_ATOMIC_SECTION(state);
        if (c >= 0) {
            return c;
        }
        mp_event_wait_indefinite();
    }
}

mp_uint_t mp_hal_stdout_tx_strn(const char *text, size_t len) {
    cpu_console_write(text, len);
    return len;
}
