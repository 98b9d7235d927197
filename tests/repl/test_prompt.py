"""The friendly prompt takes UTF-8 and edits it by code point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .cases import CASES, Case, check
from .model import ENTER
from .terminal import PROMPT, SECONDS, Terminal, open_firmware
from .transcript import CALL, draw, golden


def test_a_prompt_typed_byte_by_byte_draws_the_golden_picture(
    terminal: Terminal, repo: Path
) -> None:
    assert draw(terminal) == repr(golden(repo))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_editing(case: Case, terminal: Terminal) -> None:
    check(case, terminal)


def test_the_stock_editor_loses_the_prompt(stock: Path, tmp_path: Path) -> None:
    with open_firmware(stock, tmp_path) as terminal:
        assert terminal.run(b"import _tti; dict(_tti.build())['readline']\r") == "'stock'"
        terminal.run(b"import tti" + ENTER)
        terminal.send_bytes(CALL + ENTER)
        answer = terminal.read_until(PROMPT).decode()
    assert "ValueError" in answer and "Ctrl-E" in answer and "tti.ask()" in answer, answer


def test_the_table_fails_on_the_stock_editor(stock: Path, tmp_path: Path) -> None:
    with open_firmware(stock, tmp_path) as terminal, pytest.raises(AssertionError):
        check(CASES[0], terminal)


def wait_for(file: Path) -> None:
    end = time.monotonic() + SECONDS
    while not (file.exists() and file.read_bytes().endswith(b"\n")):
        assert time.monotonic() < end, f"{file} is not written"
        time.sleep(0.01)


def test_history_outlives_the_firmware(firmware: Path, tmp_path: Path) -> None:
    with open_firmware(firmware, tmp_path) as terminal:
        terminal.run("'ёж'\r".encode())
        terminal.send(b"\x04")
        terminal.read_until(b"\n")
        wait_for(tmp_path / ".micropython.history")
    with open_firmware(firmware, tmp_path) as terminal:
        assert terminal.run(b"\x1b[A\r") == ascii("ёж")


def test_a_damaged_history_does_no_harm(firmware: Path, tmp_path: Path) -> None:
    (tmp_path / ".micropython.history").write_bytes(
        b"'\xd0\x01\xb6\xff\xd1\x91\x1b[2J\x7f'\n\xd0\n"
    )
    with open_firmware(firmware, tmp_path) as terminal:
        assert terminal.run(b"\x1b[A\r") == ascii("ё[2J")


def own_tests(names: list[str], firmware: Path, mpy_dir: Path, tmp_path: Path) -> set[str]:
    """Run MicroPython's own tests of these names; return those that passed."""
    done = subprocess.run(
        [sys.executable, "run-tests.py", "-r", str(tmp_path / "results"), *names],
        cwd=mpy_dir / "tests",
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "MICROPY_MICROPYTHON": str(firmware),
            "MICROPY_CPYTHON3": sys.executable,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return set(re.findall(r"^pass +(\S+)", done.stdout, re.MULTILINE))


def test_own_tests_of_the_stock_prompt_pass(firmware: Path, mpy_dir: Path, tmp_path: Path) -> None:
    # It prints the same bytes for the same keys. MicroPython's runner gives the firmware 20 ms to
    # answer, which a busy machine may miss: a test has five tries.
    kinds = ["basic", "autocomplete", "autoindent", "cont", "emacs_keys", "words_move"]
    names = {f"cmdline/repl_{kind}.py" for kind in kinds}
    for _ in range(5):
        names -= own_tests(sorted(names), firmware, mpy_dir, tmp_path)
        if not names:
            break
    assert not names


def test_a_long_paste_does_not_take_its_length_squared(terminal: Terminal) -> None:
    start = time.monotonic()
    terminal.send(b'len("')
    for _ in range(60):
        terminal.send("ж".encode() * 500)
        terminal.read_until("ж".encode(), 500)
    assert terminal.run(b'")\r') == "30000"
    assert time.monotonic() - start < 10  # 0.6 s; each letter measured from the start: 44 s
