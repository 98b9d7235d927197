// The functions of MicroPython's shared/readline/readline.h under the names that the linker's
// --wrap gives them. Keys, output and results are those of the stock editor for ASCII, with all of
// its optional keys.
//
// A line is a run of whole, printable UTF-8 characters, whatever bytes arrive; positions are byte
// offsets that never fall inside a character. Columns on the screen are counted from the text each
// time, and the cursor is only ever moved by them, so the prompt's own width does not matter.
#include "editor.h"

#include "keys.h"
#include "utf8.h"

#include <string.h>

#include "py/mphal.h"
#include "py/mpstate.h"
#include "py/repl.h"
#include "py/runtime.h"
#include "shared/readline/readline.h"

#if TTI_READLINE

typedef enum {
    INDENT_OFF,
    INDENT_ON,
    INDENT_JUST_ADDED
} indent_t;

// The line belongs to the caller, who keeps it where the GC finds it; the history is a root
// pointer of MicroPython, registered by the stock editor's source.
static struct {
    vstr_t *line;
    const char *prompt;
    size_t start;  // of the line that is edited; before it come earlier lines of the statement
    size_t cursor; // start ... line->len
    int recalled;  // entry of the history, -1 for none
    tti_utf8_t input;
    tti_keys_t keys;
    uint8_t indent; // indent_t
} editor;

#define history (MP_STATE_PORT(readline_hist))

// Text

static size_t next(size_t at) {
    do {
        at++;
    } while (at < editor.line->len && tti_utf8_continues(editor.line->buf[at]));
    return at;
}

static size_t previous(size_t at) {
    do {
        at--;
    } while (at > editor.start && tti_utf8_continues(editor.line->buf[at]));
    return at;
}

static uint32_t code_at(size_t at) {
    return tti_utf8_code(editor.line->buf + at);
}

static size_t columns(size_t from, size_t to) {
    size_t sum = 0;
    for (; from < to; from = next(from)) {
        sum += tti_utf8_columns(code_at(from));
    }
    return sum;
}

// Where the terminal's cell begins that shows the character at `at` with its marks.
static size_t cell(size_t at) {
    while (at > editor.start && at < editor.line->len && tti_utf8_columns(code_at(at)) == 0) {
        at = previous(at);
    }
    return at;
}

static bool is_word(size_t at) {
    uint32_t code = code_at(at);
    return code < 0x80 ? unichar_isalnum(code)
                       : code >= 0xC0 && !(0x2000 <= code && code <= 0x206F);
}

static size_t word_left(void) {
    size_t at = editor.cursor;
    while (at > editor.start && !is_word(previous(at))) {
        at = previous(at);
    }
    while (at > editor.start && is_word(previous(at))) {
        at = previous(at);
    }
    return at;
}

static size_t word_right(void) {
    size_t at = editor.cursor;
    while (at < editor.line->len && !is_word(at)) {
        at = next(at);
    }
    while (at < editor.line->len && is_word(at)) {
        at = next(at);
    }
    return at;
}

// Screen

static void show(size_t from, size_t to) {
    mp_hal_stdout_tx_strn(editor.line->buf + from, to - from);
}

static void go_back(size_t count) {
    if (count <= 4) {
        mp_hal_stdout_tx_strn("\b\b\b\b", count);
        return;
    }
    char command[16];
    char *p = command + sizeof(command);
    *--p = 'D';
    for (; count != 0; count /= 10) {
        *--p = (char)('0' + count % 10);
    }
    *--p = '[';
    *--p = '\x1b';
    mp_hal_stdout_tx_strn(p, (size_t)(command + sizeof(command) - p));
}

static void move_to(size_t at) {
    if (at < editor.cursor) {
        go_back(columns(at, editor.cursor));
    } else {
        // A letter is shown together with its marks, each of which would add to it again.
        size_t from = cell(editor.cursor);
        size_t to = at;
        while (to < editor.line->len && tti_utf8_columns(code_at(to)) == 0) {
            to = next(to);
        }
        go_back(columns(from, editor.cursor));
        show(from, to);
    }
    editor.cursor = at;
}

// Changes

// Make room for `bytes` more, and for the byte that ends the string. At the prompt nobody would
// catch a MemoryError; without memory a key has no effect.
static bool reserve(size_t bytes) {
    nlr_buf_t nlr;
    if (nlr_push(&nlr) == 0) {
        vstr_hint_size(editor.line, bytes + 1);
        nlr_pop();
        return true;
    }
    if (!mp_obj_exception_match(MP_OBJ_FROM_PTR(nlr.ret_val),
                                MP_OBJ_FROM_PTR(&mp_type_MemoryError))) {
        nlr_jump(nlr.ret_val);
    }
    return false;
}

