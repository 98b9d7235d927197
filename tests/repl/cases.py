"""What is typed at the friendly prompt, and what the line then comes to.

The table knows nothing of the machine behind the terminal: `check` runs a case on any."""

from __future__ import annotations

from dataclasses import dataclass

from .model import (
    BACKSPACE,
    DELETE,
    DOWN,
    END,
    ENTER,
    HOME,
    KILL_WORD_LEFT,
    KILL_WORD_RIGHT,
    LEFT,
    RIGHT,
    RUBOUT,
    TAB,
    UP,
    WORD_LEFT,
    WORD_RIGHT,
    ctrl,
)
from .terminal import Terminal

Keys = tuple[str | bytes, ...]


@dataclass(frozen=True)
class Case:
    """Keys that end by running a line, and the value that it must show."""

    name: str
    keys: Keys
    value: object
    before: Keys = ()  # lines run first
    prompts: int = 1  # that the keys bring

    def __str__(self) -> str:
        return self.name


def _bytes(keys: Keys) -> bytes:
    return b"".join(key.encode() if isinstance(key, str) else key for key in keys)


def check(case: Case, terminal: Terminal) -> None:
    """Type the case; its value must be what MicroPython shows."""
    for line in case.before:
        terminal.run(_bytes((line, ENTER)))
    shown = terminal.run(_bytes(case.keys), case.prompts)
    # MicroPython's repr() escapes all that is not ASCII.
    assert shown == ascii(case.value), f"{case.name}: {shown}"


LONG = "пожилой мужчина " * 10  # 300 bytes and two rows of a terminal

