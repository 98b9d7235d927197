#include "utf8.h"

typedef struct {
    uint32_t first, last;
} range_t;

// Sorted. Marks that combine with the letter before them and characters without a width, as far as
// they occur in prompts: Latin, Greek, Cyrillic, Hebrew, Arabic, symbols, emoji.
static const range_t no_columns[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2060, 0x2064},   {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

// Sorted. East Asian characters and emoji.
static const range_t two_columns[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

static bool is_in(uint32_t code, const range_t *ranges, size_t count) {
    for (size_t i = 0; i < count && ranges[i].first <= code; i++) {
        if (code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

#define IS_IN(code, ranges) is_in(code, ranges, sizeof(ranges) / sizeof(ranges[0]))

static uint8_t length(uint8_t lead) {
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// The second byte decides whether a character is overlong, a surrogate or out of range.
static bool may_follow(uint8_t lead, uint8_t second) {
    switch (lead) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t tti_utf8_feed(tti_utf8_t *utf8, uint8_t byte) {
    if (!tti_utf8_continues((char)byte)) {
        utf8->have = 0;
        utf8->need = length(byte);
    } else if (utf8->have == 0 ||
               (utf8->have == 1 && !may_follow((uint8_t)utf8->bytes[0], byte))) {
        utf8->need = 0;
    }
    if (utf8->need == 0) {
        utf8->have = 0;
        return 0;
    }
    utf8->bytes[utf8->have++] = (char)byte;
    if (utf8->have < utf8->need) {
        return 0;
    }
    utf8->have = 0;
    return utf8->need;
}

uint32_t tti_utf8_code(const char *p) {
    static const uint8_t lead_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint8_t size = length((uint8_t)*p);
    uint32_t code = (uint8_t)*p & lead_bits[size];
    for (uint8_t i = 1; i < size; i++) {
        code = code << 6 | ((uint8_t)p[i] & 0x3F);
    }
    return code;
}

bool tti_utf8_printable(uint32_t code) {
    return code >= 0x20 && (code < 0x7F || code > 0x9F);
}

unsigned tti_utf8_columns(uint32_t code) {
    if (code < no_columns[0].first) {
        return 1;
    }
    return IS_IN(code, no_columns) ? 0 : IS_IN(code, two_columns) ? 2 : 1;
}
