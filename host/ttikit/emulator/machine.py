"""An emulated Cortex-M33 (the package unicorn) that calls the functions of an ELF image.

The memory is the image, a stack, and pages that `place` hands out for buffers; everything else is
unmapped, so that an access outside them is an error and not a wrong number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ttikit.emulator.image import Image
from ttikit.errors import TtiError

PAGE = 0x1000
BUFFERS = 0x6000_0000  # where `place` hands out memory
BUFFERS_END = 0x7000_0000
FLASH_BIT = 0x0800_0000  # the upper half of it counts as flash
STACK_TOP = 0x7F00_0000
STACK_BYTES = 0x1_0000
RETURN = 0x7F10_0000  # a page of its own: a call ends when it gets here
_FILL = 0xA5


class EmulatorError(TtiError):
    """The code did what a chip would answer with a fault; the text says what and where."""


def _pages(start: int, end: int) -> tuple[int, int]:
    """First address and size of the pages that hold start ≤ address < end."""
    first = start & -PAGE
    return first, (end + PAGE - 1 & -PAGE) - first


class CortexM33:
    """One core with DSP and FPU, with the image in its memory."""

    def __init__(self, image: Image):
        import unicorn
        from unicorn import arm_const

        self.image = image
        self._regs = arm_const
        self._error = unicorn.UcError
        self._hooks = unicorn.unicorn_const
        self._uc = uc = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        uc.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_M33)
        mapped: set[int] = set()
        for address, data in image.blocks:
            start, size = _pages(address, address + len(data))
            for page in range(start, start + size, PAGE):
                if page not in mapped:
                    uc.mem_map(page, PAGE)
                    mapped.add(page)
            uc.mem_write(address, data)
        uc.mem_map(STACK_TOP - STACK_BYTES, STACK_BYTES)
        uc.mem_map(RETURN, PAGE)
        self._free = BUFFERS
        self._buffers: list[tuple[int, int]] = []

    # Memory

    def place(
        self, data: bytes, align: int = 0, *, flush: bool = False, flash: bool = False
    ) -> int:
        """Put `data` into pages of its own, unmapped memory around them; returns the address.

        The address is `align` modulo 16, or with `flush` the last byte ends a page. Reads of a
        buffer in `flash` are seen by `reading`.
        """
        size = len(data)
        room = size + 16 + PAGE - 1 & -PAGE
        start = self._free | (FLASH_BIT if flash else 0)
        if start + room + PAGE > (BUFFERS_END if flash else BUFFERS_END - FLASH_BIT):
            raise EmulatorError("no memory left for buffers; call release first")
        self._uc.mem_map(start, room)
        self._uc.mem_write(start, bytes([_FILL]) * room)
        address = start + room - size if flush else start + align
        self._uc.mem_write(address, data)
        self._buffers.append((start, room))
        self._free += room + PAGE
        return address

    def read(self, address: int, size: int) -> bytes:
        """Return the contents of memory."""
        return bytes(self._uc.mem_read(address, size))

    def write(self, address: int, data: bytes) -> None:
        """Set the contents of memory."""
        self._uc.mem_write(address, data)

    def untouched(self, address: int, size: int) -> bool:
        """Whether the pages of a placed buffer are as `place` left them, outside the buffer."""
        start, room = next(b for b in self._buffers if b[0] <= address < b[0] + b[1])
        page = self.read(start, room)
        rest = page[: address - start] + page[address - start + size :]
        return rest.count(_FILL) == len(rest)

    def release(self) -> None:
        """Forget all placed buffers."""
        for start, size in self._buffers:
            self._uc.mem_unmap(start, size)
        self._buffers.clear()
        self._free = BUFFERS

    # Calls

    def call(self, function: str, *arguments: int) -> int:
        """Call a function with integers and addresses; returns r0.

        Raises:
            EmulatorError: an access outside the mapped memory, or an unknown instruction.
        """
        return self._run(self.image.address(function), arguments)

    def _run(self, address: int, arguments: Sequence[int]) -> int:
        uc, regs = self._uc, self._regs
        stack = b"".join((a & 0xFFFF_FFFF).to_bytes(4, "little") for a in arguments[4:])
        sp = STACK_TOP - 64 - (len(stack) + 7 & -8)
        uc.mem_write(sp, stack)
        uc.reg_write(regs.UC_ARM_REG_SP, sp)
        uc.reg_write(regs.UC_ARM_REG_LR, RETURN | 1)
        names = (regs.UC_ARM_REG_R0, regs.UC_ARM_REG_R1, regs.UC_ARM_REG_R2, regs.UC_ARM_REG_R3)
        for name, value in zip(names, arguments, strict=False):
            uc.reg_write(name, value & 0xFFFF_FFFF)
        try:
            uc.emu_start(address | 1, RETURN)
        except self._error as error:
            pc = uc.reg_read(regs.UC_ARM_REG_PC)
            raise EmulatorError(f"{error} at 0x{pc:08x} ({self._place(pc)})") from None
        if uc.reg_read(regs.UC_ARM_REG_SP) != sp:
            raise EmulatorError("the function did not restore the stack pointer")
        return int(uc.reg_read(regs.UC_ARM_REG_R0))

    def _place(self, address: int) -> str:
        """The symbol that an address is in."""
        below = [(value & ~1, name) for name, value in self.image.symbols.items()]
        start, name = max((s for s in below if s[0] <= address), default=(0, "?"))
        return f"{name}+{address - start}"

    @contextmanager
    def counting(self) -> Iterator[Counter[tuple[int, int]]]:
        """Count, while the context is open, how often each block (address, bytes) is run.

        A block is a piece of code without jumps inside.
        """
        blocks: Counter[tuple[int, int]] = Counter()

        def seen(_uc: Any, address: int, size: int, _data: Any) -> None:
            blocks[address, size] += 1

        self._uc.ctl_flush_tb()  # blocks translated before would not report
        hook = self._uc.hook_add(self._hooks.UC_HOOK_BLOCK, seen)
        try:
            yield blocks
        finally:
            self._uc.hook_del(hook)

    @contextmanager
    def reading(self, seen: Callable[[int, int], None]) -> Iterator[None]:
        """Call `seen(address, bytes)` for each read of a buffer in flash."""

        def read(_uc: Any, _access: int, address: int, size: int, _value: int, _data: Any) -> None:
            seen(address, size)

        self._uc.ctl_flush_tb()
        first = BUFFERS | FLASH_BIT
        hook = self._uc.hook_add(
            self._hooks.UC_HOOK_MEM_READ, read, begin=first, end=BUFFERS_END - 1
        )
        try:
            yield
        finally:
            self._uc.hook_del(hook)

    def instructions(self, blocks: Counter[tuple[int, int]]) -> int:
        """Return how many instructions the blocks of `counting` are."""
        return sum(n * self._length(*block) for block, n in blocks.items())

    def _length(self, address: int, size: int) -> int:
        code, count, at = self.read(address, size), 0, 0
        while at < size:
            at += 4 if code[at + 1] >> 3 in (0x1D, 0x1E, 0x1F) else 2
            count += 1
        return count
