"""An emulated Xtensa LX7 with the ESP32-S3's vector instructions (QEMU and a program in it).

The image is one of `make -C native lx7`: besides the functions to call it holds the program that
calls them (board_configs/qemu_lx7/call_server.c has the protocol), which executes the vector
instructions too.
"""

from __future__ import annotations

import mmap
import select
import shutil
import struct
import subprocess
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ttikit.emulator.cpu import PAGE, Blocks, EmulatedCpu, EmulatorError
from ttikit.emulator.image import Image
from ttikit.errors import TtiError

PROGRAM = "qemu-system-xtensa"
PACKAGE = "qemu-system-misc"
MACHINE = (
    *("-machine", "sim", "-cpu", "de233_fpu", "-m", "128M", "-semihosting"),
    *("-display", "none", "-monitor", "none", "-serial", "none"),
)
SECONDS = 120.0  # that a call may take

READ, WRITE, MAP, CALL = 1, 2, 3, 4
PAGES, PAGES_END = 0x0400_0000, 0x0800_0000  # the machine's RAM for buffers
ABSENT = 0xC  # LX7_PAGE_ABSENT

# Causes of exceptions that a call ends with.
CAUSES = {
    0: "an instruction that the core does not have",
    6: "a division by zero",
    9: "an access to {address}, which is not a multiple of its size",
    16: "a jump to {address}, which is not mapped",
    20: "a jump to {address}, which is not mapped",
    24: "an access to {address}, which is not mapped",
    28: "a read of {address}, which is not mapped",
    29: "a write to {address}, which is not mapped",
}


class XtensaLX7(EmulatedCpu):
    """One core with float unit and vector unit, with the image in its memory.

    counter: the library lx7_counts.so of `make -C native lx7`, for `counting`.
    """

    def __init__(self, image: Image, counter: Path | None = None):
        super().__init__(image, "Xtensa")
        program = shutil.which(PROGRAM)
        if program is None:
            raise TtiError(f"{PROGRAM} is missing; install the package {PACKAGE}")
        self._pages = PAGES
        self._code = image.address("_stext"), image.address("_etext")
        self._counts = _shared_counts(self._code[1] - self._code[0]) if counter else None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  open as long as QEMU
        process = subprocess.Popen(
            [program, *MACHINE, "-kernel", str(image.path), *self._plugin(counter)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        assert process.stdin and process.stdout
        self._in, self._out = process.stdin, process.stdout
        self._end = weakref.finalize(self, _end, process)

    def _plugin(self, counter: Path | None) -> list[str]:
        if counter is None or self._counts is None:
            return []
        first, last = self._code
        name = str(self._counts[0].name).replace(",", ",,")
        return ["-plugin", f"{counter},counts={name},first={first},last={last}"]

    def close(self) -> None:
        """End QEMU; the object's end does it too."""
        self._end()

    # Memory

    def read(self, address: int, size: int) -> bytes:
        """Return the contents of memory."""
        self._ask(READ, address, size)
        return self._answer(size)

    def write(self, address: int, data: bytes) -> None:
        """Set the contents of memory."""
        self._ask(WRITE, address, len(data), data)

    def _map(self, start: int, size: int) -> None:
        if self._pages + size > PAGES_END:
            raise EmulatorError("no memory left for buffers; call release first")
        self._ask(MAP, start, self._pages, struct.pack("<I", size // PAGE))
        self._pages += size

    def _unmap(self, start: int, size: int) -> None:
        self._ask(MAP, start, ABSENT, struct.pack("<I", size // PAGE))

    def release(self) -> None:
        """Forget all placed buffers."""
        super().release()
        self._pages = PAGES

    # Calls

    def _run(self, address: int, arguments: Sequence[int]) -> int:
        words = [a & 0xFFFF_FFFF for a in arguments]
        self._ask(CALL, address, len(words), struct.pack(f"<{len(words)}I", *words))
        failed, result = struct.unpack("<2I", self._answer(8))
        if not failed:
            return int(result)
        pc, at, stack = struct.unpack("<3I", self._answer(12))
        what = CAUSES.get(result, "exception {cause}").format(address=f"0x{at:08x}", cause=result)
        bottom = self.image.address("_sstack")
        if stack - 256 < bottom:
            what = "the stack is full"
        raise EmulatorError(f"{what}, at 0x{pc:08x} ({self._place(pc)})")

    @property
    def vector_instructions(self) -> int:
        """How many vector instructions have been executed since the start."""
        return int.from_bytes(self.read(self.image.address("pie_executed"), 8), "little")

    @contextmanager
    def counting(self) -> Iterator[Blocks]:
        """Count, while the context is open, how often each instruction (address, bytes) is run."""
        if self._counts is None:
            raise TtiError("counting needs lx7_counts.so; give it as counter")
        blocks: Blocks = Counter()
        counts = self._counts[1]
        first, last = self._code
        vector = self.image.address("pie_counts"), 4 * (last - first)
        self.write(vector[0], bytes(vector[1]))
        self.read(first, 4)  # what was asked before is done
        counts[:] = bytes(len(counts))
        yield blocks
        code = self.read(first, last - first)
        scalar = struct.unpack(f"<{last - first}Q", counts[:])
        # Those of the vector unit raise exceptions, and run on without coming back each time.
        pairs = zip(scalar, struct.unpack(f"<{last - first}I", self.read(*vector)), strict=True)
        for at, (n, vectors) in enumerate(pairs):
            if n or vectors:
                blocks[first + at, self.instruction_bytes(code[at:])] = vectors or n

    def instruction_bytes(self, code: bytes) -> int:
        """Return the length of the instruction at the start of `code`."""
        kind = code[0] & 15
        return 3 if kind < 8 else 2 if kind < 14 else 4

    # The pipe

    def _ask(self, number: int, first: int, second: int, data: bytes = b"") -> None:
        try:
            self._in.write(struct.pack("<3I", number, first, second) + data)
        except (OSError, ValueError):  # a broken pipe, or closed by close()
            raise self._ended() from None

    def _answer(self, size: int) -> bytes:
        answer = b""
        try:
            self._in.flush()
            while len(answer) < size:
                if not select.select([self._out], [], [], SECONDS)[0]:
                    raise EmulatorError(f"no answer within {SECONDS:.0f} seconds")
                part = self._out.read1(size - len(answer))  # type: ignore[attr-defined]
                if not part:
                    raise self._ended()
                answer += part
        except OSError:
            raise self._ended() from None
        return answer

    def _ended(self) -> EmulatorError:
        self._log.seek(0)
        said = " / ".join(self._log.read().decode(errors="replace").splitlines()[-3:])
        return EmulatorError(f"QEMU has ended: {said or 'it said nothing'}")


def _shared_counts(addresses: int) -> tuple[IO[bytes], mmap.mmap]:
    file = tempfile.NamedTemporaryFile()  # noqa: SIM115  open as long as QEMU
    file.truncate(8 * addresses)
    return file, mmap.mmap(file.fileno(), 8 * addresses)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):  # what was not sent yet
                pipe.close()
