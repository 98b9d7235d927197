"""The C kernels on an emulated processor, out of an ELF file that has them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import executed
from native_cases import Buffer, Case
from ttikit.emulator import CortexM33, EmulatedCpu, XtensaLX7, c_call, read_image
from ttikit.emulator.arguments import Number


@contextmanager
def open_cpu(elf: Path) -> Iterator[EmulatedCpu]:
    """The processor that a file is for, with the file in its memory."""
    image = read_image(elf)
    if image.machine == "Arm":
        yield CortexM33(image)
        return
    cpu = XtensaLX7(image)
    try:
        yield cpu
        executed.vector_instructions += cpu.vector_instructions
    finally:
        cpu.close()


class EmulatedKernels:
    """Calls the functions of `c_call`. Buffers are given as addresses of the machine."""

    def __init__(self, machine: EmulatedCpu, prefix: str = "tti_"):
        self.machine = machine
        self.prefix = prefix
        self.name = type(machine).__name__

    def call(self, case: Case, args: Sequence[Number], sizes: Sequence[int]) -> None:
        """Run one case; `sizes` are the lengths of its buffers, 0 for the other arguments."""
        machine = self.machine
        name, arguments = c_call(case.op, args, sizes, machine.image.symbols, self.prefix)
        machine.call(
            name, *(machine.place(a) if isinstance(a, bytes) else a or 0 for a in arguments)
        )


class EmulatedMemory:
    """The machine's memory: known bytes around each buffer, and nothing around those.

    With `flush` buffers end where their memory ends, so that a read behind one is an error too.
    """

    def __init__(self, machine: EmulatedCpu, *, flush: bool = False):
        machine.release()
        self.machine = machine
        self.flush = flush
        self.buffers: list[tuple[int, int]] = []

    def place(self, buffer: Buffer) -> int:
        address = self.machine.place(buffer.data, buffer.align, flush=self.flush)
        self.buffers.append((address, len(buffer.data)))
        return address

    def contents(self, number: int) -> bytes:
        return self.machine.read(*self.buffers[number])

    def check_guards(self) -> None:
        for buffer in self.buffers:
            if not self.machine.untouched(*buffer):
                raise AssertionError("a byte outside the buffer was written")
