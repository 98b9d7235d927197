"""A conversation with a board over its terminal, by mpremote's raw REPL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import serial
from mpremote.transport import TransportError, TransportExecError
from mpremote.transport_serial import SerialTransport

from ttikit.errors import TtiError

SILENCE = 120.0  # seconds without a byte after which a board counts as hung
ANSWER = 10.0  # seconds within which a board has to take a command
DEVICE = Path(__file__).with_name("device")

OnLine = Callable[[str], None]


class SessionError(TtiError):
    """The board cannot be reached, is gone, or its program failed; one sentence."""


class Session:
    """Runs code on the board at ``port``; a context manager.

    The board's own program (main.py) is interrupted. Every failure is a `SessionError`.
    """

    def __init__(self, port: str, *, soft_reset: bool = False) -> None:
        self.port, self.soft_reset = port, soft_reset
        self._transport: SerialTransport | None = None

    def __enter__(self) -> Session:
        with self._plainly():
            self._transport = SerialTransport(self.port, timeout=ANSWER)
            self._transport.enter_raw_repl(soft_reset=self.soft_reset, timeout_overall=ANSWER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        except (OSError, serial.SerialException):
            raise SessionError(
                f"{self.port}: the board is gone or its port is in use; plug it in again, close "
                "other programs that use it, and repeat"
            ) from None


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
    line = trace.strip().splitlines()[-1]
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
