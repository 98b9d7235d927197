"""A conversation with a board over its terminal, by mpremote's raw REPL."""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import serial
from mpremote import transport_serial
from mpremote.transport import TransportError, TransportExecError
from mpremote.transport_serial import SerialTransport

from ttikit.errors import TtiError

SILENCE = 120.0  # seconds without a byte after which a board counts as hung
ANSWER = 10.0  # seconds within which a board has to take a command
CALLING = 30.0  # seconds within which it has to stop its own program, which may print all the time
DEVICE = Path(__file__).with_name("device")

# Begins the lines that a script in device/ prints for this side; all others are the board's own.
MARK = "tti>"

OnLine = Callable[[str], None]

# mpremote prints what it could not make sense of, between the lines that a script reads.
transport_serial.print = lambda *args: None


class SessionError(TtiError):
    """The board cannot be reached, is gone, or its program failed; one sentence."""


class Session:
    """Runs code on the board at ``port``; a context manager.

    The board's own program (main.py) is interrupted. Every failure is a `SessionError`.
    """

    stopped = threading.Event()  # set while the conversations of all threads have to end
    _open: ClassVar[set[Session]] = set()

    def __init__(self, port: str, *, soft_reset: bool = False) -> None:
        self.port, self.soft_reset = port, soft_reset
        self._transport: SerialTransport | None = None

    def __enter__(self) -> Session:
        with self._plainly():
            try:
                transport = SerialTransport(self.port, timeout=ANSWER)
            except ValueError:  # a URL of a kind that pyserial does not know
                raise TransportError("failed to access the port") from None
        try:
            with self._plainly(), _within(CALLING, transport.serial):
                transport.serial.write_timeout = SILENCE
                transport.enter_raw_repl(soft_reset=self.soft_reset, timeout_overall=ANSWER)
        except BaseException:
            with contextlib.suppress(OSError, serial.SerialException):
                transport.close()
            raise
        self._transport = transport
        Session._open.add(self)
        return self

    @staticmethod
    def stop_all() -> None:
        """Make what other threads run on their boards fail soon: Ctrl-C for all of them."""
        Session.stopped.set()
        for session in tuple(Session._open):
            transport = session._transport
            with contextlib.suppress(OSError, serial.SerialException):
                if transport is not None:
                    transport.serial.write(b"\x03")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        Session._open.discard(self)
        transport, self._transport = self._transport, None
        if transport is None:
            return
        with contextlib.suppress(OSError, TransportError, serial.SerialException):
            if error is not None:
                transport.serial.write(b"\x03")  # whatever still runs there
            transport.exit_raw_repl()
        with contextlib.suppress(OSError, serial.SerialException):
            transport.close()

    def run(self, code: str, on_line: OnLine | None = None) -> list[str]:
        """Run ``code`` and return the lines that it printed, without those that ``on_line`` got.

        With ``on_line`` each line is handed over as it comes. Raises `SessionError`, with the
        board's own sentence if its program raised.
        """
        kept: list[str] = []
        lines = _Lines(on_line or kept.append)
        if Session.stopped.is_set():
            raise SessionError(f"{self.port}: interrupted")
        with self._plainly():
            assert self._transport is not None
            _, error = self._transport.exec_raw(code, SILENCE, lines.take)
            if error:
                raise TransportExecError(b"", error.decode(errors="replace"))
        lines.end()
        return kept

    def load(self, name: str) -> None:
        """Run the script device/``name``.py, whose functions stay for later calls of `run`."""
        self.run((DEVICE / f"{name}.py").read_text("utf-8"))

    @contextlib.contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except TransportExecError as error:
            raise SessionError(f"{self.port}: {_sentence(str(error.error_output))}") from None
        except TransportError as error:
            raise SessionError(f"{self.port}: {_advice(str(error))}") from None
        except struct.error:
            raise SessionError(f"{self.port}: {_advice('half an answer')}") from None
        except (OSError, serial.SerialException):
            raise SessionError(
                f"{self.port}: the board is gone or its port is in use; plug it in again, close "
                "other programs that use it, and repeat"
            ) from None


@contextlib.contextmanager
def _within(seconds: float, port: serial.Serial) -> Iterator[None]:
    """Let no read begin after `seconds`; mpremote itself waits for silence without an end."""
    read, end = port.read, time.monotonic() + seconds

    def bounded(size: int = 1) -> bytes:
        if time.monotonic() > end:
            raise TransportError("could not enter raw repl")
        found: bytes = read(size)
        return found

    port.read = bounded
    try:
        yield
    finally:
        port.read = read


def told(line: str) -> tuple[str, str]:
    """The word and the rest of a line that a script in device/ printed; two empty ones for any
    other line."""
    mark, _, rest = line.partition(" ")
    word, _, text = rest.partition(" ")
    return (word, text) if mark == MARK else ("", "")


def answers(session: Session, code: str, word: str) -> list[str]:
    """Run ``code`` and return what it told under ``word``."""
    pairs = map(told, session.run(code))
    return [text for found, text in pairs if found == word]


class _Lines:
    """Puts the bytes of a terminal together to lines."""

    def __init__(self, use: OnLine) -> None:
        self._use, self._bytes = use, bytearray()

    def take(self, data: bytes) -> None:
        for byte in data:
            if byte == 0x0A:
                self.end()
            elif byte not in (0x04, 0x0D):  # the end of the output, and of a line
                self._bytes.append(byte)

    def end(self) -> None:
        if self._bytes:
            self._use(self._bytes.decode(errors="replace"))
            self._bytes.clear()


def _sentence(trace: str) -> str:
    """The last line of a traceback, without the name of a class that says nothing to people."""
    line = (trace.strip().splitlines() or ["the program there failed"])[-1]
    kind, _, text = (part.strip() for part in line.partition(":"))
    plain = kind in ("ValueError", "TypeError", "OSError", "MemoryError", "RuntimeError")
    if kind == "MemoryError" and (not text or text.startswith("memory allocation")):
        return "the board ran out of memory; free some there, or reset it, and repeat"
    if kind == "ImportError" and "tti" in text:
        return "the firmware has no tti; flash one that `make firmware` built"
    return text if plain and text else line


def _advice(text: str) -> str:
    if "failed to access" in text:
        return (
            "there is no such port, or another program uses it; `ttikit board list` shows boards"
        )
    if "raw repl" in text:
        return "no MicroPython answers there; press the board's reset button and repeat"
    return f"the conversation broke off ({text}); repeat"
