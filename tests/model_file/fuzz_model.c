// Tries mutated model files on the reader in native/core/model_file.c.
//
//     fuzz_model COUNT SEED FILE...
//
// Each FILE is a valid model. Exactly COUNT files that differ from all of them are tried:
//   raw       damaged only: must be refused, because any accepted file would be wrong content;
//   sealed    damaged, then the CRC of the header computed anew: all after the header must still
//             be as in one of the FILEs if it is accepted;
//   repaired  damaged, then all CRCs computed anew, so that the structure checks behind them are
//             reached. Such a file may be in order; then every tensor must lie inside it, aligned,
//             apart from the others, with a valid name, type and scale, and 32 bytes after it,
//             and all bytes between must be zero.
// Files lie directly before or behind a page without access, so that a read outside ends the
// program. It prints one line of JSON; status 1 if a rule was broken, if fewer files than asked
// were tried, or if some status of the reader never appeared.
#include "model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MAX_BASES = 8,
    MAX_FILE = 8192,
    ARENA = 16384,
    PAGE = 4096
};

typedef enum {
    RAW,
    SEALED,
    REPAIRED,
    CLASSES
} class_t;

typedef struct {
    uint8_t bytes[MAX_FILE];
    size_t len;
} file_t;

static file_t bases[MAX_BASES];
static size_t base_count;
static uint8_t *arena;
static uint64_t state;
static uint64_t seed;
static uint64_t tried, accepted, by_class[CLASSES], by_status[TTI_MODEL_STATUS_COUNT];

static uint32_t rnd(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 32);
}

static uint32_t below(uint32_t n) {
    return n == 0 ? 0 : rnd() % n;
}

static void fail(const char *why) {
    printf("\nFAILED: %s (file %llu with seed %llu)\n", why, (unsigned long long)tried,
           (unsigned long long)seed);
    exit(1);
}

static void expect(bool condition, const char *why) {
    if (!condition) {
        fail(why);
    }
}

static uint32_t get_u32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_u32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> (8 * i));
    }
}

// ---- damage ------------------------------------------------------------------------------------

// Values at which a comparison or a sum may go wrong.
static uint32_t nasty(uint32_t old) {
    static const uint32_t values[] = {
        0,          1,          2,          3,          4,          15,         16,
        31,         32,         63,         64,         127,        255,        256,
        1023,       1024,       1025,       65535,      65536,      65537,      0x7FFFFFFF,
        0x80000000, 0x3FFFFFFF, 0x40000000, 0x55555555, 0x55555556, 0xFFFFFFBF, 0xFFFFFFC0,
        0xFFFFFFDF, 0xFFFFFFE0, 0xFFFFFFEF, 0xFFFFFFF0, 0xFFFFFFF1, 0xFFFFFFFE, 0xFFFFFFFF,
    };
    switch (below(6)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    case 2:
        return old + 16 * (below(9) - 4);
    case 3:
        return old ^ (1u << below(32));
    case 4:
        return rnd();
    default:
        return values[below(sizeof(values) / sizeof(values[0]))];
    }
}

static uint32_t entries_in(const file_t *f) {
    uint32_t count = f->len < TTI_HEADER_BYTES ? 0 : get_u32(f->bytes + 12);
    uint32_t room = (uint32_t)(f->len / TTI_ENTRY_BYTES);
    return room <= 1 ? 0 : count < room ? count : room - 1;
}

static uint8_t *entry_of(file_t *f, uint32_t index) {
    return f->bytes + TTI_HEADER_BYTES + index * TTI_ENTRY_BYTES;
}

static void change_field(file_t *f) {
    uint32_t count = entries_in(f);
    if (f->len < TTI_HEADER_BYTES) {
        return;
    }
    if (count == 0 || below(3) == 0) {
        uint8_t *field = f->bytes + 8 + 4 * below(14);
        put_u32(field, nasty(get_u32(field)));
        return;
    }
    uint8_t *e = entry_of(f, below(count));
    if (below(3) == 0) {
        uint8_t small[] = {0, 1, 2, 3, 5, 7, 8, 32, 'a', 255};
        e[below(36)] = small[below(sizeof(small))];
    } else {
        uint8_t *field = e + 32 + 4 * below(8);
        put_u32(field, nasty(get_u32(field)));
    }
}

