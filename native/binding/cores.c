// Who has the second core (native/parallel).
#include "args.h"
#include "ops.h"

#include "parallel.h"

// A PC draws a picture in 0.1 s; waking another thread 2,000 times for it takes longer than it
// saves.
#ifdef TTI_PARALLEL_unix
#define BEST 1
#else
#define BEST 2
#endif

#if defined(TTI_PARALLEL_unix) && MICROPY_ASYNC_KBD_INTR
#error                                                                                            \
    "Ctrl-C must not jump out of an op that two cores compute: MICROPY_ASYNC_KBD_INTR has to be 0"
#endif

typedef struct {
    mp_obj_base_t base;
} cores_t;

// The one whose picture is drawn. Not a root pointer: a picture that nobody draws on with is
// collected, and its finaliser gives the core back.
static const cores_t *owner;

// count() -> cores that ops use: 2 until another picture has taken the second one.
static mp_obj_t cores_count(mp_obj_t self) {
    return MP_OBJ_NEW_SMALL_INT(owner == MP_OBJ_TO_PTR(self) ? 2 : 1);
}
static MP_DEFINE_CONST_FUN_OBJ_1(cores_count_obj, cores_count);

// end(): gives the second core back; may be called again.
static mp_obj_t cores_end(mp_obj_t self) {
    if (owner == MP_OBJ_TO_PTR(self)) {
        owner = NULL; // first, so that a worker that another thread starts meanwhile has an owner
        tti_parallel_stop();
    }
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(cores_end_obj, cores_end);

static const mp_rom_map_elem_t cores_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_count), MP_ROM_PTR(&cores_count_obj)},
    {MP_ROM_QSTR(MP_QSTR_end), MP_ROM_PTR(&cores_end_obj)},
    {MP_ROM_QSTR(MP_QSTR___del__), MP_ROM_PTR(&cores_end_obj)},
};
static MP_DEFINE_CONST_DICT(cores_locals, cores_locals_table);

static MP_DEFINE_CONST_OBJ_TYPE(cores_type, MP_QSTR_Cores, MP_TYPE_FLAG_NONE, locals_dict,
                                &cores_locals);

// cores(n) -> object with count() and end(); 0 asks for what is best here. It takes the second
// core from who had it before.
static mp_obj_t op_cores(size_t n_args, const mp_obj_t *args) {
    static const tti_arg_t table[] = {INTEGER("n", 0, 2)};
    tti_value_t v[1];
    (void)n_args;
    TTI_CHECK_INTEGERS("cores", table, args, v);
    cores_t *self = mp_obj_malloc_with_finaliser(cores_t, &cores_type);
    int n = v[0].i != 0 ? v[0].i : BEST;
    if (n == 2 && tti_parallel_start()) {
        owner = self;
    }
    return MP_OBJ_FROM_PTR(self);
}
TTI_DEFINE_OP(cores, 1);
