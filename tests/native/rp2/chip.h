// What parallel_rp2.c needs of MicroPython's rp2 port and of the Pico SDK, on a PC: core 1 is a
// thread. chip.c has the behaviour, with the port's own traps.
#ifndef CHIP_H
#define CHIP_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *(*core_entry_func_t)(void *);
extern core_entry_func_t core1_entry; // not NULL while core 1 is taken
uintptr_t mp_thread_create(core_entry_func_t entry, void *arg, size_t *stack_size);

typedef struct {
    jmp_buf place;
} nlr_buf_t;
extern nlr_buf_t *chip_nlr;
#define nlr_push(buf) (chip_nlr = (buf), setjmp((buf)->place))
void nlr_pop(void);

#define __dsb() __sync_synchronize()
void __sev(void);
void __wfe(void);
void multicore_reset_core1(void);
static inline void tight_loop_contents(void) {
}

// For the tests.
extern bool chip_no_memory; // the next thread finds no memory for its stack
extern int chip_resets;     // of core 1
void chip_soft_reset(void);

#endif