// Put size bytes of text in the place of [from, to), from <= cursor, and the cursor after them.
static bool replace(size_t from, size_t to, const char *text, size_t size) {
    vstr_t *line = editor.line;
    if (size > to - from && !reserve(size - (to - from))) {
        return false;
    }
    // Only what comes after `from` is counted: a paste must not take its length squared.
    size_t back = columns(from, editor.cursor);
    size_t old_width = columns(from, line->len);
    size_t redrawn = cell(from);
    memmove(line->buf + from + size, line->buf + to, line->len - to);
    memcpy(line->buf + from, text, size);
    line->len = line->len - (to - from) + size;
    editor.cursor = from + size;
    redrawn = MIN(redrawn, cell(from));

    go_back(columns(redrawn, from) + back);
    if (columns(from, line->len) < old_width) {
        mp_hal_stdout_tx_str("\x1b[K");
    }
    show(redrawn, line->len);
    go_back(columns(editor.cursor, line->len));
    return true;
}

static void insert(char byte) {
    size_t size = tti_utf8_feed(&editor.input, (uint8_t)byte);
    if (size != 0 && tti_utf8_printable(tti_utf8_code(editor.input.bytes))) {
        replace(editor.cursor, editor.cursor, editor.input.bytes, size);
    }
}

static void cut(size_t from, size_t to) {
    if (from < to) {
        replace(from, to, "", 0);
    }
}

static void recall(int entry) {
    if (entry >= MICROPY_READLINE_HISTORY_SIZE || (entry >= 0 && history[entry] == NULL)) {
        return;
    }
    const char *text = entry < 0 ? "" : history[entry];
    if (replace(editor.start, editor.line->len, text, strlen(text))) {
        editor.recalled = entry;
    }
}

// Indentation

#if MICROPY_REPL_AUTO_INDENT

#define INDENT "    "

static size_t spaces_from(size_t at, size_t end) {
    size_t from = at;
    while (at < end && editor.line->buf[at] == ' ') {
        at++;
    }
    return at - from;
}

static size_t line_begin(size_t at) {
    while (at > 0 && editor.line->buf[at - 1] != '\n') {
        at--;
    }
    return at;
}

// Begin the line with the blanks that the one before it has, and more after a colon.
static void indent(void) {
    const char *text = editor.line->buf;
    if (editor.indent == INDENT_OFF || editor.start < 2 || text[editor.start - 1] != '\n') {
        return;
    }
    size_t end = editor.start - 1;
    size_t begin = line_begin(end);
    size_t spaces = spaces_from(begin, end);
    if (begin > 0 && begin + spaces == end) {
        // After two blank lines the statement is meant to end.
        size_t before = line_begin(begin - 1);
        if (before > 0 && before + spaces_from(before, begin - 1) == begin - 1) {
            return;
        }
    }
    size_t levels = spaces / strlen(INDENT) + (text[end - 1] == ':');
    for (; levels > 0 && replace(editor.cursor, editor.cursor, INDENT, strlen(INDENT)); levels--) {
        editor.indent = INDENT_JUST_ADDED;
    }
}

// A blank typed or pasted after our own indentation means that the text brings its own.
static bool ends_indent(int key) {
    if (editor.indent != INDENT_JUST_ADDED || (key != KEY_TAB && key != ' ')) {
        return false;
    }
    editor.indent = INDENT_OFF;
    if (key == ' ') {
        // The blanks are last on the line, so nobody sees that they stay on the screen.
        move_to(editor.cursor - (strlen(INDENT) - 1));
        editor.line->len = editor.cursor;
    }
    return true;
}

static void backspace(void) {
    if (editor.cursor == editor.start) {
        return;
    }
    size_t spaces = spaces_from(editor.start, editor.cursor);
    bool level = spaces == editor.cursor - editor.start && spaces >= strlen(INDENT);
    cut(level ? editor.cursor - strlen(INDENT) : previous(editor.cursor), editor.cursor);
}

#else

static void indent(void) {
}

static bool ends_indent(int key) {
    (void)key;
    return false;
}

static void backspace(void) {
    if (editor.cursor > editor.start) {
        cut(previous(editor.cursor), editor.cursor);
    }
}

#endif

// Completion

static void complete(void) {
#if MICROPY_HELPER_REPL
    const char *text = "    ";
    size_t size = strlen(text);
    if (editor.cursor == 0 || !unichar_isspace((uint8_t)editor.line->buf[editor.cursor - 1])) {
        size = mp_repl_autocomplete(editor.line->buf + editor.start, editor.cursor - editor.start,
                                    &mp_plat_print, &text);
    }
    if (size == (size_t)-1) {
        // It has listed several names.
        mp_hal_stdout_tx_str(editor.prompt);
        show(editor.start, editor.line->len);
        go_back(columns(editor.cursor, editor.line->len));
        return;
    }
    // Bytes that several names share may end inside a character, which insert() leaves out.
    for (size_t i = 0; i < size; i++) {
        insert(text[i]);
    }
    editor.input.have = 0;
#endif
}

// Keys