static void swap_entries(file_t *f) {
    uint32_t count = entries_in(f);
    uint8_t *a = entry_of(f, below(count)), *b = entry_of(f, below(count));
    // All of it, only the name, or all but the place in the file.
    size_t len = (size_t[]){TTI_ENTRY_BYTES, 32, 52}[below(3)];
    uint8_t spare[TTI_ENTRY_BYTES];
    if (count > 1) {
        memcpy(spare, a, len);
        memcpy(a, b, len);
        if (below(3) > 0) {
            memcpy(b, spare, len);
        }
    }
}

static void cut(file_t *f, size_t from, size_t len) {
    memmove(f->bytes + from, f->bytes + from + len, f->len - from - len);
    f->len -= len;
}

static void insert(file_t *f, size_t at, size_t len) {
    if (f->len + len <= MAX_FILE) {
        memmove(f->bytes + at + len, f->bytes + at, f->len - at);
        uint8_t fill = below(2) ? 0 : (uint8_t)rnd();
        memset(f->bytes + at, fill, len);
        f->len += len;
    }
}

static void splice(file_t *f) {
    const file_t *other = &bases[below((uint32_t)base_count)];
    size_t from = below((uint32_t)other->len);
    size_t to = below(2) ? from : below((uint32_t)f->len);
    size_t len = 1 + below(128);
    len = len > other->len - from ? other->len - from : len;
    if (to < f->len) {
        len = len > f->len - to ? f->len - to : len;
        memcpy(f->bytes + to, other->bytes + from, len);
    }
}

static void damage(file_t *f) {
    uint32_t at = below((uint32_t)f->len);
    switch (f->len == 0 ? 5 : below(10)) {
    case 0:
        f->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        f->bytes[at] = (uint8_t)rnd();
        break;
    case 2:
        swap_entries(f);
        break;
    case 3:
        splice(f);
        break;
    case 4:
        cut(f, at, f->len - at);
        break;
    case 5:
        insert(f, f->len, below(2) ? 1 + below(64) : 16 * (1 + below(4)));
        break;
    case 6:
        insert(f, at & ~15u, below(2) ? 16 : 64);
        break;
    case 7: {
        uint32_t len = 1 + below(64);
        at &= below(2) ? ~15u : ~0u;
        cut(f, at, len > f->len - at ? f->len - at : len);
        break;
    }
    default:
        change_field(f);
        break;
    }
}

// ---- repair ------------------------------------------------------------------------------------

static bool inside(const file_t *f, uint32_t offset, uint32_t len) {
    return offset <= f->len && len <= f->len - offset;
}

static void crc_to(file_t *f, uint8_t *field, uint32_t offset, uint32_t len) {
    if (inside(f, offset, len)) {
        put_u32(field, tti_crc32(0, f->bytes + offset, len));
    }
}

static void seal_header(file_t *f) {
    if (f->len >= TTI_HEADER_BYTES) {
        crc_to(f, f->bytes + 60, 0, 60);
    }
}

// Each part is left out now and then, so that every check has something to find.
static void repair(file_t *f) {
    if (f->len < TTI_HEADER_BYTES) {
        return;
    }
    uint8_t *h = f->bytes;
    if (below(8) > 0) {
        put_u32(h + 16, (uint32_t)f->len);
        put_u32(h + 40, (uint32_t)f->len - get_u32(h + 36));
    }
    for (uint32_t i = 0; i < entries_in(f); i++) {
        uint8_t *e = entry_of(f, i);
        if (below(32) > 0) {
            crc_to(f, e + 60, get_u32(e + 52), get_u32(e + 56));
        }
    }
    if (below(16) > 0) {
        crc_to(f, h + 48, get_u32(h + 20), get_u32(h + 24));
    }
    if (below(16) > 0) {
        crc_to(f, h + 52, get_u32(h + 28), get_u32(h + 36) - get_u32(h + 28));
    }
    if (below(16) > 0) {
        crc_to(f, h + 56, get_u32(h + 36), get_u32(h + 40));
    }
    seal_header(f);
}

// ---- rules -------------------------------------------------------------------------------------

static bool is_base(const uint8_t *bytes, size_t len, size_t from) {
    for (size_t i = 0; i < base_count; i++) {
        const file_t *b = &bases[i];
        if (len == b->len && len >= from &&
            memcmp(bytes + from, b->bytes + from, len - from) == 0) {
            return true;
        }
    }
    return false;
}

