// The module `emulated`: the flash as a block device, and how deep the stack has been.
#include "board.h"

#include "py/runtime.h"

#define UNTOUCHED (0x5A)

// Bytes below this function's frame that it may use itself.
#define OWN_FRAME (64)

void stack_paint(void) {
    uint8_t *end = (uint8_t *)__builtin_frame_address(0) - OWN_FRAME;
    for (volatile uint8_t *byte = &_sstack; byte < end; byte++) {
        *byte = UNTOUCHED;
    }
}

// stack() -> (bytes that the stack has had at most since the reset, bytes that it may have)
static mp_obj_t emulated_stack(void) {
    const uint8_t *byte = &_sstack;
    while (byte < &_estack && *byte == UNTOUCHED) {
        byte++;
    }
    mp_obj_t items[] = {
        MP_OBJ_NEW_SMALL_INT(&_estack - byte),
        MP_OBJ_NEW_SMALL_INT(&_estack - &_sstack),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}
static MP_DEFINE_CONST_FUN_OBJ_0(emulated_stack_obj, emulated_stack);

static const mp_rom_map_elem_t emulated_table[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_emulated)},
    {MP_ROM_QSTR(MP_QSTR_Flash), MP_ROM_PTR(&emulated_flash_type)},
    {MP_ROM_QSTR(MP_QSTR_stack), MP_ROM_PTR(&emulated_stack_obj)},
};
static MP_DEFINE_CONST_DICT(emulated_globals, emulated_table);

const mp_obj_module_t emulated_module = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&emulated_globals,
};
MP_REGISTER_MODULE(MP_QSTR_emulated, emulated_module);
