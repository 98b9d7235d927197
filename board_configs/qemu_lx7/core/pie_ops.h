// What the functions of vector instructions share.
#ifndef TTI_QEMU_LX7_PIE_OPS_H
#define TTI_QEMU_LX7_PIE_OPS_H

#include "pie.h"

// PIE(ee_vld_128_ip) { … } executes the instruction ee.vld.128.ip with operands v[0], v[1], ….
#define PIE(name) void pie_##name(trap_frame_t *f, const int32_t *v)

// How a pointer moves on: by an immediate, by a register.
#define PIE_IP(i) ((uint32_t)v[i])
#define PIE_XP(i) (f->a[v[i]])

// What manual and chip do not agree on, or nobody knows, is a fault.
_Noreturn void pie_refuse(void);

// Addresses lose their low bits; the pointers that they come from do not.
static inline uint32_t pie_address(const trap_frame_t *f, int32_t pointer, uint32_t size) {
    return f->a[pointer] & -size;
}

static inline pie_vector_t pie_load(const trap_frame_t *f, int32_t pointer) {
    return *(const pie_vector_t *)pie_address(f, pointer, 16);
}

static inline void pie_store(const trap_frame_t *f, int32_t pointer, pie_vector_t value) {
    *(pie_vector_t *)pie_address(f, pointer, 16) = value;
}

static inline int32_t pie_clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

static inline int64_t pie_clamp64(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static inline int64_t pie_signed40(uint64_t value) {
    return (int64_t)(value << 24) >> 24;
}

static inline int32_t pie_signed20(uint32_t value) {
    return (int32_t)(value << 12) >> 12;
}

// The shift of those instructions that take it from SAR.
static inline uint32_t pie_sar(const trap_frame_t *f) {
    if (f->sar >= 32) {
        pie_refuse();
    }
    return f->sar;
}

// 16 bytes of a pair of registers, from byte SAR_BYTE of the first on.
static inline pie_vector_t pie_shifted(int32_t low, int32_t high) {
    pie_vector_t out;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t at = i + pie.sar_byte;
        out.u8[i] = at < 16 ? pie.q[low].u8[at] : pie.q[high].u8[at - 16];
    }
    return out;
}

// QACC as it lies in memory: 20 bytes for each half.
void pie_qacc_get(uint8_t bytes[40]);
void pie_qacc_set(const uint8_t bytes[40]);

// Lanes of 40 bits.
static inline int64_t pie_wide_lane(int i) {
    return (int64_t)pie.qacc[2 * i + 1] << 20 | (pie.qacc[2 * i] & 0xFFFFF);
}

static inline void pie_set_wide_lane(int i, int64_t value) {
    pie.qacc[2 * i] = pie_signed20((uint32_t)value);
    pie.qacc[2 * i + 1] = pie_signed20((uint32_t)(value >> 20));
}

#endif
