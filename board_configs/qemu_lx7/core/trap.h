// Exceptions and interrupts of the emulated core.
#ifndef TTI_QEMU_LX7_TRAP_H
#define TTI_QEMU_LX7_TRAP_H

#include <stdint.h>

// What trap_entry.S saves; lx7.h has the distances.
typedef struct {
    uint32_t a[16];
    uint32_t pc, cause, vaddr, ps, sar, lbeg, lend, lcount;
} trap_frame_t;

// ---- In the ABI without windows; whoever calls these is trap_entry.S.

void trap_handle(trap_frame_t *frame);
_Noreturn void trap_in_trap(uint32_t pc, uint32_t cause, uint32_t vaddr);
void trap_save_floats(uint32_t floats[16]);
void trap_restore_floats(const uint32_t floats[16]);

// ---- In the windowed ABI.

void spill_windows(void); // the registers of all callers go to the stack

// The program defines these two, which run with interrupts masked. The first must not use floats,
// vectors or alloca; the second begins on an empty stack.
void cpu_interrupt(void);
_Noreturn void cpu_fault(void);

// What cpu_fault() may tell: cause, pc and the address of the access.
extern trap_frame_t trap_frame;

#endif
