// Multiply and accumulate. An access that is part of the instruction comes after the arithmetic,
// and what it loads is not seen by it.
#include "pie_ops.h"

#define ACCX_MAX ((1ll << 39) - 1)
#define ACCX_MIN (-ACCX_MAX - 1)
#define LANE_MAX (0x7FFFF)
#define LANE_MIN (-0x80000)

static void accx_s8(int32_t x, int32_t y) {
    const int8_t *a = pie.q[x].s8, *b = pie.q[y].s8;
    int32_t sum = 0;
    for (int i = 0; i < 16; i++) {
        sum += a[i] * b[i];
    }
    pie.accx = pie_clamp64(pie.accx + sum, ACCX_MIN, ACCX_MAX);
}

static void accx_s16(int32_t x, int32_t y) {
    int64_t sum = pie.accx;
    for (int i = 0; i < 8; i++) {
        sum += pie.q[x].s16[i] * pie.q[y].s16[i];
    }
    pie.accx = pie_clamp64(sum, ACCX_MIN, ACCX_MAX);
}

static void accx_unsigned(uint64_t sum) {
    uint64_t all = ((uint64_t)pie.accx & 0xFFFFFFFFFFull) + sum;
    pie.accx = pie_signed40(all > 0xFFFFFFFFFFull ? 0xFFFFFFFFFFull : all);
}

static void accx_u8(int32_t x, int32_t y) {
    uint32_t sum = 0;
    for (int i = 0; i < 16; i++) {
        sum += (uint32_t)pie.q[x].u8[i] * pie.q[y].u8[i];
    }
    accx_unsigned(sum);
}

static void accx_u16(int32_t x, int32_t y) {
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        sum += (uint32_t)pie.q[x].u16[i] * pie.q[y].u16[i];
    }
    accx_unsigned(sum);
}

static void qacc_s8(int32_t x, int32_t y) {
    for (int i = 0; i < 16; i++) {
        pie.qacc[i] = pie_clamp(pie.qacc[i] + pie.q[x].s8[i] * pie.q[y].s8[i], LANE_MIN, LANE_MAX);
    }
}

static void qacc_s16(int32_t x, int32_t y) {
    for (int i = 0; i < 8; i++) {
        int64_t sum = pie_wide_lane(i) + pie.q[x].s16[i] * pie.q[y].s16[i];
        pie_set_wide_lane(i, pie_clamp64(sum, ACCX_MIN, ACCX_MAX));
    }
}

static void qacc_u8(int32_t x, int32_t y) {
    for (int i = 0; i < 16; i++) {
        uint32_t sum =
            ((uint32_t)pie.qacc[i] & 0xFFFFF) + (uint32_t)pie.q[x].u8[i] * pie.q[y].u8[i];
        pie.qacc[i] = pie_signed20(sum > 0xFFFFF ? 0xFFFFF : sum);
    }
}

static void qacc_u16(int32_t x, int32_t y) {
    for (int i = 0; i < 8; i++) {
        uint64_t sum = ((uint64_t)pie_wide_lane(i) & 0xFFFFFFFFFFull) +
                       (uint32_t)pie.q[x].u16[i] * pie.q[y].u16[i];
        pie_set_wide_lane(i, pie_signed40(sum > 0xFFFFFFFFFFull ? 0xFFFFFFFFFFull : sum));
    }
}

// The forms that every pair of type and accumulator has. Their operands are: loaded register,
// pointer, step, x, y, and with qup the pair that is shifted.
#define PLAIN_AND_FUSED(type, to)                                                                 \
    PIE(ee_vmulas_##type##_##to) {                                                                \
        (void)f;                                                                                  \
        to##_##type(v[0], v[1]);                                                                  \
    }                                                                                             \
    FUSED(type, to, ip, PIE_IP)                                                                   \
    FUSED(type, to, xp, PIE_XP)

#define FUSED(type, to, mode, STEP)                                                               \
    PIE(ee_vmulas_##type##_##to##_ld_##mode) {                                                    \
        pie_vector_t loaded = pie_load(f, v[1]);                                                  \
        to##_##type(v[3], v[4]);                                                                  \
        pie.q[v[0]] = loaded;                                                                     \
        f->a[v[1]] += STEP(2);                                                                    \
    }                                                                                             \
    PIE(ee_vmulas_##type##_##to##_ld_##mode##_qup) {                                              \
        pie_vector_t loaded = pie_load(f, v[1]), aligned = pie_shifted(v[5], v[6]);               \
        to##_##type(v[3], v[4]);                                                                  \
        pie.q[v[5]] = aligned;                                                                    \
        pie.q[v[0]] = loaded;                                                                     \
        f->a[v[1]] += STEP(2);                                                                    \
    }

