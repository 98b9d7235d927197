"""An emulated Cortex-M33 (the package unicorn)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ttikit.emulator.cpu import (
    BUFFERS,
    BUFFERS_END,
    FLASH_BIT,
    PAGE,
    Blocks,
    EmulatedCpu,
    EmulatorError,
)
from ttikit.emulator.image import Image

STACK_TOP = 0x7F00_0000
STACK_BYTES = 0x1_0000
RETURN = 0x7F10_0000  # a page of its own: a call ends when it gets here


def _pages(start: int, end: int) -> tuple[int, int]:
    """First address and size of the pages that hold start ≤ address < end."""
    first = start & -PAGE
    return first, (end + PAGE - 1 & -PAGE) - first


class CortexM33(EmulatedCpu):
    """One core with DSP and FPU, with the image in its memory."""

    def __init__(self, image: Image):
        super().__init__(image, "Arm")
        import unicorn
        from unicorn import arm_const

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

    def read(self, address: int, size: int) -> bytes:
        """Return the contents of memory."""
        return bytes(self._uc.mem_read(address, size))

    def write(self, address: int, data: bytes) -> None:
        """Set the contents of memory."""
        self._uc.mem_write(address, data)

    def _map(self, start: int, size: int) -> None:
        self._uc.mem_map(start, size)

    def _unmap(self, start: int, size: int) -> None:
        self._uc.mem_unmap(start, size)

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

    @contextmanager
    def counting(self) -> Iterator[Blocks]:
        """Count, while the context is open, how often each block (address, bytes) is run.

        A block is a piece of code without jumps inside.
        """
        blocks: Blocks = Counter()

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

    def instruction_bytes(self, code: bytes) -> int:
        """Return the length of the instruction at the start of `code`."""
        return 4 if code[1] >> 3 in (0x1D, 0x1E, 0x1F) else 2
