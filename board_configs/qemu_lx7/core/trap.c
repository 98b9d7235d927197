// What a trap is about. Compiled for the ABI without windows, as all of what traps run.
#include "trap.h"

#include "lx7.h"
#include "pie.h"

_Noreturn void lx7_begin_fault(void); // trap_entry.S

// movsp a_t, a_s: refused by the core where the caller's registers are on the stack, below the
// pointer that is to move; they move along.
static int move_stack(trap_frame_t *frame) {
    uint32_t word = pie_word_at(frame->pc);
    if ((word & 0xFFF00F) != 0x001000) {
        return 0;
    }
    const uint32_t *from = (const uint32_t *)(frame->a[1] - 16);
    uint32_t stack = frame->a[word >> 8 & 15];
    uint32_t *to = (uint32_t *)(stack - 16);
    uint32_t saved[4] = {from[0], from[1], from[2], from[3]};
    for (int i = 0; i < 4; i++) {
        to[i] = saved[i];
    }
    frame->a[word >> 4 & 15] = stack;
    frame->pc += 3;
    return 1;
}

void trap_handle(trap_frame_t *frame) {
    if (frame->cause == LX7_ILLEGAL && pie_run(frame)) {
        return;
    }
    if (frame->cause == LX7_ALLOCA && move_stack(frame)) {
        return;
    }
    lx7_begin_fault();
}

// The frame is that of the instruction whose access it was, unless a window handler made it.
void trap_in_trap(uint32_t pc, uint32_t cause, uint32_t vaddr) {
    extern const uint8_t vectors[];
    if (pc - (uint32_t)vectors < LX7_VECTORS_BYTES) {
        trap_frame.pc = pc;
    }
    trap_frame.cause = cause;
    trap_frame.vaddr = vaddr;
    lx7_begin_fault();
}
