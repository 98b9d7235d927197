// Who has the memory that the board has set aside for pictures (native/reserve).
#include "ops.h"

#include "reserve.h"

#include "py/objarray.h"
#include "py/objtuple.h"
#include "py/runtime.h"

typedef struct {
    mp_obj_base_t base;
} reserved_t;

// Not a root pointer: what nobody draws with any more is collected, and its finaliser gives the
// memory back.
static const reserved_t *borrower;

// parts() -> tuple of memoryviews; empty if nothing is set aside or another one has it. (A
// bytearray could be made to grow.)
static mp_obj_t reserved_parts(mp_obj_t self) {
    size_t count;
    const tti_part_t *parts = tti_reserved(&count);
    if (borrower != MP_OBJ_TO_PTR(self)) {
        return mp_const_empty_tuple;
    }
    mp_obj_tuple_t *tuple = MP_OBJ_TO_PTR(mp_obj_new_tuple(count, NULL));
    for (size_t i = 0; i < count; i++) {
        tuple->items[i] = mp_obj_new_memoryview('B' | MP_OBJ_ARRAY_TYPECODE_FLAG_RW,
                                                parts[i].bytes, parts[i].start);
    }
    return MP_OBJ_FROM_PTR(tuple);
}
static MP_DEFINE_CONST_FUN_OBJ_1(reserved_parts_obj, reserved_parts);

// end(): gives the memory back; may be called again.
static mp_obj_t reserved_end(mp_obj_t self) {
    if (borrower == MP_OBJ_TO_PTR(self)) {
        borrower = NULL;
    }
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(reserved_end_obj, reserved_end);

static const mp_rom_map_elem_t reserved_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_parts), MP_ROM_PTR(&reserved_parts_obj)},
    {MP_ROM_QSTR(MP_QSTR_end), MP_ROM_PTR(&reserved_end_obj)},
    {MP_ROM_QSTR(MP_QSTR___del__), MP_ROM_PTR(&reserved_end_obj)},
};
static MP_DEFINE_CONST_DICT(reserved_locals, reserved_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(reserved_type, MP_QSTR_Reserved, MP_TYPE_FLAG_NONE, locals_dict,
                                &reserved_locals);

// reserved() -> object with parts() and end(). It has the memory if no other one does.
static mp_obj_t op_reserved(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    (void)args;
    reserved_t *self = mp_obj_malloc_with_finaliser(reserved_t, &reserved_type);
    if (borrower == NULL) {
        borrower = self;
    }
    return MP_OBJ_FROM_PTR(self);
}
TTI_DEFINE_OP(reserved, 0);
