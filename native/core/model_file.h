// Reader of the model file `.tti`, version 1. The format is written down in docs/model-file.md.
//
// Nothing here allocates, prints or needs an aligned buffer: every field is read byte by byte, and
// any input, however damaged, gives a status and never a read outside the bytes that were passed.
//
// Whole file in memory (mapped flash, RAM):
//     tti_model_t m;
//     tti_model_status_t st = tti_model_check(file, len, &m);   // structure: a few milliseconds
//     if (st == TTI_MODEL_OK) st = tti_model_verify(&m);        // every byte: a pass over the
//     file
// File larger than memory: read TTI_HEADER_BYTES, ask tti_model_head_bytes() how much the head
// takes, read that, tti_model_check_head(), then push the data in slices of any size through
// tti_verify_begin(), tti_verify_feed() and tti_verify_end(). Slices also keep a long check
// interruptible: 64 KB take about 10 ms on a 150 MHz Cortex-M33 (estimated, 12 cycles a byte and
// CRC).
#ifndef TTI_MODEL_FILE_H
#define TTI_MODEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTI_HEADER_BYTES       64u
#define TTI_ENTRY_BYTES        64u
#define TTI_FORMAT_VERSION     1u
#define TTI_MAX_TENSORS        1024u
#define TTI_MAX_METADATA_BYTES 65536u
#define TTI_MAX_NAME_BYTES     31u
#define TTI_MAX_RANK           4u
#define TTI_TENSOR_ALIGN       16u
#define TTI_TAIL_BYTES 32u     // zero bytes at the end: vector loads may read past the last tensor
#define TTI_NO_SCALE   0xFFFFu // the tensor has no scale tensor
#define TTI_NO_TENSOR  UINT32_MAX

// The numbers are the same in ttikit.model_file.Status and never change their meaning.
typedef enum {
    TTI_MODEL_OK = 0,
    TTI_MODEL_TOO_SHORT = 1,
    TTI_MODEL_MAGIC = 2,
    TTI_MODEL_TEXT_MODE = 3,
    TTI_MODEL_VERSION = 4,
    TTI_MODEL_HEADER_CRC = 5,
    TTI_MODEL_RESERVED = 6,
    TTI_MODEL_TRUNCATED = 7,
    TTI_MODEL_TRAILING = 8,
    TTI_MODEL_COUNT = 9,
    TTI_MODEL_SECTIONS = 10,
    TTI_MODEL_DIRECTORY_CRC = 11,
    TTI_MODEL_NAME = 12,
    TTI_MODEL_DUPLICATE = 13,
    TTI_MODEL_DTYPE = 14,
    TTI_MODEL_LAYOUT = 15,
    TTI_MODEL_SHAPE = 16,
    TTI_MODEL_BYTES = 17,
    TTI_MODEL_OFFSET = 18,
    TTI_MODEL_TAIL = 19,
    TTI_MODEL_SCALE = 20,
    TTI_MODEL_METADATA_CRC = 21,
    TTI_MODEL_PADDING = 22,
    TTI_MODEL_TENSOR_CRC = 23,
    TTI_MODEL_DATA_CRC = 24,
    TTI_MODEL_NOT_FOUND = 25,
    TTI_MODEL_STATUS_COUNT = 26
} tti_model_status_t;

typedef enum {
    TTI_S8 = 1,
    TTI_U8 = 2,
    TTI_S16 = 3,
    TTI_U16 = 4,
    TTI_S32 = 5,
    TTI_U32 = 6,
    TTI_F32 = 7
} tti_dtype_t;

typedef struct {
    const uint8_t *head; // header and directory; owned by the caller, must outlive the model
    const uint8_t *file; // the whole file, or NULL after tti_model_check_head()
    uint32_t file_bytes;
    uint32_t tensor_count;
    uint32_t metadata_offset;
    uint32_t metadata_bytes; // without the padding after it
    uint32_t data_offset;
    uint32_t data_bytes; // up to the end of the file
    uint32_t metadata_crc;
    uint32_t data_crc; // also serves as the fingerprint of the weights
    uint32_t culprit;  // number of the tensor that the last failure is about, or TTI_NO_TENSOR
} tti_model_t;

typedef struct {
    const char *name;             // zero-terminated, inside the directory
    const uint8_t *data;          // inside the file, or NULL after tti_model_check_head()
    uint32_t shape[TTI_MAX_RANK]; // unused places hold 0
    uint32_t elements;
    uint32_t offset; // from the start of the file
    uint32_t bytes;
    uint32_t crc;
    uint16_t index;
    uint16_t scale; // index of the tensor with its scales, or TTI_NO_SCALE
    uint8_t dtype;  // tti_dtype_t
    uint8_t rank;   // 0 (a single number) to 4
    uint8_t layout; // 0: row-major
} tti_tensor_t;

// State of a check of all data bytes; 24 bytes or so, on the stack or in an object.
typedef struct {
    tti_model_t *model;
    uint32_t position;   // of the next byte, from the start of the file
    uint32_t index;      // tensor that the next byte belongs to, or precedes
    uint32_t tensor_crc; // of the part of that tensor seen so far
    uint32_t data_crc;
    tti_model_status_t status;
} tti_verify_t;

// CRC-32 as in zlib, PNG and Ethernet; start with crc = 0, continue with the returned value.
uint32_t tti_crc32(uint32_t crc, const uint8_t *bytes, size_t len);

// Checks the structure of a whole file: magic, version, header and directory with their CRCs,
// metadata with its CRC. Fills *m; after a failure only m->culprit may be used.
tti_model_status_t tti_model_check(const uint8_t *file, size_t len, tti_model_t *m);

// Bytes of header and directory together as stated by the first 64 bytes of a file, or 0 if those
// are not a valid header; then tti_model_check_head() says why.
uint32_t tti_model_head_bytes(const uint8_t *header, size_t len);

// The same check for a file of `file_len` bytes of which only the first `head_len` are in memory.
// Metadata and its CRC stay with the caller (m->metadata_offset, m->metadata_crc).
tti_model_status_t tti_model_check_head(const uint8_t *head, size_t head_len, size_t file_len,
                                        tti_model_t *m);

// Checks every data byte of a file in memory against the CRCs. Needs tti_model_check() first.
tti_model_status_t tti_model_verify(tti_model_t *m);

// The same in slices: feed the bytes from m->data_offset to the end of the file, in order. Each
// call returns what is known so far; a failure is final and m->culprit names the tensor.
void tti_verify_begin(tti_verify_t *v, tti_model_t *m);
tti_model_status_t tti_verify_feed(tti_verify_t *v, const uint8_t *bytes, size_t len);
tti_model_status_t tti_verify_end(tti_verify_t *v);

// Tensor by number or by name (`len` bytes, no terminator needed); TTI_MODEL_NOT_FOUND if absent.
tti_model_status_t tti_model_tensor(const tti_model_t *m, uint32_t index, tti_tensor_t *out);
tti_model_status_t tti_model_find(const tti_model_t *m, const char *name, size_t len,
                                  tti_tensor_t *out);

// Bytes of one element, or 0 for an unknown code.
uint32_t tti_dtype_size(uint32_t dtype);

// One English sentence for each status; never NULL.
const char *tti_status_text(tti_model_status_t status);

// Writes the sentence with the tensor that m->culprit names before it, zero-terminated and cut to
// `size` bytes (192 always suffice). Returns the length of the text written.
size_t tti_model_explain(const tti_model_t *m, tti_model_status_t status, char *out, size_t size);

#endif
