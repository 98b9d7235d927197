// Reader of the model file `.tti`; see model_file.h for the interface, docs/model-file.md for the
// format. Fields of the header and of a directory entry, all little-endian:
//
//   header                              directory entry
//    0  magic, 8 bytes                   0  name, zero-padded to 32 bytes
//    8  version                         32  dtype, 1 byte
//   12  number of tensors               33  layout, 1 byte
//   16  bytes of the file               34  index of the scale tensor, 2 bytes
//   20  directory: offset, bytes        36  shape, 4 numbers, unused ones 0
//   28  metadata: offset, bytes         52  offset from the start of the file
//   36  data: offset, bytes             56  bytes
//   44  reserved, 0                     60  CRC of the tensor
//   48  CRC of directory, metadata, data
//   60  CRC of the 60 bytes before
#include "model_file.h"

#include <string.h>

enum {
    H_VERSION = 8,
    H_COUNT = 12,
    H_FILE_BYTES = 16,
    H_DIRECTORY = 20,
    H_METADATA = 28,
    H_DATA = 36,
    H_RESERVED = 44,
    H_DIRECTORY_CRC = 48,
    H_METADATA_CRC = 52,
    H_DATA_CRC = 56,
    H_CRC = 60,
    E_DTYPE = 32,
    E_LAYOUT = 33,
    E_SCALE = 34,
    E_SHAPE = 36,
    E_OFFSET = 52,
    E_BYTES = 56,
    E_CRC = 60,
    NAME_FIELD = 32,
};

static const uint8_t magic[8] = {0x89, 'T', 'T', 'I', '\r', '\n', 0x1A, '\n'};

// The table of a CRC is linear: the entry of a byte is the XOR of the entries of its bits.
#define IF_BIT(n, bit, value) (((n) & (bit)) ? (value) : 0u)
#define CRC1(n)                                                                                   \
    (IF_BIT(n, 1, 0x77073096u) ^ IF_BIT(n, 2, 0xEE0E612Cu) ^ IF_BIT(n, 4, 0x076DC419u) ^          \
     IF_BIT(n, 8, 0x0EDB8832u) ^ IF_BIT(n, 16, 0x1DB71064u) ^ IF_BIT(n, 32, 0x3B6E20C8u) ^        \
     IF_BIT(n, 64, 0x76DC4190u) ^ IF_BIT(n, 128, 0xEDB88320u))
#define CRC4(n)  CRC1(n), CRC1((n) + 1), CRC1((n) + 2), CRC1((n) + 3)
#define CRC16(n) CRC4(n), CRC4((n) + 4), CRC4((n) + 8), CRC4((n) + 12)
#define CRC64(n) CRC16(n), CRC16((n) + 16), CRC16((n) + 32), CRC16((n) + 48)

static const uint32_t crc_table[256] = {CRC64(0), CRC64(64), CRC64(128), CRC64(192)};

uint32_t tti_crc32(uint32_t crc, const uint8_t *bytes, size_t len) {
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc = (crc >> 8) ^ crc_table[(crc ^ bytes[i]) & 0xFF];
    }
    return ~crc;
}

static uint32_t get_u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get_u32(const uint8_t *p) {
    return get_u16(p) | get_u16(p + 2) << 16;
}

// Callers make sure that n + 15 fits into 32 bits.
static uint32_t align_up(uint32_t n) {
    return (n + TTI_TENSOR_ALIGN - 1) & ~(TTI_TENSOR_ALIGN - 1);
}

