"""What emulated processors have in common: memory for buffers, and calls of an image's functions.

The memory is the image, a stack, and pages that `place` hands out for buffers; everything else is
unmapped, so that an access outside them is an error and not a wrong number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager

from ttikit.emulator.image import Image
from ttikit.errors import TtiError

PAGE = 0x1000
BUFFERS = 0x6000_0000  # where `place` hands out memory
BUFFERS_END = 0x7000_0000
FLASH_BIT = 0x0800_0000  # the upper half of it counts as flash
_FILL = 0xA5

Blocks = Counter[tuple[int, int]]  # how often code runs, by address and bytes


class EmulatorError(TtiError):
    """The code did what a chip would answer with a fault; the text says what and where."""


class EmulatedCpu(ABC):
    """A core with an image in its memory."""

    def __init__(self, image: Image, machine: str):
        if image.machine != machine:
            raise TtiError(f"{image.path} is not for {machine} but for {image.machine}")
        self.image = image
        self._free = BUFFERS
        self._buffers: list[tuple[int, int]] = []

    # Memory

    def place(
        self, data: bytes, align: int = 0, *, flush: bool = False, flash: bool = False
    ) -> int:
        """Put `data` into pages of its own, unmapped memory around them; returns the address.

        The address is `align` modulo 16, or with `flush` the last byte ends a page. Reads of a
        buffer in `flash` are told apart where a core can tell reads.
        """
        size = len(data)
        room = size + 16 + PAGE - 1 & -PAGE
        start = self._free | (FLASH_BIT if flash else 0)
        if start + room + PAGE > (BUFFERS_END if flash else BUFFERS_END - FLASH_BIT):
            raise EmulatorError("no memory left for buffers; call release first")
        before = room - size if flush else align
        self._map(start, room)
        self.write(start, bytes([_FILL]) * before + data + bytes([_FILL]) * (room - before - size))
        self._buffers.append((start, room))
        self._free += room + PAGE
        return start + before

    def untouched(self, address: int, size: int) -> bool:
        """Whether the pages of a placed buffer are as `place` left them, outside the buffer."""
        start, room = next(b for b in self._buffers if b[0] <= address < b[0] + b[1])
        page = self.read(start, room)
        rest = page[: address - start] + page[address - start + size :]
        return rest.count(_FILL) == len(rest)

    def release(self) -> None:
        """Forget all placed buffers."""
        for start, size in self._buffers:
            self._unmap(start, size)
        self._buffers.clear()
        self._free = BUFFERS

    @abstractmethod
    def read(self, address: int, size: int) -> bytes:
        """Return the contents of memory."""

    @abstractmethod
    def write(self, address: int, data: bytes) -> None:
        """Set the contents of memory."""

    @abstractmethod
    def _map(self, start: int, size: int) -> None:
        """Give whole pages memory."""

    @abstractmethod
    def _unmap(self, start: int, size: int) -> None:
        """Take them away."""

    # Calls

    def call(self, function: str | int, *arguments: int) -> int:
        """Call a function, by name or address, with integers and addresses.

        Returns what it returns, as 32 bits.

        Raises:
            EmulatorError: an access outside the mapped memory, or an unknown instruction.
        """
        address = function if isinstance(function, int) else self.image.address(function)
        return self._run(address, arguments)

    @abstractmethod
    def _run(self, address: int, arguments: Sequence[int]) -> int:
        """Call the function at an address."""

    def _place(self, address: int) -> str:
        """The symbol that an address is in."""
        below = [(value & ~1, name) for name, value in self.image.symbols.items()]
        start, name = max((s for s in below if s[0] <= address), default=(0, "?"))
        return f"{name}+{address - start}"

    @abstractmethod
    def counting(self) -> AbstractContextManager[Blocks]:
        """Count, while the context is open, how often each block (address, bytes) is run.

        A block is a piece of code without jumps inside. The counts are there when it ends.
        """

    def instructions(self, blocks: Blocks) -> int:
        """Return how many instructions the blocks of `counting` are."""
        return sum(n * self._length(*block) for block, n in blocks.items())

    def _length(self, address: int, size: int) -> int:
        code, count, at = self.read(address, size), 0, 0
        while at < size:
            at += self.instruction_bytes(code[at:])
            count += 1
        return count

    @abstractmethod
    def instruction_bytes(self, code: bytes) -> int:
        """Return the length of the instruction at the start of `code`."""
