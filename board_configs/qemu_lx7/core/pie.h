// The vector instructions of the ESP32-S3 on a core that does not have them: each raises an
// exception, and C does what the chip would (host/ttikit/pie/interpreter.py is the reference).
#ifndef TTI_QEMU_LX7_PIE_H
#define TTI_QEMU_LX7_PIE_H

#include <stdbool.h>
#include <stdint.h>

#include "trap.h"

typedef union {
    int8_t s8[16];
    uint8_t u8[16];
    int16_t s16[8];
    uint16_t u16[8];
    int32_t s32[4];
    uint32_t u32[4];
} pie_vector_t;

// The vector unit's registers. QACC has 320 bits, as 16 lanes of 20 or 8 of 40; each element here
// is 20 bits with their sign.
typedef struct {
    pie_vector_t q[8];
    pie_vector_t ua_state;
    int32_t qacc[16];
    int64_t accx; // 40 bits with their sign
    uint32_t sar_byte, fft_bit_width;
} pie_state_t;

extern pie_state_t pie;

// An instruction's operands in the order of its assembly syntax: numbers of registers, immediates.
// `frame` has the address registers.
typedef void pie_function_t(trap_frame_t *frame, const int32_t *operands);

#define PIE_MAX_OPERANDS 8

typedef struct {
    uint8_t kind; // 0 a number, 1 a number with sign, else the letter of a kind of register
    uint8_t step; // of an immediate
    uint8_t bits;
    uint8_t at[8]; // where its bits are, the lowest first
} pie_operand_t;

typedef struct {
    uint32_t word, mask;
    pie_function_t *run; // NULL: not emulated
    uint8_t size, operands;
    pie_operand_t operand[PIE_MAX_OPERANDS];
} pie_opcode_t;

// The table is made from host/ttikit/pie/opcodes.json.
extern const pie_opcode_t pie_opcodes[];
extern const uint32_t pie_opcode_count;

// How many instructions have been executed.
extern uint64_t pie_executed;

// Executes the instruction at frame->pc, and those behind it as long as they are the vector
// unit's; false if the first is not.
bool pie_run(trap_frame_t *frame);

// The bytes of an instruction, from any address.
uint32_t pie_word_at(uint32_t pc);

#endif
