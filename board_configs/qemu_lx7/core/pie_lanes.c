// Arithmetic lane by lane, bits, and bytes that move within registers.
#include "pie_ops.h"

// An instruction with three registers alone, with a load, with a store; the access moves 16
// bytes of v[0], and a store sees the register as it was before.
#define WITH_ACCESS(name, compute)                                                                \
    PIE(ee_##name##_ld_incp) {                                                                    \
        pie_vector_t out, loaded = pie_load(f, v[1]);                                             \
        compute(f, &out, &pie.q[v[3]], &pie.q[v[4]]);                                             \
        pie.q[v[2]] = out;                                                                        \
        pie.q[v[0]] = loaded;                                                                     \
        f->a[v[1]] += 16;                                                                         \
    }                                                                                             \
    PIE(ee_##name##_st_incp) {                                                                    \
        pie_vector_t out;                                                                         \
        compute(f, &out, &pie.q[v[3]], &pie.q[v[4]]);                                             \
        pie_store(f, v[1], pie.q[v[0]]);                                                          \
        pie.q[v[2]] = out;                                                                        \
        f->a[v[1]] += 16;                                                                         \
    }
#define ALONE(name, compute)                                                                      \
    PIE(ee_##name) {                                                                              \
        pie_vector_t out;                                                                         \
        compute(f, &out, &pie.q[v[1]], &pie.q[v[2]]);                                             \
        pie.q[v[0]] = out;                                                                        \
    }

// compute_<name>(): `value` is made from a and b, lanes of the kind `lanes`.
#define COMPUTE(name, lanes, count, value)                                                        \
    static void compute_##name(const trap_frame_t *f, pie_vector_t *out, const pie_vector_t *x,   \
                               const pie_vector_t *y) {                                           \
        (void)f;                                                                                  \
        for (int i = 0; i < count; i++) {                                                         \
            __typeof__(x->lanes[0]) a = x->lanes[i], b = y->lanes[i];                             \
            out->lanes[i] = (__typeof__(a))(value);                                               \
        }                                                                                         \
    }

