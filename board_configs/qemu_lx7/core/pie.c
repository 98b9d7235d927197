// Finds out which vector instruction raised the exception, and runs it and those behind it.
#include "pie.h"

#include <stddef.h>

#include "pie_ops.h"

// The linker script of a program that wants counts gives room for a word per byte of code.
extern uint32_t pie_counts[] __attribute__((weak));
extern const uint8_t _stext[], _etext[];

// So many instructions are run before interrupts get their turn again.
#define RUN_LENGTH (256)

#define KNOWN (2048) // a power of two

typedef struct {
    uint32_t pc;
    pie_function_t *run; // NULL: not an instruction of the vector unit
    uint32_t size;
    int32_t operands[PIE_MAX_OPERANDS];
} decoded_t;

pie_state_t pie;
uint64_t pie_executed;

// Code does not change, so an address is decoded once.
static decoded_t known[KNOWN];

uint32_t pie_word_at(uint32_t pc) {
    const uint32_t *words = (const uint32_t *)(pc & ~3u);
    uint32_t shift = (pc & 3) * 8;
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (32 - shift);
}

static int32_t operand_of(const pie_operand_t *operand, uint32_t word) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < operand->bits; i++) {
        value |= (word >> operand->at[i] & 1) << i;
    }
    if (operand->kind == 1) {
        value = (uint32_t)((int32_t)(value << (32 - operand->bits)) >> (32 - operand->bits));
    }
    return (int32_t)value * operand->step;
}

static const decoded_t *decode(uint32_t pc) {
    decoded_t *entry = &known[pc % KNOWN];
    if (entry->pc == pc) {
        return entry;
    }
    uint32_t word = pie_word_at(pc);
    uint32_t size = (word & 15) >= 14 ? 4 : 3;
    if (size == 3) {
        word &= 0xFFFFFF;
    }
    entry->pc = pc;
    entry->run = NULL;
    for (uint32_t i = 0; i < pie_opcode_count; i++) {
        const pie_opcode_t *opcode = &pie_opcodes[i];
        if (opcode->size == size && (word & opcode->mask) == opcode->word) {
            entry->run = opcode->run;
            entry->size = size;
            for (uint32_t j = 0; j < opcode->operands; j++) {
                entry->operands[j] = operand_of(&opcode->operand[j], word);
            }
            break;
        }
    }
    return entry;
}

bool pie_run(trap_frame_t *frame) {
    const decoded_t *now = decode(frame->pc);
    if (now->run == NULL) {
        return false;
    }
    for (int left = RUN_LENGTH; left > 0 && now->run != NULL; left--) {
        now->run(frame, now->operands);
        pie_executed++;
        uint32_t at = frame->pc - (uint32_t)_stext;
        if (pie_counts != NULL && at < (uint32_t)(_etext - _stext)) {
            pie_counts[at]++;
        }
        frame->pc += now->size;
        if (frame->pc == frame->lend && frame->lcount != 0) {
            frame->lcount--;
            frame->pc = frame->lbeg;
        }
        now = decode(frame->pc);
    }
    return true;
}
