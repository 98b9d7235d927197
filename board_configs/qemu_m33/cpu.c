// The Cortex-M33 of QEMU's mps2-an505: UART 0 is the console, the dual timer counts, SysTick
// wakes.
#include "cpu.h"

#include "an505.h"

#include "py/gc.h"
#include "py/mphal.h"
#include "shared/runtime/gchelper.h"

#define TICKS_PER_MS    (CPU_TICKS_PER_US * 1000)
#define LONGEST_WAKE_MS (500) // SysTick counts 24 bits

// SysTick interrupts after `ms`, and from then on every `ms`.
static void wake_every(uint32_t ms) {
    SYST_RVR = ms * TICKS_PER_MS - 1;
    SYST_CVR = 0;
    SYST_CSR = SYST_ENABLE | SYST_INTERRUPT | SYST_CPU_CLOCK;
}

void cpu_init(void) {
    TIMER_LOAD = 0xFFFFFFFF;
    TIMER_CONTROL = TIMER_ENABLE | TIMER_32_BITS;
    wake_every(LONGEST_WAKE_MS);
    UART0_BAUDDIV = 16;
    UART0_CTRL = UART_SEND | UART_RECEIVE | UART_RECEIVE_INTERRUPT;
    NVIC_ISER(UART0_RECEIVE_IRQ / 32) = 1u << UART0_RECEIVE_IRQ % 32;
}

uint32_t cpu_ticks(void) {
    return ~TIMER_VALUE; // it counts down
}

void SysTick_Handler(void) {
    clock_update();
}

void cpu_sleep(uint32_t ms) {
    wake_every(ms < LONGEST_WAKE_MS ? ms : LONGEST_WAKE_MS);
    __asm volatile("dsb\n\twfi" ::: "memory");
}

// While the board has no room the interrupt stays off, and QEMU keeps what comes.
static void receive(void) {
    while ((UART0_STATE & UART_RECEIVED) != 0) {
        if (!console_has_room()) {
            UART0_CTRL &= ~UART_RECEIVE_INTERRUPT;
            return;
        }
        console_put((uint8_t)UART0_DATA);
    }
}

void UART0_Receive_Handler(void) {
    UART0_INTCLEAR = UART_RECEIVED_CLEAR;
    receive();
}

void cpu_console_resume(void) {
    if ((UART0_CTRL & UART_RECEIVE_INTERRUPT) == 0) {
        UART0_CTRL |= UART_RECEIVE_INTERRUPT;
        receive();
    }
}

void cpu_console_write(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        while ((UART0_STATE & UART_SEND_FULL) != 0) {
        }
        UART0_DATA = (uint8_t)text[i];
    }
}

// QEMU maps the file.
void cpu_flash_changed(const void *start, size_t bytes) {
    (void)start;
    (void)bytes;
}

_Noreturn void cpu_reset(void) {
    SCB_AIRCR = AIRCR_RESET;
    __asm volatile("dsb" ::: "memory");
    for (;;) {
    }
}

void gc_collect(void) {
    gc_collect_start();
    gc_helper_collect_regs_and_stack();
    gc_collect_end();
}
