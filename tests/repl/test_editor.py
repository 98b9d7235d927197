"""The line editor against a model: what the line holds and what the screen shows, key by key."""

from __future__ import annotations

import os
import shlex
import struct
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pyte
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcwidth import wcwidth

from .model import (
    ACTIONS,
    BACKSPACE,
    DELETE,
    END,
    ENTER,
    HOME,
    LEFT,
    RIGHT,
    UP,
    WORD_LEFT,
    Model,
    ctrl,
    is_printable,
)
from .terminal import open_firmware

PS1 = ">>> "
JUNK = [
    b"\xd0",  # the first half of a letter
    b"\xe2\x82",
    b"\x80",  # a later part of one
    b"\xc0\xaf",  # overlong
    b"\xed\xa0\x80",  # a surrogate
    b"\xf4\x90\x80\x80",  # beyond the last code point
    b"\xe0\x9f\xbf",
    b"\xf0\x8f\xbf\xbf",
    b"\xff",
    "\x85\x9b".encode(),  # control characters of Latin-1
    b"\x00",
    b"\x1b[15~",  # F5
    b"\x1bOP",  # F1
    b"\x1b[1;2P",
    b"\x1bx",
]
LETTERS = "абвёй Zz09_.'(«—é語한😀\u0301\u0306"

texts = st.text(LETTERS, min_size=1, max_size=4).map(str.encode)
# Each action as often as any other, however many keys it has.
actions = st.sampled_from(sorted(set(ACTIONS.values()))).flatmap(
    lambda action: st.sampled_from([key for key, does in ACTIONS.items() if does == action])
)
pieces = st.one_of(texts, texts, actions, actions, st.sampled_from(JUNK))
# A line that begins with text is not ended by the first Ctrl-A.
keys = st.lists(pieces, max_size=30) | st.builds(
    lambda text, keys: [text, *keys], texts, st.lists(pieces, min_size=8, max_size=30)
)
histories = st.lists(st.text(LETTERS, max_size=8), max_size=10)


class Probe:
    """The editor in a process of its own, built with the sanitizers."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
        )

    def tell(self, command: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(command)

    def ask(self, command: bytes) -> tuple[int, bytes, bytes]:
        """Return (result, output, the whole statement so far)."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.tell(command)
        self.process.stdin.flush()
        head = self.process.stdout.read(12)
        assert len(head) == 12, f"the editor ended with status {self.process.wait()}"
        result, shown, line = struct.unpack("<iII", head)
        return result, self.process.stdout.read(shown), self.process.stdout.read(line)

    def keys(self, keys: bytes) -> tuple[int, bytes, bytes]:
        """Type bytes; return the last result, all output, and the statement."""
        shown = b""
        result, line = -1, b""
        for key in keys:
            result, output, line = self.ask(b"k" + bytes([key]))
            shown += output
        return result, shown, line

    def remember(self, line: bytes) -> None:
        self.tell(b"h" + struct.pack("<H", len(line)) + line)