static void check_tensor(const tti_model_t *m, const uint8_t *file, size_t len, uint32_t index) {
    tti_tensor_t t, s, same;
    expect(tti_model_tensor(m, index, &t) == TTI_MODEL_OK, "a tensor of the directory is missing");
    size_t name = strnlen(t.name, 32);
    expect(name >= 1 && name <= TTI_MAX_NAME_BYTES, "a name has a wrong length");
    expect(strspn(t.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
               name,
           "a name has a wrong character");
    expect(tti_model_find(m, t.name, name, &same) == TTI_MODEL_OK && same.index == index,
           "a tensor is not found by its name");
    expect(t.offset % 16 == 0 && t.offset >= m->data_offset, "a tensor is not aligned");
    uint64_t end = (uint64_t)t.offset + t.bytes;
    expect(t.bytes > 0 && end + 32 <= len, "a tensor has no 32 bytes after it");
    expect(t.data == file + t.offset, "a tensor is not where it says");
    uint64_t bytes = tti_dtype_size(t.dtype);
    for (uint32_t i = 0; i < TTI_MAX_RANK; i++) {
        expect((t.shape[i] != 0) == (i < t.rank), "a shape has a hole");
        bytes *= i < t.rank ? t.shape[i] : 1;
    }
    expect(bytes == t.bytes && bytes == (uint64_t)t.elements * tti_dtype_size(t.dtype),
           "shape and bytes disagree");
    if (index + 1 < m->tensor_count) {
        tti_model_tensor(m, index + 1, &s);
        expect(end <= s.offset, "two tensors overlap");
    }
    if (t.scale != TTI_NO_SCALE) {
        expect(t.dtype != TTI_F32 && tti_model_tensor(m, t.scale, &s) == TTI_MODEL_OK &&
                   s.dtype == TTI_F32 && s.scale == TTI_NO_SCALE &&
                   (s.elements == 1 || s.elements == t.shape[0]),
               "a scale tensor does not suit");
    }
    expect(tti_crc32(0, t.data, t.bytes) == t.crc, "a tensor was accepted with a wrong CRC");
}

static void check_padding(const tti_model_t *m, const uint8_t *file, size_t len) {
    size_t at = m->metadata_offset + m->metadata_bytes;
    for (uint32_t i = 0; i <= m->tensor_count; i++) {
        tti_tensor_t t;
        bool last = tti_model_tensor(m, i, &t) != TTI_MODEL_OK;
        for (size_t end = last ? len : t.offset; at < end; at++) {
            expect(file[at] == 0, "padding was accepted that is not zero");
        }
        at = last ? len : t.offset + t.bytes;
    }
}

// The check in pieces must say what the check of the whole file says.
static void check_slices(const uint8_t *file, size_t len, tti_model_status_t whole) {
    uint8_t head[MAX_FILE];
    tti_model_t m;
    tti_verify_t v;
    uint32_t head_len = tti_model_head_bytes(file, len);
    expect(head_len <= MAX_FILE, "the head is larger than a file can be");
    memcpy(head, file, head_len);
    expect(tti_model_check_head(head, head_len, len, &m) == TTI_MODEL_OK,
           "the head alone is refused");
    tti_verify_begin(&v, &m);
    for (size_t at = m.data_offset; at < len;) {
        size_t slice = 1 + below(below(2) ? 16 : 700);
        slice = slice > len - at ? len - at : slice;
        tti_verify_feed(&v, file + at, slice);
        at += slice;
    }
    expect(tti_verify_end(&v) == whole, "the check in slices differs from that of the whole");
    if (whole == TTI_MODEL_OK) {
        expect(tti_verify_feed(&v, file, 1) == TTI_MODEL_TRAILING, "too much data was accepted");
        tti_verify_begin(&v, &m);
        tti_verify_feed(&v, file + m.data_offset, m.data_bytes - 1);
        expect(tti_verify_end(&v) == TTI_MODEL_TRUNCATED, "too little data was accepted");
        expect(tti_model_check_head(head, head_len - 1, len, &m) == TTI_MODEL_TOO_SHORT,
               "half a directory was accepted");
    }
}

static void check_explanation(const tti_model_t *m, tti_model_status_t status) {
    char text[192];
    size_t len = tti_model_explain(m, status, text, sizeof(text));
    expect(len > 10 && len + 1 < sizeof(text) && strlen(text) == len, "an explanation is cut");
}

static void try_file(const file_t *f, class_t class) {
    if (is_base(f->bytes, f->len, 0)) {
        return;
    }
    tried++;
    by_class[class]++;
    uint8_t *file = tried % 2 ? arena : arena + ARENA - f->len;
    memcpy(file, f->bytes, f->len);
    tti_model_t m;
    tti_model_status_t status = tti_model_check(file, f->len, &m);
    if (status == TTI_MODEL_OK) {
        status = tti_model_verify(&m);
        check_slices(file, f->len, status);
    }
    expect(status < TTI_MODEL_NOT_FOUND, "a status out of range");
    by_status[status]++;
    if (tried % 16 == 0) {
        check_explanation(&m, status);
    }
    if (status == TTI_MODEL_OK) {
        accepted++;
        expect(class != RAW, "a damaged file was accepted");
        expect(class != SEALED || is_base(file, f->len, TTI_HEADER_BYTES),
               "a file with damage behind the header was accepted");
        for (uint32_t i = 0; i < m.tensor_count; i++) {
            check_tensor(&m, file, f->len, i);
        }
        check_padding(&m, file, f->len);
    }
}

// Every cut, every other value of every byte, and up to 64 bytes more, as long as COUNT allows.
static void try_all_small(uint64_t count) {
    static file_t f;
    for (size_t len = 0; len < bases[0].len && tried < count; len++) {
        f = bases[0];
        f.len = len;
        try_file(&f, RAW);
    }
    for (size_t more = 1; more <= 64 && tried < count; more++) {
        f = bases[0];
        memset(f.bytes + f.len, 0, more);
        f.len += more;
        try_file(&f, RAW);
    }
    f = bases[0];
    for (size_t at = 0; at < f.len; at++) {
        for (int flip = 1; flip < 256 && tried < count; flip++) {
            f.bytes[at] = (uint8_t)(bases[0].bytes[at] ^ flip);
            try_file(&f, RAW);
        }
        f.bytes[at] = bases[0].bytes[at];
    }
}

static void try_random(uint64_t count) {
    static file_t f;
    while (tried < count) {
        f = bases[below((uint32_t)base_count)];
        for (uint32_t n = 1 + below(3); n > 0; n--) {
            damage(&f);
        }
        class_t class = (class_t[]){RAW, SEALED, REPAIRED, REPAIRED}[below(4)];
        if (class == SEALED) {
            seal_header(&f);
        } else if (class == REPAIRED) {
            repair(&f);
        }
        try_file(&f, class);
    }
}

static void load(const char *path) {
    file_t *f = &bases[base_count++];
    FILE *in = fopen(path, "rb");
    expect(in != NULL, "cannot open a model file");
    f->len = fread(f->bytes, 1, MAX_FILE / 2 + 1, in);
    fclose(in);
    expect(f->len <= MAX_FILE / 2, "a model file is too large to start from");
    tti_model_t m;
    expect(tti_model_check(f->bytes, f->len, &m) == TTI_MODEL_OK &&
               tti_model_verify(&m) == TTI_MODEL_OK,
           "a model file to start from is not in order");
}

static void map_arena(void) {
    uint8_t *map =
        mmap(NULL, ARENA + 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(map != MAP_FAILED && mprotect(map, PAGE, PROT_NONE) == 0 &&
               mprotect(map + PAGE + ARENA, PAGE, PROT_NONE) == 0,
           "cannot map memory");
    arena = map + PAGE;
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 3 + MAX_BASES) {
        fprintf(stderr, "usage: fuzz_model COUNT SEED FILE...\n");
        return 2;
    }
    uint64_t count = strtoull(argv[1], NULL, 10);
    seed = strtoull(argv[2], NULL, 10);
    state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    map_arena();
    for (int i = 3; i < argc; i++) {
        load(argv[i]);
    }
    try_all_small(count / 2);
    try_random(count);
    printf(
        "{\"tried\": %llu, \"accepted\": %llu, \"classes\": [%llu, %llu, %llu], \"statuses\": [",
        (unsigned long long)tried, (unsigned long long)accepted, (unsigned long long)by_class[RAW],
        (unsigned long long)by_class[SEALED], (unsigned long long)by_class[REPAIRED]);
    for (int i = 0; i < TTI_MODEL_NOT_FOUND; i++) {
        printf("%s%llu", i ? ", " : "", (unsigned long long)by_status[i]);
    }
    printf("]}\n");
    for (int i = 0; i < TTI_MODEL_NOT_FOUND; i++) {
        expect(by_status[i] > 0, tti_status_text((tti_model_status_t)i));
    }
    expect(tried >= count, "fewer files than asked were tried");
    return 0;
}
