"""A terminal with a MicroPython prompt in it: the firmware of this PC, or a board on a pty."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 30.0
PROMPT = b"\n>>> "  # on a line of its own: a sentence may speak of it


class Terminal:
    """The near end of a pty at whose far end MicroPython shows its friendly prompt."""

    def __init__(self, fd: int, process: int = 0) -> None:
        self.fd = fd
        self.process = process

    def send(self, keys: bytes) -> None:
        while keys:
            keys = keys[os.write(self.fd, keys) :]

    def send_bytes(self, keys: bytes) -> None:
        """Send the bytes one by one, as somebody types them."""
        for key in keys:
            self.send(bytes([key]))

    def read_until(self, text: bytes, count: int = 1, seconds: float = SECONDS) -> bytes:
        """Return what is shown up to the end of the `count`-th `text`, which must come."""
        seen = b""
        end = time.monotonic() + seconds
        while seen.count(text) < count:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"waited {seconds} s for {text!r} × {count}, saw {seen!r}"
            seen += os.read(self.fd, 4096)
        return seen

    def wait_for_editor(self) -> None:
        """Wait until input() on this PC takes keys: it drops what was typed before that."""
        end = time.monotonic() + SECONDS
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            assert time.monotonic() < end, "the terminal stays in line mode"
            time.sleep(0.001)

    def wait_for_sleep(self) -> None:
        """Wait until the firmware of this PC sleeps: a Ctrl-C just before that is seen late."""
        end = time.monotonic() + SECONDS
        state = Path(f"/proc/{self.process}/stat")
        while state.read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < end, "the firmware does not wait for input"
            time.sleep(0.001)

    def run(self, keys: bytes, prompts: int = 1) -> str:
        """Type `keys`, which end with the key that runs them; return the last line shown.

        prompts: how many prompts they bring, more than one where a line is cancelled or names are
        listed."""
        self.send(keys)
        shown = self.read_until(PROMPT, prompts)
        return shown.removesuffix(b"\r" + PROMPT).split(b"\r\n")[-1].decode()


@contextmanager
def open_firmware(firmware: Path, home: Path) -> Iterator[Terminal]:
    """Start the firmware of this PC at its prompt; `home` holds its history."""
    near, far = pty.openpty()
    child = subprocess.Popen(
        [str(firmware)],
        stdin=far,
        stdout=far,
        stderr=far,
        env={**os.environ, "HOME": str(home)},
        preexec_fn=lambda: os.login_tty(far),
    )
    os.close(far)
    terminal = Terminal(near, child.pid)
    try:
        terminal.read_until(PROMPT)
        yield terminal
    finally:
        child.kill()
        child.wait()
        os.close(near)
