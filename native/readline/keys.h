// Keys from the bytes of a terminal.
#ifndef TTI_READLINE_KEYS_H
#define TTI_READLINE_KEYS_H

#include <stdint.h>

// A key is the byte that it sends, the control character that does the same, or one of these.
enum {
    KEY_BACKSPACE = 8,
    KEY_TAB = 9,
    KEY_ENTER = 13,
    KEY_ESCAPE = 27,
    KEY_RUBOUT = 127,
    KEY_NONE = 256, // beyond what a byte can be
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_KILL_WORD_RIGHT
};

// Where in an escape sequence the input is; begins with escape = 0.
typedef struct {
    uint8_t escape;
    uint8_t parameters[2];
} tti_keys_t;

// The key that a byte is or completes, KEY_NONE if none. A control character or a letter beyond
// ASCII ends an escape sequence and counts by itself.
int tti_key_of_byte(tti_keys_t *keys, uint8_t byte);

#endif
