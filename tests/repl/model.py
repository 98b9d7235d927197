"""What the line editor must do, in a few lines: code points, a cursor and a history."""

from __future__ import annotations

import codecs
import unicodedata

ENTER, BACKSPACE, RUBOUT, TAB = b"\r", b"\b", b"\x7f", b"\t"
LEFT, RIGHT, UP, DOWN = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B"
HOME, END, DELETE = b"\x1b[H", b"\x1b[F", b"\x1b[3~"
WORD_LEFT, WORD_RIGHT = b"\x1bb", b"\x1bf"
KILL_WORD_LEFT, KILL_WORD_RIGHT = b"\x17", b"\x1bd"
HISTORY = 8  # lines, MICROPY_READLINE_HISTORY_SIZE


def ctrl(letter: str) -> bytes:
    """Return the byte of Ctrl and a letter."""
    return bytes([ord(letter) & 31])


ACTIONS = {
    **dict.fromkeys([LEFT, b"\x1bOD", ctrl("B")], "left"),
    **dict.fromkeys([RIGHT, b"\x1bOC", ctrl("F")], "right"),
    **dict.fromkeys([UP, b"\x1bOA", ctrl("P")], "up"),
    **dict.fromkeys([DOWN, b"\x1bOB", ctrl("N")], "down"),
    **dict.fromkeys([HOME, b"\x1bOH", b"\x1b[1~", b"\x1b[7~", ctrl("A")], "home"),
    **dict.fromkeys([END, b"\x1bOF", b"\x1b[4~", b"\x1b[8~", ctrl("E")], "end"),
    **dict.fromkeys([DELETE, ctrl("D")], "delete"),
    **dict.fromkeys([BACKSPACE, RUBOUT], "backspace"),
    **dict.fromkeys([WORD_LEFT, b"\x1b[1;5D", b"\x1b[1;3D"], "word_left"),
    **dict.fromkeys([WORD_RIGHT, b"\x1b[1;5C", b"\x1b[1;3C"], "word_right"),
    **dict.fromkeys([KILL_WORD_LEFT, b"\x1b\x7f"], "kill_word_left"),
    KILL_WORD_RIGHT: "kill_word_right",
    ctrl("K"): "kill_right",
    ctrl("U"): "kill_left",
}


def is_printable(char: str) -> bool:
    return unicodedata.category(char) != "Cc"


def is_word(char: str) -> bool:
    return char.isalnum() if char < "\x80" else char >= "\xc0" and not "\u2000" <= char <= "\u206f"


class Model:
    """A line that is edited; keys are whole sequences, text may come in pieces of any size."""

    def __init__(self) -> None:
        self.history: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Begin a new line."""
        self.line = ""
        self.cursor = 0
        self.recalled = -1
        self.decoder = codecs.getincrementaldecoder("utf-8")("ignore")

    def key(self, key: bytes) -> str | None:
        """Take a key or a piece of text; return how the line ended, or None if it goes on."""
        if key[0] >= 0x20 and key != RUBOUT:
            self._type("".join(filter(is_printable, self.decoder.decode(key))))
            return None
        self.decoder.reset()
        if key == ENTER:
            self.remember(self.line)
            return "enter"
        if key == ctrl("C") or (not self.line and len(key) == 1 and key in b"\x01\x02\x04\x05"):
            return f"control {key[0]}"
        action = ACTIONS.get(key)
        if action:
            getattr(self, "_" + action)()
        return None

    def remember(self, line: str) -> None:
        """Put a line at the head of the history."""
        if line and self.history[:1] != [line]:
            self.history = [line, *self.history][:HISTORY]

    def _type(self, text: str) -> None:
        self.line = self.line[: self.cursor] + text + self.line[self.cursor :]
        self.cursor += len(text)

    def _cut(self, start: int, end: int) -> None:
        self.line = self.line[:start] + self.line[end:]
        self.cursor = start

    def _left(self) -> None:
        self.cursor = max(0, self.cursor - 1)

    def _right(self) -> None:
        self.cursor = min(len(self.line), self.cursor + 1)

    def _home(self) -> None:
        self.cursor = 0

    def _end(self) -> None:
        self.cursor = len(self.line)

    def _word(self, step: int) -> int:
        at, seen = self.cursor, False
        while 0 <= at + min(step, 0) < len(self.line):
            word = is_word(self.line[at + min(step, 0)])
            if seen and not word:
                break
            seen |= word
            at += step
        return at

    def _word_left(self) -> None:
        self.cursor = self._word(-1)

    def _word_right(self) -> None:
        self.cursor = self._word(1)

    def _delete(self) -> None:
        self._cut(self.cursor, self.cursor + 1)

    def _backspace(self) -> None:
        # In the blanks that begin a line a whole level of indentation goes.
        head = self.line[: self.cursor]
        count = 4 if len(head) >= 4 and not head.strip(" ") else 1
        self._cut(max(0, self.cursor - count), self.cursor)

    def _kill_word_left(self) -> None:
        self._cut(self._word(-1), self.cursor)

    def _kill_word_right(self) -> None:
        self._cut(self.cursor, self._word(1))

    def _kill_left(self) -> None:
        self._cut(0, self.cursor)

    def _kill_right(self) -> None:
        self._cut(self.cursor, len(self.line))

    def _recall(self, entry: int) -> None:
        self.recalled = entry
        self.line = self.history[entry] if entry >= 0 else ""
        self.cursor = len(self.line)

    def _up(self) -> None:
        if self.recalled + 1 < len(self.history):
            self._recall(self.recalled + 1)

    def _down(self) -> None:
        if self.recalled >= 0:
            self._recall(self.recalled - 1)