@pytest.fixture(scope="module")
def probe(
    firmware: Path, mpy_dir: Path, repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Probe]:
    program = tmp_path_factory.mktemp("editor") / "editor_probe"
    unix = mpy_dir / "ports" / "unix"
    folders = [
        *(firmware.parent, mpy_dir, unix, unix / "variants" / "standard"),
        *(repo / "board_configs" / "unix", repo / "native" / "readline"),
    ]
    sources = [
        *(Path(__file__).with_name("editor_probe.c"), mpy_dir / "py/vstr.c"),
        *(mpy_dir / "py/unicode.c", *(mpy_dir / "py").glob("nlr*.c")),
        *(repo / "native" / "readline").glob("*.c"),
    ]
    command = [
        *shlex.split(os.environ.get("CC", "gcc")),
        *("-std=gnu99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        *("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"),
        *("-DUNIX", "-DMICROPY_USE_READLINE=1", "-Wl,--wrap=readline"),
        *(f"-I{folder}" for folder in folders),
        *map(str, sources),
    ]
    subprocess.run([*command, "-o", str(program)], check=True)
    running = Probe(program)
    yield running
    assert running.process.stdin is not None
    running.process.stdin.close()
    assert running.process.wait(timeout=30) == 0


class Screen:
    """What a terminal shows of the editor's output, beside what it ought to show."""

    def __init__(self, columns: int = 250) -> None:
        self.columns = columns
        self.screen = pyte.Screen(columns, 4)
        self.stream = pyte.ByteStream(self.screen)

    def state(self) -> tuple[str, int]:
        row = self.screen.buffer[self.screen.cursor.y]
        return "".join(row[x].data for x in range(self.columns)).rstrip(), self.screen.cursor.x

    def check(self, shown: bytes, model: Model) -> None:
        self.stream.feed(shown)
        wanted = Screen(self.columns)
        wanted.stream.feed((PS1 + model.line).encode())
        column = len(PS1) + sum(map(wcwidth, model.line[: model.cursor]))
        assert self.state() == (wanted.state()[0], column)


def begin(probe: Probe, history: list[str]) -> Model:
    """Begin a line with eight lines of history."""
    model = Model()
    for line in ["раз", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", *history]:
        model.remember("".join(filter(is_printable, line)))
        probe.remember(line.encode())
    return model


@settings(max_examples=150, deadline=None)
@given(histories, keys)
@example([], ["я".encode(), LEFT, "\u0301".encode()])
@example([], ["е\u0301л".encode(), HOME, RIGHT, END])
@example(["語\u0301"], [UP, LEFT, DELETE, BACKSPACE])
@example([], [b"\xd0", b"\x1bx", b"\xb6"])
@example([], [b"ab", b"\x1b", BACKSPACE])
@example([], [b"ab", LEFT, b"\x1b[259~"])
@example([], ["раз, ".encode(), WORD_LEFT])
def test_line_and_screen_are_the_models(
    probe: Probe, history: list[str], keys: list[bytes]
) -> None:
    model = begin(probe, history)
    screen, bare = Screen(), False
    _, shown, _ = probe.ask(b"n")
    screen.check(shown, model)
    for key in keys:
        ended = model.key(key)
        result, shown, line = probe.keys(key)
        if ended:
            assert ended == f"control {result}" and not shown
            return
        assert (result, line.decode()) == (-1, model.line)
        # A mark without a letter joins the prompt's own cell, once for each time it is shown.
        bare = bare or (model.line != "" and unicodedata.combining(model.line[0]) != 0)
        if not bare:
            screen.check(shown, model)
    assert model.key(ENTER) == "enter"
    assert probe.keys(ENTER) == (0, b"\r\n", model.line.encode())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.binary(max_size=200))
def test_any_bytes_leave_a_valid_line(probe: Probe, history: bytes, keys: bytes) -> None:
    probe.remember(history.replace(b"\0", b""))
    probe.ask(b"n")
    for key in keys:
        result, _, statement = probe.ask(b"k" + bytes([key]))
        line = statement.decode().rpartition("\n")[2]
        assert all(map(is_printable, line))
        if result == 0:
            probe.ask(b"c")
        elif result > 0:
            assert result == key and 1 <= key <= 5
            probe.ask(b"n")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300).map(lambda data: bytes(b for b in data if b > 31 and b != 127)))
@example(b"\xe0\x9f\xbf\xe0\xa0\x80\xed\x9f\xbf\xed\xa0\x80\xc1\xbf\xc2\xa0")
@example(b"\xf0\x8f\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xf4\x90\x80\x80\xf5\x80\x80\x80")
def test_text_is_what_python_decodes(probe: Probe, data: bytes) -> None:
    probe.ask(b"n")
    _, _, line = probe.keys(data)
    assert line.decode() == "".join(filter(is_printable, data.decode(errors="ignore")))


@settings(max_examples=100, deadline=None)
@given(keys, st.integers(0, 6))
def test_keys_have_no_effect_without_memory(
    probe: Probe, keys: list[bytes], allocations: int
) -> None:
    probe.ask(b"n")
    probe.tell(b"m" + bytes([allocations]))
    for key in keys:
        result, _, line = probe.keys(key)
        line.decode()
        if result >= 0:
            break
    else:
        assert probe.keys(ENTER)[0] == 0  # nor is there an error that nobody catches
    probe.tell(b"m\xff")


