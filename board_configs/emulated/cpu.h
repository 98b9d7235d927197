// What a CPU gives to the emulated board, and what it gets from it.
#ifndef TTI_EMULATED_CPU_H
#define TTI_EMULATED_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- The CPU's part defines these, and CPU_TICKS_PER_US in its mphalport.h.

void cpu_init(void); // starts the console and the counter, enables interrupts

// A counter that never stops, CPU_TICKS_PER_US a microsecond; wraps after 32 bits.
uint32_t cpu_ticks(void);

// Sleeps until an interrupt or for `ms` (at least 1), whichever is first; clock_update() is called
// at least once a minute whether it sleeps or not. Interrupts are masked, and still end the sleep.
void cpu_sleep(uint32_t ms);

void cpu_console_write(const char *text, size_t len); // waits until the console has taken it
void cpu_console_resume(void);                        // console_has_room() again

void cpu_flash_changed(const void *start, size_t bytes); // if it is not the host's file itself

// The host's services, by semihosting.
bool cpu_host_random(void *buf, size_t len); // fills buf from the host's /dev/urandom
uint32_t cpu_host_seconds(void);             // of the wall clock, since 1970
void cpu_host_error(const char *line);       // to the emulator's standard error
_Noreturn void cpu_host_exit(int status);    // ends the emulator

_Noreturn void cpu_reset(void); // as the reset button does

// ---- The board's part defines these.

int main(void);

// Says on the console and on the emulator's standard error that the board has stopped, and why,
// then ends the emulator: a fault must never look like a board that is thinking.
_Noreturn void board_stop(const char *why);
#define BOARD_STOPPED (99) // the emulator's exit status then

void clock_update(void); // at least once per wrap of cpu_ticks(), from interrupts or not

// A byte has come in; without room for it the CPU's part keeps it until cpu_console_resume().
bool console_has_room(void);
void console_put(uint8_t byte);

#endif
