// Keys from the bytes of a terminal: control characters and the escape sequences of ECMA-48, xterm
// and PuTTY.
#include "keys.h"

#include <stdbool.h>

#include "py/obj.h"
#include "shared/readline/readline.h"

enum {
    ESCAPE_NONE,
    ESCAPE_BEGUN,
    ESCAPE_LETTER,    // after ESC O
    ESCAPE_PARAMETERS // after ESC [
};

static int key_of_letter(uint8_t letter, bool by_words) {
    switch (letter) {
    case 'A':
        return CHAR_CTRL_P;
    case 'B':
        return CHAR_CTRL_N;
    case 'C':
        return by_words ? KEY_WORD_RIGHT : CHAR_CTRL_F;
    case 'D':
        return by_words ? KEY_WORD_LEFT : CHAR_CTRL_B;
    case 'F':
        return CHAR_CTRL_E;
    case 'H':
        return CHAR_CTRL_A;
    default:
        return KEY_NONE;
    }
}

static int key_of_number(uint8_t number) {
    switch (number) {
    case 1:
    case 7:
        return CHAR_CTRL_A;
    case 3:
        return CHAR_CTRL_D;
    case 4:
    case 8:
        return CHAR_CTRL_E;
    default:
        return KEY_NONE;
    }
}

static int key_after_escape(tti_keys_t *keys, uint8_t byte) {
    switch (byte) {
    case '[':
        keys->escape = ESCAPE_PARAMETERS;
        keys->parameters[0] = keys->parameters[1] = 0;
        return KEY_NONE;
    case 'O':
        keys->escape = ESCAPE_LETTER;
        return KEY_NONE;
    case 'b':
        return KEY_WORD_LEFT;
    case 'f':
        return KEY_WORD_RIGHT;
    case 'd':
        return KEY_KILL_WORD_RIGHT;
    case KEY_RUBOUT:
        return CHAR_CTRL_W;
    default:
        return KEY_NONE;
    }
}

// ESC [ 3 ~ has a number, ESC [ 1 ; 5 C a letter and, as second number, the keys held down.
static int key_after_parameters(tti_keys_t *keys, uint8_t byte) {
    uint8_t *number = &keys->parameters[1];
    if (byte == ';') {
        keys->parameters[0] = *number;
        *number = 0;
    } else if ('0' <= byte && byte <= '9' && *number < 25) {
        *number = (uint8_t)(*number * 10 + (byte - '0'));
    }
    if (byte < '@') {
        keys->escape = ESCAPE_PARAMETERS;
        return KEY_NONE;
    }
    if (byte == '~') {
        return key_of_number(keys->parameters[0] ? keys->parameters[0] : *number);
    }
    return key_of_letter(byte, *number == 3 || *number == 5); // Alt, Ctrl
}

int tti_key_of_byte(tti_keys_t *keys, uint8_t byte) {
    int escape = keys->escape;
    keys->escape = byte == KEY_ESCAPE ? ESCAPE_BEGUN : ESCAPE_NONE;
    if (byte == KEY_ESCAPE) {
        return KEY_NONE;
    }
    if (escape == ESCAPE_NONE || byte < 0x20 || byte >= 0x80) {
        return byte;
    }
    if (escape == ESCAPE_BEGUN) {
        return key_after_escape(keys, byte);
    }
    return escape == ESCAPE_LETTER ? key_of_letter(byte, false) : key_after_parameters(keys, byte);
}
