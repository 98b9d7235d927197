// UTF-8 as a terminal sends it, byte by byte, and the columns that its characters take there.
#ifndef TTI_READLINE_UTF8_H
#define TTI_READLINE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTI_UTF8_MAX = 4 // bytes of a character
};

// A character that may still be incomplete. All zero: nothing yet.
typedef struct {
    char bytes[TTI_UTF8_MAX];
    uint8_t have, need;
} tti_utf8_t;

// Take the next byte. Returns the size of the character in utf8->bytes that it completes, else 0.
// What cannot become a character is dropped: stray and missing continuation bytes, overlong forms,
// surrogates, code points above 0x10FFFF.
size_t tti_utf8_feed(tti_utf8_t *utf8, uint8_t byte);

static inline bool tti_utf8_continues(char byte) {
    return ((uint8_t)byte & 0xC0) == 0x80;
}

// Code point of the valid character at p.
uint32_t tti_utf8_code(const char *p);

// Whether a character may stand in a line: control characters, old and new, may not.
bool tti_utf8_printable(uint32_t code);

// Columns of a printable character: 0 for marks on the one before it, 2 for wide ones, else 1.
unsigned tti_utf8_columns(uint32_t code);

#endif
