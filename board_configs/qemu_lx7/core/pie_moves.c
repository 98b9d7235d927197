// Loads, stores, and moves between registers.
#include "pie_ops.h"

#include "trap.h"

_Noreturn void lx7_begin_fault(void); // trap_entry.S

void pie_refuse(void) {
    lx7_begin_fault();
}

// NAME_ip and NAME_xp: `action`, then the pointer v[at] moves on by v[at + 1].
#define BOTH_STEPS(name, at, action)                                                              \
    PIE(name##_ip) {                                                                              \
        action;                                                                                   \
        f->a[v[at]] += PIE_IP(at + 1);                                                            \
    }                                                                                             \
    PIE(name##_xp) {                                                                              \
        action;                                                                                   \
        f->a[v[at]] += PIE_XP(at + 1);                                                            \
    }

BOTH_STEPS(ee_vld_128, 1, pie.q[v[0]] = pie_load(f, v[1]))
BOTH_STEPS(ee_vst_128, 1, pie_store(f, v[1], pie.q[v[0]]))

static void load_half(const trap_frame_t *f, const int32_t *v, int half) {
    const uint32_t *from = (const uint32_t *)pie_address(f, v[1], 8);
    pie.q[v[0]].u32[2 * half] = from[0];
    pie.q[v[0]].u32[2 * half + 1] = from[1];
}

static void store_half(const trap_frame_t *f, const int32_t *v, int half) {
    uint32_t *to = (uint32_t *)pie_address(f, v[1], 8);
    to[0] = pie.q[v[0]].u32[2 * half];
    to[1] = pie.q[v[0]].u32[2 * half + 1];
}

BOTH_STEPS(ee_vld_l_64, 1, load_half(f, v, 0))
BOTH_STEPS(ee_vld_h_64, 1, load_half(f, v, 1))
BOTH_STEPS(ee_vst_l_64, 1, store_half(f, v, 0))
BOTH_STEPS(ee_vst_h_64, 1, store_half(f, v, 1))

static void load_all_8(const trap_frame_t *f, const int32_t *v) {
    uint8_t value = *(const uint8_t *)f->a[v[1]];
    for (int i = 0; i < 16; i++) {
        pie.q[v[0]].u8[i] = value;
    }
}

static void load_all_16(const trap_frame_t *f, const int32_t *v) {
    uint16_t value = *(const uint16_t *)pie_address(f, v[1], 2);
    for (int i = 0; i < 8; i++) {
        pie.q[v[0]].u16[i] = value;
    }
}

static void load_all_32(const trap_frame_t *f, const int32_t *v) {
    uint32_t value = *(const uint32_t *)pie_address(f, v[1], 4);
    for (int i = 0; i < 4; i++) {
        pie.q[v[0]].u32[i] = value;
    }
}

BOTH_STEPS(ee_vldbc_8, 1, load_all_8(f, v))
BOTH_STEPS(ee_vldbc_16, 1, load_all_16(f, v))
BOTH_STEPS(ee_vldbc_32, 1, load_all_32(f, v))

PIE(ee_vldbc_8) {
    load_all_8(f, v);
}

PIE(ee_vldbc_16) {
    load_all_16(f, v);
}

PIE(ee_vldbc_32) {
    load_all_32(f, v);
}

// Each of eight elements twice.
PIE(ee_vldhbc_16_incp) {
    pie_vector_t in = pie_load(f, v[2]);
    for (int i = 0; i < 8; i++) {
        pie.q[v[0]].u16[i] = in.u16[i / 2];
        pie.q[v[1]].u16[i] = in.u16[4 + i / 2];
    }
    f->a[v[2]] += 16;
}

// Loads from any address: the aligned block, and where in it the address is.
static void load_and_note(const trap_frame_t *f, const int32_t *v) {
    pie_vector_t in = pie_load(f, v[1]);
    pie.sar_byte = f->a[v[1]] & 15;
    pie.q[v[0]] = in;
}

BOTH_STEPS(ee_ld_128_usar, 1, load_and_note(f, v))

static void shift_and_load(const trap_frame_t *f, const int32_t *v) {
    pie_vector_t in = pie_load(f, v[1]), out = pie_shifted(v[3], v[4]);
    pie.q[v[3]] = out;
    pie.q[v[0]] = in;
}

BOTH_STEPS(ee_src_q_ld, 1, shift_and_load(f, v))

PIE(ee_srcq_128_st_incp) {
    pie_store(f, v[2], pie_shifted(v[0], v[1]));
    f->a[v[2]] += 16;
}

