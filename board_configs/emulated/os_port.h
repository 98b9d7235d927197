// os.urandom: the host's own random source.
#include "cpu.h"

#include "py/mperrno.h"
#include "py/runtime.h"

static mp_obj_t mp_os_urandom(mp_obj_t count) {
    mp_int_t n = mp_obj_get_int(count);
    if (n < 0) {
        mp_raise_ValueError(NULL);
    }
    vstr_t bytes;
    vstr_init_len(&bytes, (size_t)n);
    if (!cpu_host_random(bytes.buf, (size_t)n)) {
        mp_raise_OSError(MP_EIO);
    }
    return mp_obj_new_bytes_from_vstr(&bytes);
}
static MP_DEFINE_CONST_FUN_OBJ_1(mp_os_urandom_obj, mp_os_urandom);