CASES = [
    Case("Cyrillic", ("'пожилой мужчина'", ENTER), "пожилой мужчина"),
    Case("two, three and four bytes", ("'жÿ€語😀'", ENTER), "жÿ€語😀"),
    Case("left", ("'ад'", LEFT, LEFT, "бвг", ENTER), "абвгд"),
    Case("left by a letter", ("'ад'", b"\x1bOD", ctrl("B"), "в", ENTER), "авд"),
    Case("right", ("'абд'", HOME, RIGHT, RIGHT, ctrl("F"), "в", ENTER), "абвд"),
    Case("right stops at the end", ("'аб", RIGHT, RIGHT, "'", ENTER), "аб"),
    Case("left stops at the start", ("б'", LEFT * 5, "'а", ENTER), "аб"),
    Case("home and end", ("б", HOME, "'а", END, "в'", ENTER), "абв"),
    Case("home and end, numbers", ("б", b"\x1b[1~", "'а", b"\x1b[4~", "в'", ENTER), "абв"),
    Case("Ctrl-A and Ctrl-E", ("б", ctrl("A"), "'а", ctrl("E"), "в'", ENTER), "абв"),
    Case("backspace", ("'абвг", RUBOUT, BACKSPACE, "'", ENTER), "аб"),
    Case("backspace inside", ("'аёбв'", LEFT * 3, BACKSPACE, ENTER), "абв"),
    Case("backspace at the start", (BACKSPACE * 3, "'ж'", HOME, BACKSPACE, ENTER), "ж"),
    Case("backspace takes a mark alone", ("'и\u0306'", LEFT, BACKSPACE, ENTER), "и"),
    Case("delete", ("'абвг'", LEFT * 4, DELETE, ctrl("D"), ENTER), "аг"),
    Case("delete at the end", ("'аб'", DELETE, DELETE, ENTER), "аб"),
    Case("delete on an empty line", (DELETE, "'аб'", ENTER), "аб"),
    Case("Ctrl-K", ("'аб'вгд", LEFT * 3, ctrl("K"), ENTER), "аб"),
    Case("Ctrl-U", ("ёжик'аб'", LEFT * 4, ctrl("U"), ENTER), "аб"),
    Case("Ctrl-W", ("'один два три", KILL_WORD_LEFT, KILL_WORD_LEFT, "'", ENTER), "один "),
    Case("words", ("'два три'", WORD_LEFT, WORD_LEFT, "раз ", ENTER), "раз два три"),
    Case("words, right", ("'два три'", HOME, WORD_RIGHT, ",", ENTER), "два, три"),
    Case("words with Ctrl", ("'два три'", b"\x1b[1;5D", "и ", ENTER), "два и три"),
    Case("kill word", ("'два три'", HOME, RIGHT, KILL_WORD_RIGHT, ENTER), " три"),
    Case("history", (UP, ENTER), "ёж", ("'ёж'",)),
    Case("history edited", (UP, UP, LEFT, BACKSPACE, "ик", ENTER), "ёик", ("'ёж'", "'кот'")),
    Case("history and back", (ctrl("P") * 2, ctrl("N"), ENTER), "кот", ("'ёж'", "'кот'")),
    Case("history left empty", ("ж", UP, DOWN, "'кот'", ENTER), "кот", ("'ёж'",)),
    Case("tab", ("('ж', sys.byteor", TAB, ")", ENTER), ("ж", "little"), ("import sys",)),
    Case("tab inside", ("(sys.byteor, 'ж')", HOME, RIGHT * 11, TAB, ENTER), ("little", "ж")),
    Case("tab lists", ("z", TAB, "2+'я'", ENTER), "бя", ("z1, z2 = 'а', 'б'",), 2),
    Case("tab completes no half letter", ("wх", LEFT, TAB, DELETE, "б", ENTER), 2, ("wа,wб=1,2",)),
    Case("tab after a blank", ("'а ", TAB, "б'", ENTER), "а     б"),
    Case("tab at the start", ("'ж'", HOME, TAB, ENTER), "ж", (), 2),
    Case("Ctrl-C", ("'аб", ctrl("C"), "'в'", ENTER), "в", (), 2),
    Case("unknown keys", ("'а", b"\x1b[15~\x1b[24;2~\x1bOP\x1bx\x1b[Z", "б'", ENTER), "аб"),
    Case("escape and Ctrl-C", ("'аб\x1b", ctrl("C"), "'в'", ENTER), "в", (), 2),
    Case("lone lead byte", ("'а", b"\xd0", "б'", ENTER), "аб"),
    Case("lone lead byte last", ("'аб'", b"\xd0", ENTER), "аб"),
    Case("lone lead byte, then a key", ("'аб'", b"\xe2\x82", LEFT, b"\xac", "в", ENTER), "абв"),
    Case("stray continuation bytes", ("'а", b"\x80\xbf\x90", "б'", ENTER), "аб"),
    Case("overlong, surrogate, too large", (b"'\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80'", ENTER), ""),
    Case("bytes that never occur", (b"'\xf8\xfe\xff\xc1'", ENTER), ""),
    Case("control characters", ("'а\x00\x0f\x1d\u0085\u009bб'", ENTER), "аб"),
    Case("Windows-1251", ("'а", "пожилой мужчина".encode("cp1251"), "б'", ENTER), "а б"),
    Case("300 bytes at once", (f"'{LONG}'", ENTER), LONG),
    Case("a line wider than the terminal", (f"'{LONG}'", HOME, RIGHT, "ж", ENTER), "ж" + LONG),
    Case("... taken back", (f"'{LONG}'", LEFT, BACKSPACE * 155, ENTER), LONG[:5]),
    Case("indentation", ("for i in 'ж':\rprint(repr(i))", ENTER * 4), "ж"),
    Case("indentation taken back", ("if 0:\r'а'\r\x7felse:\r'ж'", ENTER * 4), "ж"),
    Case("indentation of its own", ("if 1:\r  if 1:\r    'ж'", ENTER * 2), "ж"),
    Case("continuation", ("('а'\r'б')", ENTER), "аб"),
    Case(
        "editing a continuation",
        ("['а',\r'в'", HOME, "'б',", ctrl("A"), END, "]", ENTER),
        [*"абв"],
    ),
    Case("kill stops at the line", ("('а'\r'б')", ctrl("U"), "'в')", ENTER), "ав"),
    Case("paste mode", (ctrl("E"), "if 1:\r  x = 'ж'\rprint(repr(x))", ctrl("D")), "ж"),
]