static bool all_zero(const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

uint32_t tti_dtype_size(uint32_t dtype) {
    switch (dtype) {
    case TTI_S8:
    case TTI_U8:
        return 1;
    case TTI_S16:
    case TTI_U16:
        return 2;
    case TTI_S32:
    case TTI_U32:
    case TTI_F32:
        return 4;
    default:
        return 0;
    }
}

// ---- header ------------------------------------------------------------------------------------

static tti_model_status_t check_signature(const uint8_t *h, size_t len) {
    if (len < TTI_HEADER_BYTES) {
        return TTI_MODEL_TOO_SHORT;
    }
    if (memcmp(h, magic, sizeof(magic)) != 0) {
        return memcmp(h + 1, magic + 1, 3) == 0 ? TTI_MODEL_TEXT_MODE : TTI_MODEL_MAGIC;
    }
    if (get_u32(h + H_VERSION) != TTI_FORMAT_VERSION) {
        return TTI_MODEL_VERSION;
    }
    if (get_u32(h + H_CRC) != tti_crc32(0, h, H_CRC)) {
        return TTI_MODEL_HEADER_CRC;
    }
    return get_u32(h + H_RESERVED) == 0 ? TTI_MODEL_OK : TTI_MODEL_RESERVED;
}

static tti_model_status_t check_count(const uint8_t *h) {
    uint32_t count = get_u32(h + H_COUNT);
    return count >= 1 && count <= TTI_MAX_TENSORS ? TTI_MODEL_OK : TTI_MODEL_COUNT;
}

// The three sections follow each other without choice; with the limits on count and metadata
// none of these sums can overflow.
static tti_model_status_t check_sections(const uint8_t *h) {
    uint32_t file_bytes = get_u32(h + H_FILE_BYTES);
    uint32_t directory_bytes = get_u32(h + H_COUNT) * TTI_ENTRY_BYTES;
    uint32_t metadata_offset = TTI_HEADER_BYTES + directory_bytes;
    uint32_t metadata_bytes = get_u32(h + H_METADATA + 4);
    if (get_u32(h + H_DIRECTORY) != TTI_HEADER_BYTES ||
        get_u32(h + H_DIRECTORY + 4) != directory_bytes ||
        get_u32(h + H_METADATA) != metadata_offset || metadata_bytes == 0 ||
        metadata_bytes > TTI_MAX_METADATA_BYTES) {
        return TTI_MODEL_SECTIONS;
    }
    uint32_t data_offset = align_up(metadata_offset + metadata_bytes);
    if (get_u32(h + H_DATA) != data_offset || file_bytes < data_offset + TTI_TAIL_BYTES ||
        get_u32(h + H_DATA + 4) != file_bytes - data_offset) {
        return TTI_MODEL_SECTIONS;
    }
    return TTI_MODEL_OK;
}

static void load_header(tti_model_t *m) {
    const uint8_t *h = m->head;
    m->file_bytes = get_u32(h + H_FILE_BYTES);
    m->tensor_count = get_u32(h + H_COUNT);
    m->metadata_offset = get_u32(h + H_METADATA);
    m->metadata_bytes = get_u32(h + H_METADATA + 4);
    m->data_offset = get_u32(h + H_DATA);
    m->data_bytes = get_u32(h + H_DATA + 4);
    m->metadata_crc = get_u32(h + H_METADATA_CRC);
    m->data_crc = get_u32(h + H_DATA_CRC);
}

uint32_t tti_model_head_bytes(const uint8_t *header, size_t len) {
    if (check_signature(header, len) != TTI_MODEL_OK || check_count(header) != TTI_MODEL_OK) {
        return 0;
    }
    return TTI_HEADER_BYTES + get_u32(header + H_COUNT) * TTI_ENTRY_BYTES;
}

// ---- directory ---------------------------------------------------------------------------------

static const uint8_t *entry_at(const tti_model_t *m, uint32_t index) {
    return m->head + TTI_HEADER_BYTES + (size_t)index * TTI_ENTRY_BYTES;
}

static bool is_name_char(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-' || c == '/';
}

static size_t name_length(const uint8_t *e) {
    size_t len = 0;
    while (len < NAME_FIELD && e[len] != 0) {
        len++;
    }
    return len;
}

static tti_model_status_t check_name(const uint8_t *e) {
    size_t len = name_length(e);
    if (len == 0 || len > TTI_MAX_NAME_BYTES || !all_zero(e + len, NAME_FIELD - len)) {
        return TTI_MODEL_NAME;
    }
    for (size_t i = 0; i < len; i++) {
        if (!is_name_char(e[i])) {
            return TTI_MODEL_NAME;
        }
    }
    return TTI_MODEL_OK;
}

// One bit for each value of a hash of the names seen; most names need no comparison at all.
enum {
    SEEN_BITS = 2048
};

static bool is_duplicate(const tti_model_t *m, uint32_t index, uint32_t seen[SEEN_BITS / 32]) {
    uint32_t hash = tti_crc32(0, entry_at(m, index), NAME_FIELD) % SEEN_BITS;
    uint32_t bit = UINT32_C(1) << (hash % 32);
    if ((seen[hash / 32] & bit) == 0) {
        seen[hash / 32] |= bit;
        return false;
    }
    for (uint32_t j = 0; j < index; j++) {
        if (memcmp(entry_at(m, j), entry_at(m, index), NAME_FIELD) == 0) {
            return true;
        }
    }
    return false;
}

// The dimensions up to the first 0 count; after it all must be 0.
static uint8_t get_rank(const uint8_t *e) {
    uint8_t rank = 0;
    while (rank < TTI_MAX_RANK && get_u32(e + E_SHAPE + 4 * rank) != 0) {
        rank++;
    }
    return rank;
}

// Number of elements, or 0 if the shape has a hole or its bytes do not fit into 32 bits.
static uint32_t get_elements(const uint8_t *e, uint32_t size) {
    uint8_t rank = get_rank(e);
    if (!all_zero(e + E_SHAPE + 4 * rank, 4 * (TTI_MAX_RANK - rank))) {
        return 0;
    }
    uint32_t elements = 1;
    for (uint8_t i = 0; i < rank; i++) {
        uint32_t dim = get_u32(e + E_SHAPE + 4 * i);
        if (elements > UINT32_MAX / size / dim) {
            return 0;
        }
        elements *= dim;
    }
    return elements;
}

// Checks one entry by itself; *expected is where its tensor must start and then where the next
// must.
static tti_model_status_t check_entry(const tti_model_t *m, const uint8_t *e, uint32_t *expected) {
    uint32_t size = tti_dtype_size(e[E_DTYPE]);
    if (size == 0) {
        return TTI_MODEL_DTYPE;
    }
    if (e[E_LAYOUT] != 0) {
        return TTI_MODEL_LAYOUT;
    }
    uint32_t elements = get_elements(e, size);
    if (elements == 0) {
        return TTI_MODEL_SHAPE;
    }
    uint32_t bytes = get_u32(e + E_BYTES);
    if (bytes != elements * size) {
        return TTI_MODEL_BYTES;
    }
    uint32_t offset = get_u32(e + E_OFFSET);
    uint32_t limit = m->file_bytes - TTI_TAIL_BYTES;
    if (offset != *expected || offset > limit || bytes > limit - offset) {
        return TTI_MODEL_OFFSET;
    }
    *expected = align_up(offset + bytes);
    return TTI_MODEL_OK;
}

// A scale tensor is float32, has no scale itself and holds one value, or one per row.
static tti_model_status_t check_scale(const tti_model_t *m, const uint8_t *e) {
    uint32_t scale = get_u16(e + E_SCALE);
    if (scale == TTI_NO_SCALE) {
        return TTI_MODEL_OK;
    }
    if (scale >= m->tensor_count || e[E_DTYPE] == TTI_F32) {
        return TTI_MODEL_SCALE;
    }
    const uint8_t *s = entry_at(m, scale);
    if (s[E_DTYPE] != TTI_F32 || get_u16(s + E_SCALE) != TTI_NO_SCALE) {
        return TTI_MODEL_SCALE;
    }
    uint32_t values = get_elements(s, 4);
    return values == 1 || values == get_u32(e + E_SHAPE) ? TTI_MODEL_OK : TTI_MODEL_SCALE;
}

static tti_model_status_t check_directory(tti_model_t *m) {
    tti_model_status_t status;
    uint32_t seen[SEEN_BITS / 32] = {0};
    uint32_t expected = m->data_offset;
    for (m->culprit = 0; m->culprit < m->tensor_count; m->culprit++) {
        const uint8_t *e = entry_at(m, m->culprit);
        if ((status = check_name(e)) != TTI_MODEL_OK) {
            return status;
        }
        if (is_duplicate(m, m->culprit, seen)) {
            return TTI_MODEL_DUPLICATE;
        }
        if ((status = check_entry(m, e, &expected)) != TTI_MODEL_OK) {
            return status;
        }
    }
    for (m->culprit = 0; m->culprit < m->tensor_count; m->culprit++) {
        if ((status = check_scale(m, entry_at(m, m->culprit))) != TTI_MODEL_OK) {
            return status;
        }
    }
    m->culprit = TTI_NO_TENSOR;
    // Written so that it cannot overflow: expected is at most file_bytes - 32 + 15.
    return expected == m->file_bytes - TTI_TAIL_BYTES ? TTI_MODEL_OK : TTI_MODEL_TAIL;
}

// ---- checks ------------------------------------------------------------------------------------

tti_model_status_t tti_model_check_head(const uint8_t *head, size_t head_len, size_t file_len,
                                        tti_model_t *m) {
    memset(m, 0, sizeof(*m));
    m->head = head;
    m->culprit = TTI_NO_TENSOR;
    tti_model_status_t status = check_signature(head, head_len);
    if (status != TTI_MODEL_OK) {
        return status;
    }
    uint32_t file_bytes = get_u32(head + H_FILE_BYTES);
    if (file_len != file_bytes) {
        return file_len < file_bytes ? TTI_MODEL_TRUNCATED : TTI_MODEL_TRAILING;
    }
    if ((status = check_count(head)) != TTI_MODEL_OK ||
        (status = check_sections(head)) != TTI_MODEL_OK) {
        return status;
    }
    load_header(m);
    if (head_len < m->metadata_offset) {
        return TTI_MODEL_TOO_SHORT;
    }
    const uint8_t *directory = entry_at(m, 0);
    uint32_t crc = tti_crc32(0, directory, m->metadata_offset - TTI_HEADER_BYTES);
    if (crc != get_u32(head + H_DIRECTORY_CRC)) {
        return TTI_MODEL_DIRECTORY_CRC;
    }
    return check_directory(m);
}

tti_model_status_t tti_model_check(const uint8_t *file, size_t len, tti_model_t *m) {
    tti_model_status_t status = tti_model_check_head(file, len, len, m);
    if (status != TTI_MODEL_OK) {
        return status;
    }
    const uint8_t *metadata = file + m->metadata_offset;
    uint32_t padded = m->data_offset - m->metadata_offset;
    if (tti_crc32(0, metadata, padded) != m->metadata_crc) {
        return TTI_MODEL_METADATA_CRC;
    }
    if (!all_zero(metadata + m->metadata_bytes, padded - m->metadata_bytes)) {
        return TTI_MODEL_PADDING;
    }
    m->file = file;
    return TTI_MODEL_OK;
}

void tti_verify_begin(tti_verify_t *v, tti_model_t *m) {
    memset(v, 0, sizeof(*v));
    v->model = m;
    v->position = m->data_offset;
    m->culprit = TTI_NO_TENSOR;
}

// Takes the bytes up to the next border (end of a tensor, or of the padding after it).
static uint32_t verify_piece(tti_verify_t *v, const uint8_t *bytes, uint32_t len) {
    const tti_model_t *m = v->model;
    const uint8_t *e = entry_at(m, v->index);
    uint32_t end = get_u32(e + E_OFFSET) + get_u32(e + E_BYTES);
    bool last = v->index + 1 == m->tensor_count;
    uint32_t next = last ? m->file_bytes : get_u32(e + TTI_ENTRY_BYTES + E_OFFSET);
    bool inside = v->position < end;
    uint32_t left = (inside ? end : next) - v->position;
    uint32_t take = len < left ? len : left;
    if (inside) {
        v->tensor_crc = tti_crc32(v->tensor_crc, bytes, take);
    } else if (!all_zero(bytes, take)) {
        v->status = TTI_MODEL_PADDING;
    }
    v->position += take;
    if (inside && v->position == end && v->tensor_crc != get_u32(e + E_CRC)) {
        v->status = TTI_MODEL_TENSOR_CRC;
    }
    if (v->status != TTI_MODEL_OK) {
        v->model->culprit = v->index;
    } else if (v->position == next && !last) {
        v->index++;
        v->tensor_crc = 0;
    }
    return take;
}

tti_model_status_t tti_verify_feed(tti_verify_t *v, const uint8_t *bytes, size_t len) {
    if (v->status == TTI_MODEL_OK && len > v->model->file_bytes - v->position) {
        v->status = TTI_MODEL_TRAILING;
    }
    if (v->status != TTI_MODEL_OK) {
        return v->status;
    }
    v->data_crc = tti_crc32(v->data_crc, bytes, len);
    while (len > 0 && v->status == TTI_MODEL_OK) {
        uint32_t taken = verify_piece(v, bytes, (uint32_t)len);
        bytes += taken;
        len -= taken;
    }
    return v->status;
}

tti_model_status_t tti_verify_end(tti_verify_t *v) {
    if (v->status == TTI_MODEL_OK && v->position != v->model->file_bytes) {
        v->status = TTI_MODEL_TRUNCATED;
    }
    if (v->status == TTI_MODEL_OK && v->data_crc != v->model->data_crc) {
        v->status = TTI_MODEL_DATA_CRC;
    }
    return v->status;
}

tti_model_status_t tti_model_verify(tti_model_t *m) {
    tti_verify_t v;
    tti_verify_begin(&v, m);
    tti_verify_feed(&v, m->file + m->data_offset, m->data_bytes);
    return tti_verify_end(&v);
}

// ---- look-up -----------------------------------------------------------------------------------

tti_model_status_t tti_model_tensor(const tti_model_t *m, uint32_t index, tti_tensor_t *out) {
    if (index >= m->tensor_count) {
        return TTI_MODEL_NOT_FOUND;
    }
    const uint8_t *e = entry_at(m, index);
    out->name = (const char *)e;
    for (uint32_t i = 0; i < TTI_MAX_RANK; i++) {
        out->shape[i] = get_u32(e + E_SHAPE + 4 * i);
    }
    out->offset = get_u32(e + E_OFFSET);
    out->bytes = get_u32(e + E_BYTES);
    out->crc = get_u32(e + E_CRC);
    out->index = (uint16_t)index;
    out->scale = (uint16_t)get_u16(e + E_SCALE);
    out->dtype = e[E_DTYPE];
    out->rank = get_rank(e);
    out->layout = e[E_LAYOUT];
    uint32_t size = tti_dtype_size(out->dtype); // 0 only if the model was not checked
    out->elements = size == 0 ? 0 : out->bytes / size;
    out->data = m->file == NULL ? NULL : m->file + out->offset;
    return TTI_MODEL_OK;
}

tti_model_status_t tti_model_find(const tti_model_t *m, const char *name, size_t len,
                                  tti_tensor_t *out) {
    if (len == 0 || len > TTI_MAX_NAME_BYTES) {
        return TTI_MODEL_NOT_FOUND;
    }
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        const uint8_t *e = entry_at(m, i);
        if (memcmp(e, name, len) == 0 && e[len] == 0) {
            return tti_model_tensor(m, i, out);
        }
    }
    return TTI_MODEL_NOT_FOUND;
}