#define ALL_FORMS(name, lanes, count, value)                                                      \
    COMPUTE(name, lanes, count, value)                                                            \
    ALONE(name, compute_##name)                                                                   \
    WITH_ACCESS(name, compute_##name)
#define ONE_FORM(name, lanes, count, value)                                                       \
    COMPUTE(name, lanes, count, value)                                                            \
    ALONE(name, compute_##name)

ALL_FORMS(vadds_s8, s8, 16, pie_clamp(a + b, INT8_MIN, INT8_MAX))
ALL_FORMS(vadds_s16, s16, 8, pie_clamp(a + b, INT16_MIN, INT16_MAX))
ALL_FORMS(vadds_s32, s32, 4, pie_clamp64((int64_t)a + b, INT32_MIN, INT32_MAX))
ALL_FORMS(vsubs_s8, s8, 16, pie_clamp(a - b, INT8_MIN, INT8_MAX))
ALL_FORMS(vsubs_s16, s16, 8, pie_clamp(a - b, INT16_MIN, INT16_MAX))
ALL_FORMS(vsubs_s32, s32, 4, pie_clamp64((int64_t)a - b, INT32_MIN, INT32_MAX))
ALL_FORMS(vmax_s8, s8, 16, a > b ? a : b)
ALL_FORMS(vmax_s16, s16, 8, a > b ? a : b)
ALL_FORMS(vmax_s32, s32, 4, a > b ? a : b)
ALL_FORMS(vmin_s8, s8, 16, a < b ? a : b)
ALL_FORMS(vmin_s16, s16, 8, a < b ? a : b)
ALL_FORMS(vmin_s32, s32, 4, a < b ? a : b)
ALL_FORMS(vmul_s8, s8, 16, a *b >> pie_sar(f))
ALL_FORMS(vmul_s16, s16, 8, a *b >> pie_sar(f))
ALL_FORMS(vmul_u8, u8, 16, (uint32_t)a *b >> pie_sar(f))
ALL_FORMS(vmul_u16, u16, 8, (uint32_t)a *b >> pie_sar(f))
ONE_FORM(vcmp_eq_s8, s8, 16, -(a == b))
ONE_FORM(vcmp_eq_s16, s16, 8, -(a == b))
ONE_FORM(vcmp_eq_s32, s32, 4, -(a == b))
ONE_FORM(vcmp_lt_s8, s8, 16, -(a < b))
ONE_FORM(vcmp_lt_s16, s16, 8, -(a < b))
ONE_FORM(vcmp_lt_s32, s32, 4, -(a < b))
ONE_FORM(vcmp_gt_s8, s8, 16, -(a > b))
ONE_FORM(vcmp_gt_s16, s16, 8, -(a > b))
ONE_FORM(vcmp_gt_s32, s32, 4, -(a > b))
ONE_FORM(andq, u32, 4, a &b)
ONE_FORM(orq, u32, 4, a | b)
ONE_FORM(xorq, u32, 4, a ^ b)

// A lane of s8 shifts by 31 at most, one of s16 by 63; the product has its sign all the way up.
static int32_t leak(int32_t lane, int32_t factor, uint32_t shift) {
    if (lane > 0) {
        return lane;
    }
    return lane * factor >> (shift > 31 ? 31 : shift);
}

PIE(ee_vrelu_s8) {
    for (int i = 0; i < 16; i++) {
        int8_t *lane = &pie.q[v[0]].s8[i];
        *lane = (int8_t)leak(*lane, (int8_t)f->a[v[1]], f->a[v[2]] & 31);
    }
}

PIE(ee_vrelu_s16) {
    for (int i = 0; i < 8; i++) {
        int16_t *lane = &pie.q[v[0]].s16[i];
        *lane = (int16_t)leak(*lane, (int16_t)f->a[v[1]], f->a[v[2]] & 63);
    }
}

PIE(ee_vprelu_s8) {
    for (int i = 0; i < 16; i++) {
        pie.q[v[0]].s8[i] = (int8_t)leak(pie.q[v[1]].s8[i], pie.q[v[2]].s8[i], f->a[v[3]] & 31);
    }
}

PIE(ee_vprelu_s16) {
    for (int i = 0; i < 8; i++) {
        pie.q[v[0]].s16[i] =
            (int16_t)leak(pie.q[v[1]].s16[i], pie.q[v[2]].s16[i], f->a[v[3]] & 63);
    }
}

PIE(ee_notq) {
    (void)f;
    for (int i = 0; i < 4; i++) {
        pie.q[v[0]].u32[i] = ~pie.q[v[1]].u32[i];
    }
}

PIE(ee_vsl_32) {
    for (int i = 0; i < 4; i++) {
        pie.q[v[0]].u32[i] = pie.q[v[1]].u32[i] << pie_sar(f);
    }
}

PIE(ee_vsr_32) {
    for (int i = 0; i < 4; i++) {
        pie.q[v[0]].s32[i] = pie.q[v[1]].s32[i] >> pie_sar(f);
    }
}

PIE(ee_src_q) {
    (void)f;
    pie.q[v[0]] = pie_shifted(v[1], v[2]);
}

PIE(ee_src_q_qup) {
    (void)f;
    pie_vector_t out = pie_shifted(v[1], v[2]);
    pie.q[v[1]] = pie.q[v[2]];
    pie.q[v[0]] = out;
}

// The pair high:low by `count` bytes up or down, zeros coming in.
static void shift_pair(int32_t high, int32_t low, int count) {
    uint8_t in[32], out[32];
    for (int i = 0; i < 16; i++) {
        in[i] = pie.q[low].u8[i];
        in[i + 16] = pie.q[high].u8[i];
    }
    for (int i = 0; i < 32; i++) {
        int from = i - count;
        out[i] = from < 0 || from > 31 ? 0 : in[from];
    }
    for (int i = 0; i < 16; i++) {
        pie.q[low].u8[i] = out[i];
        pie.q[high].u8[i] = out[i + 16];
    }
}

PIE(ee_slci_2q) {
    (void)f;
    shift_pair(v[0], v[1], v[2] + 1);
}

PIE(ee_srci_2q) {
    (void)f;
    shift_pair(v[0], v[1], -(v[2] + 1));
}

PIE(ee_slcxxp_2q) {
    shift_pair(v[0], v[1], (int)(f->a[v[2]] & 15) + 1);
    f->a[v[2]] += f->a[v[3]];
}

PIE(ee_srcxxp_2q) {
    shift_pair(v[0], v[1], -((int)(f->a[v[2]] & 15) + 1));
    f->a[v[2]] += f->a[v[3]];
}

// Lanes of a pair one from each in turn, and back.
#define ZIP(width, lanes, count)                                                                  \
    PIE(ee_vzip_##width) {                                                                        \
        (void)f;                                                                                  \
        pie_vector_t out[2], x = pie.q[v[0]], y = pie.q[v[1]];                                    \
        for (int i = 0; i < count; i++) {                                                         \
            out[2 * i / count].lanes[2 * i % count] = x.lanes[i];                                 \
            out[2 * i / count].lanes[2 * i % count + 1] = y.lanes[i];                             \
        }                                                                                         \
        pie.q[v[0]] = out[0];                                                                     \
        pie.q[v[1]] = out[1];                                                                     \
    }                                                                                             \
    PIE(ee_vunzip_##width) {                                                                      \
        (void)f;                                                                                  \
        pie_vector_t in[2] = {pie.q[v[0]], pie.q[v[1]]}, even, odd;                               \
        for (int i = 0; i < count; i++) {                                                         \
            even.lanes[i] = in[2 * i / count].lanes[2 * i % count];                               \
            odd.lanes[i] = in[2 * i / count].lanes[2 * i % count + 1];                            \
        }                                                                                         \
        pie.q[v[0]] = even;                                                                       \
        pie.q[v[1]] = odd;                                                                        \
    }

ZIP(8, u8, 16)
ZIP(16, u16, 8)
ZIP(32, u32, 4)
