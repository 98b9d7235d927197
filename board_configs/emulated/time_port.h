// The module `time`: UTC, from the host's clock.
#include "py/mphal.h"
#include "py/obj.h"
#include "shared/timeutils/timeutils.h"

static uint32_t seconds_now(void) {
    return (uint32_t)(mp_hal_time_ns() / 1000000000ull);
}

static mp_obj_t mp_time_localtime_get(void) {
    timeutils_struct_time_t tm;
    timeutils_seconds_since_epoch_to_struct_time(seconds_now(), &tm);
    mp_obj_t items[] = {
        MP_OBJ_NEW_SMALL_INT(tm.tm_year), MP_OBJ_NEW_SMALL_INT(tm.tm_mon),
        MP_OBJ_NEW_SMALL_INT(tm.tm_mday), MP_OBJ_NEW_SMALL_INT(tm.tm_hour),
        MP_OBJ_NEW_SMALL_INT(tm.tm_min),  MP_OBJ_NEW_SMALL_INT(tm.tm_sec),
        MP_OBJ_NEW_SMALL_INT(tm.tm_wday), MP_OBJ_NEW_SMALL_INT(tm.tm_yday),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}

static mp_obj_t mp_time_time_get(void) {
    return mp_obj_new_int_from_uint(seconds_now());
}