// The word that an element of a vector counts from a pointer.
static uint32_t *indexed(const trap_frame_t *f, const int32_t *v) {
    int32_t index = pie.q[v[1]].s16[v[4]];
    if (index < 0) {
        pie_refuse();
    }
    return (uint32_t *)((f->a[v[2]] + 4 * (uint32_t)index) & ~3u);
}

PIE(ee_ldxq_32) {
    pie.q[v[0]].u32[v[3]] = *indexed(f, v);
}

PIE(ee_stxq_32) {
    *indexed(f, v) = pie.q[v[0]].u32[v[3]];
}

// Float registers, which this code does not use itself: all of them to memory and back. The one
// named last is the lowest in memory.
static void load_floats(const trap_frame_t *f, const int32_t *v, int count) {
    uint32_t floats[16];
    const uint32_t *from = (const uint32_t *)pie_address(f, v[count], 4 * (uint32_t)count);
    trap_save_floats(floats);
    for (int i = 0; i < count; i++) {
        floats[v[count - 1 - i]] = from[i];
    }
    trap_restore_floats(floats);
}

static void store_floats(const trap_frame_t *f, const int32_t *v, int count) {
    uint32_t floats[16];
    uint32_t *to = (uint32_t *)pie_address(f, v[count], 4 * (uint32_t)count);
    trap_save_floats(floats);
    for (int i = 0; i < count; i++) {
        to[i] = floats[v[count - 1 - i]];
    }
}

BOTH_STEPS(ee_ldf_64, 2, load_floats(f, v, 2))
BOTH_STEPS(ee_ldf_128, 4, load_floats(f, v, 4))
BOTH_STEPS(ee_stf_64, 2, store_floats(f, v, 2))
BOTH_STEPS(ee_stf_128, 4, store_floats(f, v, 4))

// Accumulators

PIE(ee_ld_accx_ip) {
    const uint32_t *from = (const uint32_t *)pie_address(f, v[0], 8);
    pie.accx = pie_signed40((uint64_t)from[1] << 32 | from[0]);
    f->a[v[0]] += PIE_IP(1);
}

PIE(ee_st_accx_ip) {
    uint32_t *to = (uint32_t *)pie_address(f, v[0], 8);
    to[0] = (uint32_t)pie.accx;
    to[1] = (uint32_t)((uint64_t)pie.accx >> 32) & 0xFF;
    f->a[v[0]] += PIE_IP(1);
}

void pie_qacc_get(uint8_t bytes[40]) {
    for (int i = 0; i < 16; i += 2) {
        uint64_t pair = (uint64_t)pie_wide_lane(i / 2);
        for (int j = 0; j < 5; j++) {
            bytes[5 * i / 2 + j] = (uint8_t)(pair >> 8 * j);
        }
    }
}

void pie_qacc_set(const uint8_t bytes[40]) {
    for (int i = 0; i < 8; i++) {
        uint64_t pair = 0;
        for (int j = 4; j >= 0; j--) {
            pair = pair << 8 | bytes[5 * i + j];
        }
        pie_set_wide_lane(i, (int64_t)pair);
    }
}

// `size` bytes of QACC from byte `at` on.
static void load_qacc(trap_frame_t *f, const int32_t *v, int at, int size) {
    const uint8_t *from = (const uint8_t *)pie_address(f, v[0], (uint32_t)size);
    uint8_t bytes[40];
    pie_qacc_get(bytes);
    for (int i = 0; i < size; i++) {
        bytes[at + i] = from[i];
    }
    pie_qacc_set(bytes);
    f->a[v[0]] += PIE_IP(1);
}

static void store_qacc(trap_frame_t *f, const int32_t *v, int at, int size) {
    uint8_t *to = (uint8_t *)pie_address(f, v[0], (uint32_t)size);
    uint8_t bytes[40];
    pie_qacc_get(bytes);
    for (int i = 0; i < size; i++) {
        to[i] = bytes[at + i];
    }
    f->a[v[0]] += PIE_IP(1);
}

#define QACC_PART(part, at, size)                                                                 \
    PIE(ee_ld_qacc_##part##_ip) {                                                                 \
        load_qacc(f, v, at, size);                                                                \
    }                                                                                             \
    PIE(ee_st_qacc_##part##_ip) {                                                                 \
        store_qacc(f, v, at, size);                                                               \
    }

QACC_PART(l_l_128, 0, 16)
QACC_PART(l_h_32, 16, 4)
QACC_PART(h_l_128, 20, 16)
QACC_PART(h_h_32, 36, 4)

