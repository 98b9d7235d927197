"""Driving a board as a person does: with mpremote, and by typing into its terminal."""

import os
import select
import subprocess
import sys
import time
import tty
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from ttikit.board import EmulatedBoard

on_cpus = pytest.mark.parametrize("cpu", ["m33", "lx7"], indirect=True, scope="session")


@dataclass(frozen=True)
class Said:
    """What mpremote printed, decoded, and its exit status."""

    text: str
    rc: int


Mpremote = Callable[..., Said]


def mpremote_on(board: EmulatedBoard) -> Mpremote:
    """Return a function that runs mpremote with `commands` on the board.

    `mpremote("exec", "print(1)", timeout=60, rc=0)`: fails unless it ends with status `rc`
    (None: with any).
    """

    def run(*commands: str | Path, timeout: float = 60, rc: int | None = 0) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "mpremote", "connect", board.port, *map(str, commands)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        said = Said(done.stdout.decode(errors="replace").replace("\r\n", "\n"), done.returncode)
        assert rc is None or said.rc == rc, said.text
        return said

    return run


class Terminal:
    """The board's terminal, as an open file."""

    def __init__(self, port: str) -> None:
        self.port = port

    def __enter__(self) -> "Terminal":
        self._file = os.open(self.port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def type(self, keys: bytes) -> None:
        """Send `keys`, such as b"print(1)\\r"."""
        while keys:
            keys = keys[os.write(self._file, keys) :]

    def read_until(self, text: bytes, seconds: float = 20) -> bytes:
        """Return everything up to and with `text`."""
        seen = b""
        end = time.monotonic() + seconds
        while not seen.endswith(text):
            ready, _, _ = select.select([self._file], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"waited {seconds} s for {text!r}, saw {seen!r}"
            seen += os.read(self._file, 1)
        return seen

    def prompt(self) -> None:
        """Stop what runs and get to an empty prompt."""
        end = time.monotonic() + 20
        while True:  # the board hears nothing until QEMU has noticed that someone listens
            self.type(b"\x03\x02")
            ready, _, _ = select.select([self._file], [], [], 0.5)
            if ready:
                break
            assert time.monotonic() < end, "the board does not answer"
        self.read_until(b">>> ")
        time.sleep(0.2)
        while select.select([self._file], [], [], 0.1)[0]:
            os.read(self._file, 4096)
