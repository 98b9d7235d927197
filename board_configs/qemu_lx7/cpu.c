// The Xtensa LX7 of QEMU's machine sim. The console is QEMU's standard input and output, a
// terminal that never blocks; a timer interrupt looks whether something has come in.
#include "board.h"
#include "cpu.h"

#include <stdio.h>

#include "flash_file.h"
#include "host.h"
#include "lx7.h"
#include "trap.h"

#include "py/gc.h"
#include "py/mphal.h"

#define POLL_TICKS  (1000 * CPU_TICKS_PER_US)
#define STACK_REACH (256)     // so near to the end of the stack a fault is the stack's
#define TIMER_MASK  (1u << 6) // the interrupt of CCOMPARE0

_Noreturn void lx7_restart(void); // core/start.S

// The PC may stop the emulator between two instructions: a time that has passed by then would come
// again only when the counter has been all around.
static void wake_in(uint32_t ticks) {
    uint32_t at;
    do {
        at = cpu_ticks() + ticks;
        __asm volatile("wsr %0, ccompare0\n\tesync" ::"r"(at));
    } while ((int32_t)(at - cpu_ticks()) <= 0);
}

void cpu_init(void) {
    flash_load();
    wake_in(POLL_TICKS);
    uint32_t before;
    __asm volatile("wsr %1, intenable\n\trsil %0, 0" : "=r"(before) : "r"(TIMER_MASK) : "memory");
}

uint32_t cpu_ticks(void) {
    uint32_t count;
    __asm volatile("rsr %0, ccount" : "=r"(count));
    return count;
}

// While the board has no room the terminal keeps what comes. False if nobody has it open.
static bool receive(void) {
    uint8_t byte;
    while (console_has_room()) {
        host_answer_t got = host_ask(HOST_READ, HOST_INPUT, (uintptr_t)&byte, 1);
        if (got.answer != 1) {
            return got.reason != HOST_IO_ERROR;
        }
        console_put(byte);
    }
    return true;
}

void cpu_interrupt(void) {
    wake_in(POLL_TICKS);
    clock_update();
    receive();
}

// Every interrupt ends the sleep, and one comes each millisecond.
void cpu_sleep(uint32_t ms) {
    (void)ms;
    __asm volatile("waiti 0" ::: "memory");
}

void cpu_console_resume(void) {
    receive();
}

// Waits for somebody who is slow, not for nobody.
void cpu_console_write(const char *text, size_t len) {
    while (len > 0) {
        host_answer_t put = host_ask(HOST_WRITE, HOST_OUTPUT, (uintptr_t)text, len);
        if (put.answer > 0) {
            text += put.answer;
            len -= (size_t)put.answer;
            continue;
        }
        mp_uint_t state = MICROPY_BEGIN_ATOMIC_SECTION();
        bool heard = put.reason == HOST_TRY_AGAIN && receive();
        MICROPY_END_ATOMIC_SECTION(state);
        if (!heard) {
            return;
        }
    }
}

void cpu_reset(void) {
    lx7_restart();
}

// The interpreter's pointers may be in the windows of the callers.
void gc_collect(void) {
    gc_collect_start();
    spill_windows();
    // The registers of this function's caller lie below the frame.
    uintptr_t *stack = (uintptr_t *)__builtin_frame_address(0) - 4;
    gc_collect_root((void **)stack, (size_t)((uintptr_t *)&_estack - stack));
    gc_collect_end();
}

void cpu_fault(void) {
    static char text[160];
    uint32_t stack = trap_frame.a[1];
    snprintf(text, sizeof(text), "%s, cause %u address 0x%08x pc 0x%08x a0 0x%08x sp 0x%08x",
             stack - STACK_REACH < (uintptr_t)&_sstack ? "stack overflow" : "hard fault",
             (unsigned)trap_frame.cause, (unsigned)trap_frame.vaddr, (unsigned)trap_frame.pc,
             (unsigned)trap_frame.a[0], (unsigned)stack);
    board_stop(text);
}

_Noreturn void abort(void) {
    board_stop("abort()");
}