// Elements of a vector into QACC's lanes.
#define WIDEN(type, count, set)                                                                   \
    static void widen_##type(const pie_vector_t *x) {                                             \
        for (int i = 0; i < count; i++) {                                                         \
            set;                                                                                  \
        }                                                                                         \
    }                                                                                             \
    static void load_and_widen_##type(const trap_frame_t *f, const int32_t *v) {                  \
        pie_vector_t in = pie_load(f, v[0]);                                                      \
        widen_##type(&in);                                                                        \
    }                                                                                             \
    BOTH_STEPS(ee_ldqa_##type##_128, 0, load_and_widen_##type(f, v))                              \
    PIE(ee_mov_##type##_qacc) {                                                                   \
        (void)f;                                                                                  \
        widen_##type(&pie.q[v[0]]);                                                               \
    }

WIDEN(s8, 16, pie.qacc[i] = x->s8[i])
WIDEN(u8, 16, pie.qacc[i] = x->u8[i])
WIDEN(s16, 8, pie_set_wide_lane(i, x->s16[i]))
WIDEN(u16, 8, pie_set_wide_lane(i, x->u16[i]))

PIE(ee_ld_ua_state_ip) {
    pie.ua_state = pie_load(f, v[0]);
    f->a[v[0]] += PIE_IP(1);
}

PIE(ee_st_ua_state_ip) {
    pie_store(f, v[0], pie.ua_state);
    f->a[v[0]] += PIE_IP(1);
}

// Between registers

PIE(mv_qr) {
    (void)f;
    pie.q[v[0]] = pie.q[v[1]];
}

PIE(ee_movi_32_a) {
    f->a[v[1]] = pie.q[v[0]].u32[v[2]];
}

PIE(ee_movi_32_q) {
    pie.q[v[0]].u32[v[2]] = f->a[v[1]];
}

PIE(ee_zero_q) {
    (void)f;
    pie.q[v[0]] = (pie_vector_t){.u32 = {0}};
}

PIE(ee_zero_accx) {
    (void)f;
    (void)v;
    pie.accx = 0;
}

PIE(ee_zero_qacc) {
    (void)f;
    (void)v;
    for (int i = 0; i < 16; i++) {
        pie.qacc[i] = 0;
    }
}

// User registers, 32 bits of the state each or what is left of it.
#define USER(name, get, set)                                                                      \
    PIE(rur_##name) {                                                                             \
        f->a[v[0]] = (uint32_t)(get);                                                             \
    }                                                                                             \
    PIE(wur_##name) {                                                                             \
        uint32_t word = f->a[v[0]];                                                               \
        set;                                                                                      \
    }

static uint32_t qacc_word(int at) {
    uint8_t bytes[40];
    pie_qacc_get(bytes);
    return bytes[at] | (uint32_t)bytes[at + 1] << 8 | (uint32_t)bytes[at + 2] << 16 |
           (uint32_t)bytes[at + 3] << 24;
}

static void set_qacc_word(int at, uint32_t word) {
    uint8_t bytes[40];
    pie_qacc_get(bytes);
    for (int i = 0; i < 4; i++) {
        bytes[at + i] = (uint8_t)(word >> 8 * i);
    }
    pie_qacc_set(bytes);
}

#define USER_QACC(half, i, at) USER(qacc_##half##_##i, qacc_word(at), set_qacc_word(at, word))
#define USER_UA(i)             USER(ua_state_##i, pie.ua_state.u32[i], pie.ua_state.u32[i] = word)

USER(accx_0, pie.accx, pie.accx = (int64_t)(((uint64_t)pie.accx & ~0xFFFFFFFFull) | word))
USER(accx_1, (uint64_t)pie.accx >> 32 & 0xFF,
     pie.accx = pie_signed40((uint64_t)word << 32 | (uint32_t)pie.accx))
USER_QACC(l, 0, 0)
USER_QACC(l, 1, 4)
USER_QACC(l, 2, 8)
USER_QACC(l, 3, 12)
USER_QACC(l, 4, 16)
USER_QACC(h, 0, 20)
USER_QACC(h, 1, 24)
USER_QACC(h, 2, 28)
USER_QACC(h, 3, 32)
USER_QACC(h, 4, 36)
USER_UA(0)
USER_UA(1)
USER_UA(2)
USER_UA(3)
USER(sar_byte, pie.sar_byte, pie.sar_byte = word & 15)
USER(fft_bit_width, pie.fft_bit_width, pie.fft_bit_width = word & 15)
