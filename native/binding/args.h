// Checked arguments for the ops of `_tti`.
//
// Each op has a table with one line per argument. An integer has a range; a buffer has an element
// type and a size, the product of the integer arguments whose positions are listed. Everything is
// checked before a kernel runs: TypeError for an object of the wrong kind, ValueError for a wrong
// range, a short buffer or a misaligned address. ttikit.simulator makes the same checks in the
// same words.
#ifndef TTI_BINDING_ARGS_H
#define TTI_BINDING_ARGS_H

#include "py/obj.h"
#include "py/runtime.h"

#include "tti_kernels.h"

typedef enum {
    TTI_ARG_INT,
    TTI_ARG_U32,
    TTI_ARG_S8,
    TTI_ARG_F32,
    TTI_ARG_I32
} tti_arg_type_t;

enum {
    TTI_ARG_WRITE = 1,
    TTI_ARG_OPTIONAL = 2
};

// In a buffer's size list: position of an integer argument, or a constant factor. The first
// argument is never an integer, so position 0 ends the list; a list of only 0 asks for nothing.
#define TTI_TIMES(n) (-(n))

typedef struct {
    const char *name;
    uint8_t type;  // tti_arg_type_t
    uint8_t flags; // TTI_ARG_WRITE, TTI_ARG_OPTIONAL
    int16_t size[3];
    int32_t low, high; // range of an integer
} tti_arg_t;

typedef struct {
    void *p;      // address of a buffer, NULL for None
    size_t bytes; // its length, at least what the table asks for
    int i;        // integer
    uint32_t u;   // TTI_ARG_U32
} tti_value_t;

#define WRITES(name, type, ...)   {name, TTI_ARG_##type, TTI_ARG_WRITE, {__VA_ARGS__}, 0, 0}
#define READS(name, type, ...)    {name, TTI_ARG_##type, 0, {__VA_ARGS__}, 0, 0}
#define OPTIONAL(name, type, ...) {name, TTI_ARG_##type, TTI_ARG_OPTIONAL, {__VA_ARGS__}, 0, 0}
#define INTEGER(name, low, high)  {name, TTI_ARG_INT, 0, {0}, low, high}
#define UNSIGNED(name)            {name, TTI_ARG_U32, 0, {0}, 0, 0}
// With these limits the product of three sizes, or of a length and two, fits 64 bits.
#define SIZE(name)                INTEGER(name, 1, 65536)   // rows, columns, channels ...
#define LENGTH(name)              INTEGER(name, 1, 1 << 24) // of a vector
// Its range depends on other arguments; tti_check_range() states it.
#define ANY_INTEGER(name)         INTEGER(name, INT32_MIN, INT32_MAX)

// Fill the integers, then the buffers of values[count] from args[count], or raise. The buffers'
// sizes depend on the integers, so further checks of those belong between the two calls.
void tti_check_integers(const char *op, const tti_arg_t *table, size_t count, const mp_obj_t *args,
                        tti_value_t *values);
void tti_check_buffers(const char *op, const tti_arg_t *table, size_t count, const mp_obj_t *args,
                       tti_value_t *values);

#define TTI_CHECK_INTEGERS(op, table, args, values)                                               \
    do {                                                                                          \
        MP_STATIC_ASSERT(MP_ARRAY_SIZE(table) == MP_ARRAY_SIZE(values));                          \
        tti_check_integers(op, table, MP_ARRAY_SIZE(table), args, values);                        \
    } while (0)

#define TTI_CHECK_BUFFERS(op, table, args, values)                                                \
    tti_check_buffers(op, table, MP_ARRAY_SIZE(table), args, values)

#define TTI_CHECK(op, table, args, values)                                                        \
    do {                                                                                          \
        TTI_CHECK_INTEGERS(op, table, args, values);                                              \
        TTI_CHECK_BUFFERS(op, table, args, values);                                               \
    } while (0)

// Further checks for what a table cannot express; each raises ValueError.
void tti_check_range(const char *op, const char *name, int value, int low, int high);
void tti_check_multiple(const char *op, const char *name, int value, int of);
void tti_check_bytes(const char *op, const char *name, uint64_t needs, size_t has);

// The value of an integer object in 0 ... 2^32 - 1, or raises.
uint32_t tti_get_u32(const char *op, const char *name, mp_obj_t obj);

// A readable buffer of any length, or raises.
mp_buffer_info_t tti_get_bytes(const char *op, const char *name, mp_obj_t obj);

#endif