static void edit(int key) {
    switch (key) {
    case CHAR_CTRL_A:
        move_to(editor.start);
        break;
    case CHAR_CTRL_B:
        if (editor.cursor > editor.start) {
            move_to(previous(editor.cursor));
        }
        break;
    case CHAR_CTRL_D:
        if (editor.cursor < editor.line->len) {
            cut(editor.cursor, next(editor.cursor));
        }
        break;
    case CHAR_CTRL_E:
        move_to(editor.line->len);
        break;
    case CHAR_CTRL_F:
        if (editor.cursor < editor.line->len) {
            move_to(next(editor.cursor));
        }
        break;
    case CHAR_CTRL_K:
        cut(editor.cursor, editor.line->len);
        break;
    case CHAR_CTRL_N:
        if (editor.recalled >= 0) {
            recall(editor.recalled - 1);
        }
        break;
    case CHAR_CTRL_P:
        recall(editor.recalled + 1);
        break;
    case CHAR_CTRL_U:
        cut(editor.start, editor.cursor);
        break;
    case CHAR_CTRL_W:
        cut(word_left(), editor.cursor);
        break;
    case KEY_KILL_WORD_RIGHT:
        cut(editor.cursor, word_right());
        break;
    case KEY_WORD_LEFT:
        move_to(word_left());
        break;
    case KEY_WORD_RIGHT:
        move_to(word_right());
        break;
    case KEY_BACKSPACE:
    case KEY_RUBOUT:
        backspace();
        break;
    case KEY_TAB:
        complete();
        break;
    default:
        if (key < KEY_NONE) {
            insert((char)key);
        }
    }
}

static void begin_line(const char *prompt) {
    editor.start = editor.line->len;
    editor.cursor = editor.start;
    editor.prompt = prompt;
    mp_hal_stdout_tx_str(prompt);
    indent();
}

// The interface of readline.h

void __wrap_readline_init0(void);
int __wrap_readline(vstr_t *line, const char *prompt);
void __wrap_readline_push_history(const char *line);
void __wrap_readline_init(vstr_t *line, const char *prompt);
void __wrap_readline_note_newline(const char *prompt);
int __wrap_readline_process_char(int c);

void __wrap_readline_init0(void) {
    memset(history, 0, sizeof(history));
}

void __wrap_readline_init(vstr_t *line, const char *prompt) {
    editor.line = line;
    editor.recalled = -1;
    editor.keys.escape = 0;
    editor.input.have = 0;
    if (line->len == 0) {
        editor.indent = INDENT_ON;
    }
    begin_line(prompt);
}

void __wrap_readline_note_newline(const char *prompt) {
    begin_line(prompt);
}

// Take a byte from the terminal. Returns 0 when the line is complete, a control character that is
// the caller's business, or -1.
int __wrap_readline_process_char(int c) {
    if (c < 0 || c > 255) {
        return -1;
    }
    bool empty = editor.line->len == editor.start;
    int key = tti_key_of_byte(&editor.keys, (uint8_t)c);
    if (c == CHAR_CTRL_C || (empty && CHAR_CTRL_A <= c && c <= CHAR_CTRL_E)) {
        return c;
    }
    if (key < 0x80 || key >= KEY_NONE) {
        editor.input.have = 0;
    }
    if (key == KEY_ENTER) {
        mp_hal_stdout_tx_str("\r\n");
        __wrap_readline_push_history(vstr_null_terminated_str(editor.line) + editor.start);
        return 0;
    }
    if (!ends_indent(key)) {
        edit(key);
    }
    if (editor.indent == INDENT_JUST_ADDED) {
        editor.indent = INDENT_ON;
    }
    return -1;
}

int __wrap_readline(vstr_t *line, const char *prompt) {
    __wrap_readline_init(line, prompt);
    int result;
    do {
        result = __wrap_readline_process_char(mp_hal_stdin_rx_chr());
    } while (result < 0);
    return result;
}

// Remember a line, which may come from a file. Only what may stand in a line is kept of it.
void __wrap_readline_push_history(const char *line) {
    char *kept = m_new_maybe(char, strlen(line) + 1);
    if (kept == NULL) {
        return;
    }
    tti_utf8_t input = {{0}, 0, 0};
    char *end = kept;
    for (; *line != '\0'; line++) {
        size_t size = tti_utf8_feed(&input, (uint8_t)*line);
        if (size != 0 && tti_utf8_printable(tti_utf8_code(input.bytes))) {
            memcpy(end, input.bytes, size);
            end += size;
        }
    }
    *end = '\0';
    if (end == kept || (history[0] != NULL && strcmp(history[0], kept) == 0)) {
        return;
    }
    memmove(&history[1], &history[0], sizeof(history) - sizeof(history[0]));
    history[0] = kept;
}

bool tti_readline_is_linked(void) {
    // A compiler knows that two functions differ; whether the linker has made them one, it
    // doesn't.
    int (*volatile called)(vstr_t *, const char *) = readline;
    return called == __wrap_readline;
}

#else

bool tti_readline_is_linked(void) {
    return false;
}

#endif
