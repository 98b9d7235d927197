// The model file for Python (format: docs/model-file.md). Offsets count from the start of the
// file; a damaged file is a ValueError whose text says what is wrong.
#include "args.h"
#include "ops.h"

#include "model_file.h"

// crc32(crc, buf) -> CRC-32 of everything so far; start with 0.
static mp_obj_t op_crc32(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    uint32_t crc = tti_get_u32("crc32", "crc", args[0]);
    mp_buffer_info_t bytes = tti_get_bytes("crc32", "buf", args[1]);
    return mp_obj_new_int_from_uint(tti_crc32(crc, bytes.buf, bytes.len));
}
TTI_DEFINE_OP(crc32, 2);

static void raise_unless_ok(const tti_model_t *m, tti_model_status_t status) {
    if (status != TTI_MODEL_OK) {
        char text[192];
        tti_model_explain(m, status, text, sizeof(text));
        mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("%s"), text);
    }
}

static tti_model_t get_checked_model(const mp_buffer_info_t *file) {
    tti_model_t m;
    tti_model_status_t status = tti_model_check(file->buf, file->len, &m);
    raise_unless_ok(&m, status);
    return m;
}

// model_check(buf) -> (offset of the metadata, its bytes, CRC of the data).
static mp_obj_t op_model_check(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t file = tti_get_bytes("model_check", "buf", args[0]);
    tti_model_t m = get_checked_model(&file);
    mp_obj_t items[] = {
        mp_obj_new_int_from_uint(m.metadata_offset),
        mp_obj_new_int_from_uint(m.metadata_bytes),
        mp_obj_new_int_from_uint(m.data_crc),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}
TTI_DEFINE_OP(model_check, 1);

// model_head_bytes(header, file_bytes) -> bytes of header and directory, from the first 64 bytes
// of a file that has file_bytes.
static mp_obj_t op_model_head_bytes(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t header = tti_get_bytes("model_head_bytes", "header", args[0]);
    uint32_t file_bytes = tti_get_u32("model_head_bytes", "file_bytes", args[1]);
    uint32_t bytes = tti_model_head_bytes(header.buf, header.len);
    if (bytes == 0) {
        tti_model_t m;
        raise_unless_ok(&m, tti_model_check_head(header.buf, header.len, file_bytes, &m));
    }
    return mp_obj_new_int_from_uint(bytes);
}
TTI_DEFINE_OP(model_head_bytes, 2);

// model_check_head(head, file_bytes) -> (offset of the metadata, its bytes, its CRC, offset of the
// data, CRC of the data) of a file of which only the head is in memory.
static mp_obj_t op_model_check_head(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t head = tti_get_bytes("model_check_head", "head", args[0]);
    uint32_t file_bytes = tti_get_u32("model_check_head", "file_bytes", args[1]);
    tti_model_t m;
    tti_model_status_t status = tti_model_check_head(head.buf, head.len, file_bytes, &m);
    raise_unless_ok(&m, status);
    mp_obj_t items[] = {
        mp_obj_new_int_from_uint(m.metadata_offset), mp_obj_new_int_from_uint(m.metadata_bytes),
        mp_obj_new_int_from_uint(m.metadata_crc),    mp_obj_new_int_from_uint(m.data_offset),
        mp_obj_new_int_from_uint(m.data_crc),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}
TTI_DEFINE_OP(model_check_head, 2);

static mp_obj_t op_model_verify(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t file = tti_get_bytes("model_verify", "buf", args[0]);
    tti_model_t m = get_checked_model(&file);
    tti_model_status_t status = tti_model_verify(&m);
    raise_unless_ok(&m, status);
    return mp_const_none;
}
TTI_DEFINE_OP(model_verify, 1);

// A look-up takes microseconds: only the header's CRC is checked, and that the directory lies
// inside the buffer. Any other damage was found by model_check().
static tti_model_t get_directory(const mp_buffer_info_t *file) {
    uint32_t head_bytes = tti_model_head_bytes(file->buf, file->len);
    if (head_bytes == 0 || head_bytes > file->len) {
        return get_checked_model(file);
    }
    tti_model_t m = {0};
    m.head = file->buf;
    m.tensor_count = (head_bytes - TTI_HEADER_BYTES) / TTI_ENTRY_BYTES;
    return m;
}

// model_find(buf, name) -> (offset, bytes, dtype code, shape, number of the scale tensor or -1),
// or None when the file has no such tensor.
static mp_obj_t op_model_find(size_t n_args, const mp_obj_t *args) {
    (void)n_args;
    mp_buffer_info_t file = tti_get_bytes("model_find", "buf", args[0]);
    if (!mp_obj_is_str(args[1])) {
        mp_raise_TypeError(MP_ERROR_TEXT("model_find: name must be a string"));
    }
    size_t len;
    const char *name = mp_obj_str_get_data(args[1], &len);
    tti_model_t m = get_directory(&file);
    tti_tensor_t tensor;
    if (tti_model_find(&m, name, len, &tensor) != TTI_MODEL_OK) {
        return mp_const_none;
    }
    mp_obj_t shape[TTI_MAX_RANK];
    for (size_t i = 0; i < tensor.rank; i++) {
        shape[i] = mp_obj_new_int_from_uint(tensor.shape[i]);
    }
    mp_obj_t items[] = {
        mp_obj_new_int_from_uint(tensor.offset),
        mp_obj_new_int_from_uint(tensor.bytes),
        MP_OBJ_NEW_SMALL_INT(tensor.dtype),
        mp_obj_new_tuple(tensor.rank, shape),
        MP_OBJ_NEW_SMALL_INT(tensor.scale == TTI_NO_SCALE ? -1 : (int)tensor.scale),
    };
    return mp_obj_new_tuple(MP_ARRAY_SIZE(items), items);
}
TTI_DEFINE_OP(model_find, 2);