PLAIN_AND_FUSED(s8, accx)
PLAIN_AND_FUSED(u8, accx)
PLAIN_AND_FUSED(s16, accx)
PLAIN_AND_FUSED(u16, accx)
PLAIN_AND_FUSED(s8, qacc)
PLAIN_AND_FUSED(u8, qacc)
PLAIN_AND_FUSED(s16, qacc)
PLAIN_AND_FUSED(u16, qacc)

// QACC alone has a form that loads one element into all lanes.
static void load_all_lanes(const trap_frame_t *f, int32_t to, int32_t pointer, uint32_t size) {
    uint32_t at = pie_address(f, pointer, size);
    for (int i = 0; i < 16; i++) {
        pie.q[to].u8[i] = ((const uint8_t *)at)[(uint32_t)i % size];
    }
}

#define BROADCAST(type, size)                                                                     \
    PIE(ee_vmulas_##type##_qacc_ldbc_incp) {                                                      \
        qacc_##type(v[2], v[3]);                                                                  \
        load_all_lanes(f, v[0], v[1], size);                                                      \
        f->a[v[1]] += size;                                                                       \
    }                                                                                             \
    PIE(ee_vmulas_##type##_qacc_ldbc_incp_qup) {                                                  \
        pie_vector_t aligned = pie_shifted(v[4], v[5]);                                           \
        qacc_##type(v[2], v[3]);                                                                  \
        pie.q[v[4]] = aligned;                                                                    \
        load_all_lanes(f, v[0], v[1], size);                                                      \
        f->a[v[1]] += size;                                                                       \
    }

BROADCAST(s8, 1)
BROADCAST(u8, 1)
BROADCAST(s16, 2)
BROADCAST(u16, 2)

// One lane of y times all of x.
static void scaled_s8(int32_t x, int32_t y, int32_t lane) {
    int32_t factor = pie.q[y].s8[lane];
    for (int i = 0; i < 16; i++) {
        pie.qacc[i] = pie_clamp(pie.qacc[i] + pie.q[x].s8[i] * factor, LANE_MIN, LANE_MAX);
    }
}

static void scaled_s16(int32_t x, int32_t y, int32_t lane) {
    int32_t factor = pie.q[y].s16[lane];
    for (int i = 0; i < 8; i++) {
        int64_t sum = pie_wide_lane(i) + pie.q[x].s16[i] * factor;
        pie_set_wide_lane(i, pie_clamp64(sum, ACCX_MIN, ACCX_MAX));
    }
}

#define SCALED(type)                                                                              \
    PIE(ee_vsmulas_##type##_qacc) {                                                               \
        (void)f;                                                                                  \
        scaled_##type(v[0], v[1], v[2]);                                                          \
    }                                                                                             \
    PIE(ee_vsmulas_##type##_qacc_ld_incp) {                                                       \
        pie_vector_t loaded = pie_load(f, v[1]);                                                  \
        scaled_##type(v[2], v[3], v[4]);                                                          \
        pie.q[v[0]] = loaded;                                                                     \
        f->a[v[1]] += 16;                                                                         \
    }

SCALED(s8)
SCALED(s16)

// Out of the accumulators, with a shift that stays in them.
PIE(ee_srcmb_s8_qacc) {
    uint32_t shift = f->a[v[1]] & 31;
    for (int i = 0; i < 16; i++) {
        pie.qacc[i] >>= shift;
        pie.q[v[0]].s8[i] = (int8_t)pie_clamp(pie.qacc[i], -128, 127);
    }
}

PIE(ee_srcmb_s16_qacc) {
    uint32_t shift = f->a[v[1]] & 63;
    for (int i = 0; i < 8; i++) {
        int64_t lane = pie_wide_lane(i) >> shift;
        pie_set_wide_lane(i, lane);
        pie.q[v[0]].s16[i] = (int16_t)pie_clamp64(lane, -32768, 32767);
    }
}

PIE(ee_srs_accx) {
    pie.accx >>= f->a[v[1]] & 63;
    f->a[v[0]] = (uint32_t)pie_clamp64(pie.accx, INT32_MIN, INT32_MAX);
}
