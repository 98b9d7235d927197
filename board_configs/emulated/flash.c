// The board's flash: a region of memory with the contents of a file of the host. Its first part
// holds a ROMFS, used in place; the rest is the block device of the file system. Like NOR flash,
// it is erased by blocks to ones, and a write turns ones into zeros only.
#include "board.h"
#include "cpu.h"

#include <string.h>

#include "extmod/vfs.h"
#include "py/mperrno.h"
#include "py/runtime.h"

#define BLOCK_BYTES (4096)

typedef struct {
    mp_obj_base_t base;
    uint8_t *start;
    size_t bytes;
} flash_obj_t;

static flash_obj_t romfs = {
    {&emulated_flash_type}, (uint8_t *)BOARD_FLASH_BASE, BOARD_ROMFS_BYTES};
static flash_obj_t storage = {{&emulated_flash_type},
                              (uint8_t *)BOARD_FLASH_BASE + BOARD_ROMFS_BYTES,
                              BOARD_FLASH_BYTES - BOARD_ROMFS_BYTES};

static mp_obj_t flash_make_new(const mp_obj_type_t *type, size_t n_args, size_t n_kw,
                               const mp_obj_t *args) {
    (void)type;
    (void)args;
    mp_arg_check_num(n_args, n_kw, 0, 0, false);
    return MP_OBJ_FROM_PTR(&storage);
}

static mp_int_t flash_get_buffer(mp_obj_t self_in, mp_buffer_info_t *info, mp_uint_t flags) {
    if (flags != MP_BUFFER_READ) {
        return 1;
    }
    flash_obj_t *self = MP_OBJ_TO_PTR(self_in);
    info->buf = self->start;
    info->len = self->bytes;
    info->typecode = 'B';
    return 0;
}

// The `bytes` that begin `offset` bytes into a block, or OSError if they are not all in the flash.
static uint8_t *flash_range(mp_obj_t self_in, mp_obj_t block, mp_int_t offset, size_t bytes) {
    flash_obj_t *self = MP_OBJ_TO_PTR(self_in);
    mp_int_t number = mp_obj_get_int(block);
    if (number < 0 || (size_t)number >= self->bytes / BLOCK_BYTES || offset < 0 ||
        (size_t)offset > BLOCK_BYTES) {
        mp_raise_OSError(MP_EINVAL);
    }
    size_t start = (size_t)number * BLOCK_BYTES + (size_t)offset;
    if (bytes > self->bytes - start) {
        mp_raise_OSError(MP_EINVAL);
    }
    return self->start + start;
}

static void flash_erase(uint8_t *block) {
    memset(block, 0xFF, BLOCK_BYTES);
    cpu_flash_changed(block, BLOCK_BYTES);
}

// readblocks(block, buf, offset=0)
static mp_obj_t flash_readblocks(size_t n_args, const mp_obj_t *args) {
    mp_buffer_info_t to;
    mp_get_buffer_raise(args[2], &to, MP_BUFFER_WRITE);
    mp_int_t offset = n_args == 4 ? mp_obj_get_int(args[3]) : 0;
    memcpy(to.buf, flash_range(args[0], args[1], offset, to.len), to.len);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(flash_readblocks_obj, 3, 4, flash_readblocks);

// writeblocks(block, buf) erases first, writeblocks(block, buf, offset) does not.
static mp_obj_t flash_writeblocks(size_t n_args, const mp_obj_t *args) {
    mp_buffer_info_t from;
    mp_get_buffer_raise(args[2], &from, MP_BUFFER_READ);
    mp_int_t offset = n_args == 4 ? mp_obj_get_int(args[3]) : 0;
    uint8_t *to = flash_range(args[0], args[1], offset, from.len);
    if (n_args == 3) {
        memset(to, 0xFF, from.len);
    }
    const uint8_t *bytes = from.buf;
    for (size_t i = 0; i < from.len; i++) {
        to[i] &= bytes[i];
    }
    cpu_flash_changed(to, from.len);
    return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(flash_writeblocks_obj, 3, 4, flash_writeblocks);

static mp_obj_t flash_ioctl(mp_obj_t self_in, mp_obj_t command, mp_obj_t arg) {
    flash_obj_t *self = MP_OBJ_TO_PTR(self_in);
    switch (mp_obj_get_int(command)) {
    case MP_BLOCKDEV_IOCTL_INIT:
    case MP_BLOCKDEV_IOCTL_DEINIT:
    case MP_BLOCKDEV_IOCTL_SYNC:
        return MP_OBJ_NEW_SMALL_INT(0);
    case MP_BLOCKDEV_IOCTL_BLOCK_COUNT:
        return MP_OBJ_NEW_SMALL_INT(self->bytes / BLOCK_BYTES);
    case MP_BLOCKDEV_IOCTL_BLOCK_SIZE:
        return MP_OBJ_NEW_SMALL_INT(BLOCK_BYTES);
    case MP_BLOCKDEV_IOCTL_BLOCK_ERASE:
        flash_erase(flash_range(self_in, arg, 0, BLOCK_BYTES));
        return MP_OBJ_NEW_SMALL_INT(0);
    default:
        return mp_const_none;
    }
}
static MP_DEFINE_CONST_FUN_OBJ_3(flash_ioctl_obj, flash_ioctl);

static const mp_rom_map_elem_t flash_table[] = {
    {MP_ROM_QSTR(MP_QSTR_readblocks), MP_ROM_PTR(&flash_readblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_writeblocks), MP_ROM_PTR(&flash_writeblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_ioctl), MP_ROM_PTR(&flash_ioctl_obj)},
};
static MP_DEFINE_CONST_DICT(flash_locals, flash_table);

MP_DEFINE_CONST_OBJ_TYPE(emulated_flash_type, MP_QSTR_Flash, MP_TYPE_FLAG_NONE, make_new,
                         flash_make_new, buffer, flash_get_buffer, locals_dict, &flash_locals);

// vfs.rom_ioctl(command, segment): there is one segment, written through its block device.
mp_obj_t mp_vfs_rom_ioctl(size_t n_args, const mp_obj_t *args) {
    mp_int_t command = mp_obj_get_int(args[0]);
    if (command == MP_VFS_ROM_IOCTL_GET_NUMBER_OF_SEGMENTS) {
        return MP_OBJ_NEW_SMALL_INT(1);
    }
    if (command == MP_VFS_ROM_IOCTL_GET_SEGMENT && n_args == 2 && mp_obj_get_int(args[1]) == 0) {
        return MP_OBJ_FROM_PTR(&romfs);
    }
    return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
}
