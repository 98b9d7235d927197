"""The friendly prompt of the emulated board: the table and the transcript of the PC's firmware."""

import os
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_driver import on_cpus
from ttikit.board import EmulatedBoard

from tests.repl.cases import CASES, Case, check
from tests.repl.terminal import PROMPT, Terminal
from tests.repl.transcript import draw, golden

SLOW = pytest.param("lx7", marks=pytest.mark.long)  # half a minute for the picture


@pytest.fixture(scope="module")
def terminal(board: EmulatedBoard) -> Iterator[Terminal]:
    fd = os.open(board.port, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(fd)
    opened = Terminal(fd)
    # The tests before may have left the raw prompt.
    opened.send(b"\x03\x03\x02'I' 'am here'\r")
    opened.read_until(b"'Iam here'\r" + PROMPT)
    yield opened
    os.close(fd)


@pytest.mark.parametrize("cpu", ["m33", SLOW], indirect=True, scope="session")
def test_a_prompt_typed_byte_by_byte_draws_the_golden_picture(
    terminal: Terminal, repo: Path
) -> None:
    assert draw(terminal) == repr(golden(repo))


@on_cpus
@pytest.mark.parametrize("case", CASES, ids=str)
def test_editing(case: Case, terminal: Terminal) -> None:
    check(case, terminal)


@on_cpus
@pytest.mark.parametrize(("key", "error"), [(b"\x03", "KeyboardInterrupt"), (b"\x04", "EOFError")])
def test_ask(terminal: Terminal, key: bytes, error: str) -> None:
    terminal.send(b"import tti; x = tti.ask('?')\r")
    terminal.read_until(b"\n?")
    terminal.send("пжилой\x1b[1~\x1b[Cо\r".encode())
    terminal.read_until(PROMPT)
    assert terminal.run(b"x\r") == ascii("пожилой")
    terminal.send(b"tti.ask('?')\r")
    terminal.read_until(b"\n?")
    terminal.send(key)
    assert error in terminal.read_until(PROMPT).decode()