def test_a_line_grows_as_long_as_there_is_memory(probe: Probe) -> None:
    probe.ask(b"n")
    probe.tell(b"m\x03")
    _, _, line = probe.keys("ж".encode() * 1000)
    assert probe.keys(ENTER)[0] == 0
    probe.tell(b"m\xff")
    assert 50 <= len(line) < 2000 and set(line.decode()) == {"ж"}
    probe.ask(b"n")
    _, _, longer = probe.keys("ж".encode() * 1000)
    assert len(longer) == 2000


@pytest.mark.parametrize(
    ("keys", "wanted", "shown"),
    [
        ("aw\t", "awцелое", PS1 + "awцелое"),
        ("w.\x02\t", "wцелое.", PS1 + "wцелое."),
        ("ah\t", "ahx", PS1 + "ahx"),
        ("ah\tа", "ahxа", PS1 + "ahxа"),
        ("al\t", "al", PS1 + "al"),
        ("al.я\x02\x02\t", "al.я", PS1 + "al.я"),
        ("zz\t", "zz", PS1 + "zz"),
        ("\t", "", PS1),
        ("я \t", "я     ", PS1 + "я     "),
    ],
)
def test_completion(probe: Probe, keys: str, wanted: str, shown: str) -> None:
    screen = Screen(60)
    screen.stream.feed(probe.ask(b"n")[1])
    _, output, line = probe.keys(keys.encode())
    screen.stream.feed(output)
    assert line.decode() == wanted
    row, column = screen.state()
    assert row == shown.rstrip()
    assert column == len(shown) - (keys.count("\x02"))


def test_half_a_completed_letter_is_not_made_whole(probe: Probe) -> None:
    probe.ask(b"n")
    assert probe.keys(b"ah\t\xb0")[2] == b"ahx"


def test_a_long_way_back_is_one_command(probe: Probe) -> None:
    probe.ask(b"n")
    probe.keys(("語" * 600).encode())
    assert probe.keys(ctrl("A"))[1] == b"\x1b[1200D"


BLOCKS = [
    *((0x20, 0x7E), (0xAE, 0x590), (0x1E00, 0x1FFE), (0x20A0, 0x20CF), (0x2190, 0x2199)),
    *((0x3041, 0x3096), (0x4E00, 0x4F00), (0xAC00, 0xAD00), (0x1F600, 0x1F64F)),
]


@pytest.mark.parametrize(("first", "last"), BLOCKS)
def test_columns_are_those_of_terminals(probe: Probe, first: int, last: int) -> None:
    for code in range(first, last + 1):
        probe.ask(b"n")
        probe.keys(chr(code).encode())
        back = len(probe.keys(ctrl("A"))[1])
        assert back == max(0, wcwidth(chr(code))), hex(code)


@settings(max_examples=30, deadline=None)
@given(st.lists(keys, min_size=1, max_size=4))
def test_a_line_that_input_reads_is_the_models(
    firmware: Path, tmp_path_factory: pytest.TempPathFactory, lines: list[list[bytes]]
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".micropython.history").write_text("ёж\nпожилой мужчина\n")
    model = Model()
    model.remember("ёж")
    model.remember("пожилой мужчина")
    with open_firmware(firmware, home) as terminal:

        def run(line: str) -> str:
            model.remember(line)
            return terminal.run(line.encode() + ENTER)

        for keys in lines:
            run("_line = None")
            command = "_line = input('?')"
            model.remember(command)
            terminal.send(command.encode() + ENTER)
            model.begin()
            typed = b""
            for key in [*keys, ENTER]:
                typed += key
                ended = model.key(key)
                if ended:
                    break
            terminal.read_until(b"\r\n?")
            terminal.wait_for_editor()
            terminal.send(typed)
            terminal.read_until(b">>> ")
            failed = ended in ("control 3", "control 4")
            assert run("[_line]") == ascii([None if failed else model.line])
