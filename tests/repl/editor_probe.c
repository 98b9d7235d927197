// The line editor alone, with MicroPython's own strings and exceptions, and with the memory of
// libc, so that a sanitizer sees every byte it touches.
//
// Reads commands, answers each but 'h' and 'm':
//   n        a new line            c        another line of the statement
//   k BYTE   a byte is typed
//   h SIZE TEXT    SIZE (16 bits) bytes for the history
//   m COUNT        COUNT (8 bits) allocations will succeed, later ones fail; 255 for all
// Answer: result (32 bits, signed), sizes of output and of the line (32 bits each), both.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "py/mphal.h"
#include "py/mpstate.h"
#include "py/repl.h"
#include "py/runtime.h"
#include "editor.h"

void __wrap_readline_init0(void);
void __wrap_readline_push_history(const char *line);
void __wrap_readline_init(vstr_t *line, const char *prompt);
void __wrap_readline_note_newline(const char *prompt);
int __wrap_readline_process_char(int c);

mp_state_ctx_t mp_state_ctx;
const mp_print_t mp_plat_print = {NULL, NULL};

static char output[1 << 20];
static size_t output_size;
static int allocations = 255;

mp_uint_t mp_hal_stdout_tx_strn(const char *text, size_t size) {
    if (size > sizeof(output) - output_size) {
        abort();
    }
    memcpy(output + output_size, text, size);
    output_size += size;
    return size;
}

void mp_hal_stdout_tx_str(const char *text) {
    mp_hal_stdout_tx_strn(text, strlen(text));
}

int mp_hal_stdin_rx_chr(void) {
    abort();
}

const mp_obj_type_t mp_type_MemoryError;
const mp_obj_type_t mp_type_RuntimeError;
static mp_obj_base_t memory_error = {&mp_type_MemoryError};

bool mp_obj_exception_match(mp_obj_t exc, mp_const_obj_t type) {
    return exc == MP_OBJ_FROM_PTR(&memory_error) && type == MP_OBJ_FROM_PTR(&mp_type_MemoryError);
}

static bool may_allocate(void) {
    if (allocations > 0 && allocations < 255) {
        allocations--;
        return true;
    }
    return allocations == 255;
}

static void *checked(void *p) {
    if (p == NULL) {
        nlr_raise(MP_OBJ_FROM_PTR(&memory_error));
    }
    return p;
}

void *m_malloc_maybe(size_t size) {
    return may_allocate() ? malloc(size) : NULL;
}

void *m_malloc(size_t size) {
    return checked(m_malloc_maybe(size));
}

void *m_realloc(void *old, size_t old_size, size_t size) {
    (void)old_size;
    return checked(may_allocate() ? realloc(old, size) : NULL);
}

void m_free(void *p, size_t size) {
    (void)size;
    free(p);
}

// Nothing here may come to these.
void nlr_jump_fail(void *value) {
    (void)value;
    abort();
}

void mp_raise_msg(const mp_obj_type_t *type, mp_rom_error_text_t text) {
    (void)type;
    (void)text;
    abort();
}

int mp_vprintf(const mp_print_t *print, const char *format, va_list values) {
    (void)print;
    (void)format;
    (void)values;
    abort();
}

// Names that begin with a half letter in common, one name, and several.
size_t mp_repl_autocomplete(const char *text, size_t size, const mp_print_t *print,
                            const char **found) {
    (void)print;
    char last = size == 0 ? ' ' : text[size - 1];
    *found = last == 'h' ? "x\xD0" : "целое";
    if (last == 'l') {
        mp_hal_stdout_tx_str("\r\nодин  два\r\n");
        return (size_t)-1;
    }
    return last == 'h' || last == 'w' ? strlen(*found) : 0;
}

static uint8_t next_byte(void) {
    int byte = getchar();
    if (byte == EOF) {
        exit(0);
    }
    return (uint8_t)byte;
}

static void answer(int32_t result, const vstr_t *line) {
    uint32_t sizes[] = {(uint32_t)output_size, (uint32_t)line->len};
    fwrite(&result, sizeof(result), 1, stdout);
    fwrite(sizes, sizeof(sizes), 1, stdout);
    fwrite(output, 1, output_size, stdout);
    fwrite(line->buf, 1, line->len, stdout);
    fflush(stdout);
    output_size = 0;
}

static void push_history(void) {
    size_t size = next_byte();
    size |= (size_t)next_byte() << 8;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)next_byte();
    }
    text[size] = '\0';
    __wrap_readline_push_history(text);
    free(text);
}

int main(void) {
    vstr_t line;
    vstr_init(&line, 16);
    __wrap_readline_init0();
    for (;;) {
        int result = -1;
        switch (next_byte()) {
        case 'n':
            vstr_reset(&line);
            __wrap_readline_init(&line, ">>> ");
            break;
        case 'c':
            vstr_add_byte(&line, '\n');
            __wrap_readline_note_newline("... ");
            break;
        case 'k':
            result = __wrap_readline_process_char(next_byte());
            break;
        case 'h':
            push_history();
            continue;
        case 'm':
            allocations = next_byte();
            continue;
        }
        answer(result, &line);
    }
}
