"""tti.ask() reads a line of UTF-8 on firmware with our line editor and without it."""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from ttikit import simulator

from .model import ENTER, LEFT, ctrl
from .terminal import PROMPT, Terminal, open_firmware

ASK = b"import tti; x = tti.ask('?')\r"


def ask(terminal: Terminal, keys: bytes) -> str:
    """Answer tti.ask() with `keys`; return all that follows."""
    terminal.send(ASK)
    terminal.read_until(b"\n?")
    terminal.wait_for_sleep()
    terminal.send(keys)
    return terminal.read_until(PROMPT).decode(errors="replace")


def test_with_the_editor(terminal: Terminal) -> None:
    terminal.send(ASK)
    terminal.read_until(b"\n?")
    terminal.wait_for_editor()
    terminal.send("пжилой".encode() + LEFT * 5 + "о".encode() + ENTER)
    terminal.read_until(PROMPT)
    assert terminal.run(b"x\r") == ascii("пожилой")


@pytest.mark.parametrize(("key", "error"), [("C", "KeyboardInterrupt"), ("D", "EOFError")])
def test_the_editor_is_left(terminal: Terminal, key: str, error: str) -> None:
    terminal.send(ASK)
    terminal.read_until(b"\n?")
    terminal.wait_for_editor()
    terminal.send(ctrl(key))
    assert error in terminal.read_until(PROMPT).decode()


def test_without_the_editor(stock: Path, tmp_path: Path) -> None:
    with open_firmware(stock, tmp_path) as terminal:
        ask(terminal, "пожилой мужчина\n".encode())
        assert terminal.run(b"x\r") == ascii("пожилой мужчина")
        assert "EOFError" in ask(terminal, ctrl("D"))
        assert "KeyboardInterrupt" in ask(terminal, ctrl("C"))
        answer = ask(terminal, "пожилой\n".encode("cp1251"))
        assert "ValueError: the prompt is not valid UTF-8" in answer


@pytest.mark.parametrize(
    ("data", "wanted"),
    [("ёж\nкот\n", "'\\u0451\\u0436' '\\u043a\\u043e\\u0442'"), ("ёж\r\nкот", "'\\u0451\\u0436'")],
)
@pytest.mark.parametrize("name", ["firmware", "stock"])
def test_lines_of_a_pipe(
    data: str, wanted: str, name: str, request: pytest.FixtureRequest
) -> None:
    code = "import tti; print(repr(tti.ask('')), repr(tti.ask('')))"
    command = [str(request.getfixturevalue(name)), "-c", code]
    done = subprocess.run(
        command, input=data.encode(), capture_output=True, timeout=60, check=False
    )
    assert done.stdout.decode().startswith(wanted), done.stderr


def test_the_end_of_a_pipe(firmware: Path) -> None:
    command = [str(firmware), "-c", "import tti; tti.ask()"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert b"EOFError" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def line() -> ModuleType:
    simulator.install()
    return importlib.import_module("tti.line")


Read = Callable[[bytes], tuple[str, str]]


@pytest.fixture
def read(line: ModuleType) -> Read:
    """Return a function that types bytes at a board: (line, echo)."""

    def read(keys: bytes) -> tuple[str, str]:
        echo: list[str] = []
        data = line.from_board(iter(keys), echo.append)
        return data.decode(), "".join(echo)

    return read


@pytest.mark.parametrize(
    ("keys", "wanted", "echo"),
    [
        ("ёж\r".encode(), "ёж", "ёж\n"),
        ("语😀\r".encode(), "语😀", "语😀\n"),
        ("ёж\b\x7fлка\n".encode(), "лка", "ёж\b \b\b \bлка\n"),
        (b"\x7f\b\xd1\x91\r", "ё", "ё\n"),
        (b"\xd1\x91\x1b[D\x1b[3~\x1bOP\x1b[1;5C\xd0\xb6\r", "ёж", "ёж\n"),
        (b"\xd1\x91\x04\x00\x01\xd0\xb6\r", "ёж", "ёж\n"),
        (b"\x1b\r", "", "\n"),
    ],
)
def test_keys_at_a_board(read: Read, keys: bytes, wanted: str, echo: str) -> None:
    assert read(keys) == (wanted, echo)


def test_a_line_end_of_two_bytes_is_one(read: Read) -> None:
    assert read(b"a\r")[0] == "a"
    assert read(b"\nb\r")[0] == "b"
    assert read(b"\r")[0] == ""
    assert read(b"\nc\n")[0] == "c"
    assert read(b"\n")[0] == ""


NEVER_ENDS = {
    b"a\x03": KeyboardInterrupt,
    b"a\x1b\x03": KeyboardInterrupt,
    b"\x04": EOFError,
    b"a": EOFError,
    b"": EOFError,
}


@pytest.mark.parametrize(("keys", "error"), NEVER_ENDS.items())
def test_a_line_that_never_ends(read: Read, keys: bytes, error: type[BaseException]) -> None:
    with pytest.raises(error):
        read(keys)


@pytest.mark.parametrize("prompt", ['""', '" "', '", - "', '"??? ????"'])
def test_a_damaged_prompt_names_the_way_round(
    terminal: Terminal, stock: Path, tmp_path: Path, prompt: str
) -> None:
    call = f"import tti; tti.generate({prompt})\r".encode()
    sentence = "the prompt has no letters; say whom to draw"
    shown = terminal.run(call)
    assert sentence in shown and "set the terminal to UTF-8" in shown and "Ctrl-E" not in shown
    with open_firmware(stock, tmp_path) as other:
        shown = other.run(call)
        assert sentence in shown and "Ctrl-E" in shown and "tti.ask()" in shown


def test_numbers_alone_are_suspected(stock: Path, tmp_path: Path) -> None:
    with open_firmware(stock, tmp_path) as terminal:
        terminal.run(b"import tti" + ENTER)
        terminal.send(b'tti.generate(" , 60 ", steps=1)\r')
        shown = terminal.read_until(PROMPT).decode()
    assert "the face is a random one" in shown and "Ctrl-E" in shown
