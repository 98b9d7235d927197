#include "args.h"

#include "py/cstack.h"
#include "py/objint.h"

#define STACK_BYTES (5120) // what the deepest kernel takes (docs/kernels.md), and the way to it

// MicroPython looks at the stack when Python functions are called, with less to spare than that.
static void check_stack(const char *op) {
#if MICROPY_STACK_CHECK
    if (mp_cstack_usage() + STACK_BYTES > MP_STATE_THREAD(stack_limit)) {
        mp_raise_msg_varg(&mp_type_RuntimeError,
                          MP_ERROR_TEXT("%s: too little stack is left; call tti from a function "
                                        "less deep, or with a larger _thread.stack_size()"),
                          op);
    }
#endif
}

static void check_integer_type(const char *op, const char *name, mp_obj_t obj) {
    if (!mp_obj_is_int(obj)) {
        mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("%s: %s must be an integer, not %s"),
                          op, name, mp_obj_get_type_str(obj));
    }
}

void tti_check_range(const char *op, const char *name, int value, int low, int high) {
    if (value < low || value > high) {
        mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s: %s must be %d to %d, not %d"),
                          op, name, low, high, value);
    }
}

// Integers beyond 32 bits are beyond every range, and so are those that are no small int.
static int get_int(const char *op, const tti_arg_t *arg, mp_obj_t obj) {
    check_integer_type(op, arg->name, obj);
    mp_int_t value = mp_obj_is_small_int(obj) ? MP_OBJ_SMALL_INT_VALUE(obj) : 0;
    if (!mp_obj_is_small_int(obj) || value < INT32_MIN || value > INT32_MAX) {
        mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s: %s must be %d to %d"), op,
                          arg->name, (int)arg->low, (int)arg->high);
    }
    tti_check_range(op, arg->name, (int)value, arg->low, arg->high);
    return (int)value;
}

uint32_t tti_get_u32(const char *op, const char *name, mp_obj_t obj) {
    check_integer_type(op, name, obj);
    mp_obj_t limit = mp_obj_new_int_from_uint(0xFFFFFFFFu);
    if (mp_obj_int_sign(obj) < 0 || mp_binary_op(MP_BINARY_OP_MORE, obj, limit) == mp_const_true) {
        mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s: %s must be 0 to 4294967295"), op,
                          name);
    }
    return (uint32_t)mp_obj_int_get_truncated(obj);
}

void tti_check_multiple(const char *op, const char *name, int value, int of) {
    if (value % of != 0) {
        mp_raise_msg_varg(&mp_type_ValueError,
                          MP_ERROR_TEXT("%s: %s must be a multiple of %d, not %d"), op, name, of,
                          value);
    }
}

void tti_check_bytes(const char *op, const char *name, uint64_t needs, size_t has) {
    if (has < needs) {
        unsigned shown = needs < UINT32_MAX ? (unsigned)needs : UINT32_MAX;
        mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s: %s needs %u bytes, has %u"), op,
                          name, shown, (unsigned)has);
    }
}

mp_buffer_info_t tti_get_bytes(const char *op, const char *name, mp_obj_t obj) {
    mp_buffer_info_t info;
    if (!mp_get_buffer(obj, &info, MP_BUFFER_READ)) {
        mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("%s: %s must be a buffer, not %s"), op,
                          name, mp_obj_get_type_str(obj));
    }
    return info;
}

static uint64_t bytes_needed(const tti_arg_t *arg, const tti_value_t *values) {
    if (arg->size[0] == 0) {
        return 0;
    }
    uint64_t n = arg->type == TTI_ARG_S8 ? 1 : 4;
    for (size_t i = 0; i < MP_ARRAY_SIZE(arg->size) && arg->size[i] != 0; i++) {
        int size = arg->size[i];
        n *= (uint64_t)(size < 0 ? -size : values[size].i);
    }
    return n;
}

static void get_buffer(const char *op, const tti_arg_t *arg, mp_obj_t obj, tti_value_t *value) {
    mp_buffer_info_t info = tti_get_bytes(op, arg->name, obj);
    if ((arg->flags & TTI_ARG_WRITE) != 0 && !mp_get_buffer(obj, &info, MP_BUFFER_RW)) {
        mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("%s: %s must be a writable buffer"),
                          op, arg->name);
    }
    if (arg->type != TTI_ARG_S8 && (uintptr_t)info.buf % 4 != 0) {
        mp_raise_msg_varg(&mp_type_ValueError,
                          MP_ERROR_TEXT("%s: %s must begin at an address divisible by 4"), op,
                          arg->name);
    }
    value->p = info.buf;
    value->bytes = info.len;
}

void tti_check_integers(const char *op, const tti_arg_t *table, size_t count, const mp_obj_t *args,
                        tti_value_t *values) {
    check_stack(op);
    for (size_t i = 0; i < count; i++) {
        if (table[i].type == TTI_ARG_INT) {
            values[i].i = get_int(op, &table[i], args[i]);
        } else if (table[i].type == TTI_ARG_U32) {
            values[i].u = tti_get_u32(op, table[i].name, args[i]);
        }
    }
}

void tti_check_buffers(const char *op, const tti_arg_t *table, size_t count, const mp_obj_t *args,
                       tti_value_t *values) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].type == TTI_ARG_INT || table[i].type == TTI_ARG_U32) {
            continue;
        }
        if ((table[i].flags & TTI_ARG_OPTIONAL) != 0 && args[i] == mp_const_none) {
            values[i].p = NULL;
            values[i].bytes = 0;
            continue;
        }
        get_buffer(op, &table[i], args[i], &values[i]);
        tti_check_bytes(op, table[i].name, bytes_needed(&table[i], values), values[i].bytes);
    }
}