// ---- words -------------------------------------------------------------------------------------

static const char *const texts[TTI_MODEL_STATUS_COUNT] = {
    [TTI_MODEL_OK] = "the model file is in order",
    [TTI_MODEL_TOO_SHORT] = "the file is too short for a model file; copy it again",
    [TTI_MODEL_MAGIC] = "this is not a tti model file; give the path of a .tti file",
    [TTI_MODEL_TEXT_MODE] =
        "the signature was changed on the way; copy the file again in binary mode",
    [TTI_MODEL_VERSION] =
        "the file has another format version; export the model again or update tti",
    [TTI_MODEL_HEADER_CRC] =
        "the CRC of the header does not match; the file is damaged, copy it again",
    [TTI_MODEL_RESERVED] = "reserved bytes of the header are not zero; export the model again",
    [TTI_MODEL_TRUNCATED] = "the file ends too early; copy it again",
    [TTI_MODEL_TRAILING] = "there are bytes after the end of the model; copy the file again",
    [TTI_MODEL_COUNT] = "the number of tensors is not 1 to 1024; export the model again",
    [TTI_MODEL_SECTIONS] =
        "header, directory, metadata and data do not join; export the model again",
    [TTI_MODEL_DIRECTORY_CRC] =
        "the CRC of the directory does not match; the file is damaged, copy it again",
    [TTI_MODEL_NAME] = "a name is not 1 to 31 of a-z A-Z 0-9 . _ - /; export the model again",
    [TTI_MODEL_DUPLICATE] = "two tensors have the same name; export the model again",
    [TTI_MODEL_DTYPE] = "the element type is unknown; export the model again or update tti",
    [TTI_MODEL_LAYOUT] =
        "the order of elements is for another chip; export the model for this one",
    [TTI_MODEL_SHAPE] = "the shape has a gap or is too large; export the model again",
    [TTI_MODEL_BYTES] = "the number of bytes does not fit the shape; export the model again",
    [TTI_MODEL_OFFSET] = "the tensor is not where it must be in the file; export the model again",
    [TTI_MODEL_TAIL] =
        "the file does not end 32 bytes after the last tensor; export the model again",
    [TTI_MODEL_SCALE] = "the scale tensor does not suit the tensor; export the model again",
    [TTI_MODEL_METADATA_CRC] =
        "the CRC of the metadata does not match; the file is damaged, copy it again",
    [TTI_MODEL_PADDING] = "padding bytes are not zero; the file is damaged, copy it again",
    [TTI_MODEL_TENSOR_CRC] =
        "the CRC of the tensor does not match; the file is damaged, copy it again",
    [TTI_MODEL_DATA_CRC] =
        "the CRC of the data does not match; the file is damaged, copy it again",
    [TTI_MODEL_NOT_FOUND] =
        "the model has no tensor of this name; list the names with `ttikit model show`",
};

const char *tti_status_text(tti_model_status_t status) {
    if ((unsigned)status >= TTI_MODEL_STATUS_COUNT) {
        return "unknown status";
    }
    return texts[status];
}

static size_t append(char *out, size_t size, size_t at, const char *text, size_t len) {
    for (size_t i = 0; i < len && at + 1 < size; i++) {
        out[at++] = text[i];
    }
    return at;
}

size_t tti_model_explain(const tti_model_t *m, tti_model_status_t status, char *out, size_t size) {
    if (size == 0) {
        return 0;
    }
    size_t at = 0;
    if (m->culprit < m->tensor_count) {
        const uint8_t *e = entry_at(m, m->culprit);
        at = append(out, size, at, "tensor ", 7);
        for (size_t i = 0, len = name_length(e); i < len; i++) {
            char c = is_name_char(e[i]) ? (char)e[i] : '?';
            at = append(out, size, at, &c, 1);
        }
        at = append(out, size, at, ": ", 2);
    }
    const char *text = tti_status_text(status);
    at = append(out, size, at, text, strlen(text));
    out[at] = 0;
    return at;
}
