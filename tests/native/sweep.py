"""Runs every case on numpy and on the C kernels and compares all bytes.

As a program, `sweep.py LIBRARY`, it puts each buffer into a heap block of exactly its size, for
AddressSanitizer to watch; `--overrun` then makes one call with a buffer that is a byte too short.
"""

import argparse
import ctypes
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).parent))

import aligned_cases
import executed
import matrix_cases
import numpy as np
import vector_cases
from kernel_library import Kernels
from native_cases import Argument, Buffer, Case, Cases, Maker, Same
from ttikit import simulator

MINIMUM = 2000
GUARD = 64
FAMILIES: tuple[Callable[[Maker], Cases], ...] = (
    vector_cases.elementary,
    vector_cases.sampler,
    vector_cases.sums,
    vector_cases.quantisation,
    vector_cases.layernorm,
    matrix_cases.products,
    matrix_cases.attention,
    matrix_cases.softmax,
    matrix_cases.convolution,
    aligned_cases.products,
    aligned_cases.attention,
    aligned_cases.softmax,
    aligned_cases.vectors,
    aligned_cases.convolution,
)


def all_cases() -> Iterator[Case]:
    """Every case of the sweep, the same ones each time."""
    for seed, family in enumerate(FAMILIES):
        yield from family(Maker(seed))


def scratch_of(case: Case) -> set[int]:
    """Numbers of the arguments whose contents after the call are nobody's business."""
    return {"conv3x3_s8": {7}, "layernorm_modulate_s8": {5}}.get(case.op, set())


def expected(case: Case) -> dict[int, bytes]:
    """Contents of the written buffers after the call on numpy, by argument number."""
    arrays: list[object] = []
    for argument in case.args:
        if isinstance(argument, Buffer):
            block = np.frombuffer(b"\0" * argument.align + argument.data, np.uint8).copy()
            arrays.append(block[argument.align :])
        elif isinstance(argument, Same):
            arrays.append(arrays[argument.argument])
        else:
            arrays.append(argument)
    getattr(simulator, case.op)(*arrays)
    return {
        i: arrays[i].tobytes()  # type: ignore[attr-defined]
        for i, argument in enumerate(case.args)
        if isinstance(argument, Buffer) and argument.role == "write" and i not in scratch_of(case)
    }


class GuardedMemory:
    """Buffers with known bytes before and behind them."""

    def __init__(self) -> None:
        self.blocks: list[tuple[np.ndarray, int, int]] = []

    def place(self, buffer: Buffer) -> int:
        size = len(buffer.data)
        block = np.full(size + 2 * GUARD + 32, 0xA5, np.uint8)
        start = GUARD + (buffer.align - block.ctypes.data - GUARD) % 16
        block[start : start + size] = np.frombuffer(buffer.data, np.uint8)
        self.blocks.append((block, start, size))
        return block.ctypes.data + start

    def contents(self, number: int) -> bytes:
        block, start, size = self.blocks[number]
        return block[start : start + size].tobytes()

    def check_guards(self) -> None:
        for block, start, size in self.blocks:
            if (block[:start] != 0xA5).any() or (block[start + size :] != 0xA5).any():
                raise AssertionError("a byte outside the buffer was written")


class ExactMemory:
    """Buffers that end where their heap block ends."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.restype, libc.free.argtypes = None, [ctypes.c_void_p]
        self.libc = libc
        self.blocks: list[tuple[int, int, int]] = []

    def place(self, buffer: Buffer) -> int:
        size = len(buffer.data)
        base = self.libc.malloc(buffer.align + size)
        assert base % 16 == 0
        ctypes.memmove(base + buffer.align, buffer.data, size)
        self.blocks.append((base, buffer.align, size))
        return base + buffer.align

    def contents(self, number: int) -> bytes:
        base, start, size = self.blocks[number]
        return ctypes.string_at(base + start, size)

    def check_guards(self) -> None:
        """The sanitizer has stopped the program already."""

    def __del__(self) -> None:
        for base, _, _ in self.blocks:
            self.libc.free(base)


class Backend(Protocol):
    """Kernels in C that run somewhere."""

    name: str

    def call(self, case: Case, args: Sequence[int | None], sizes: Sequence[int]) -> None: ...


class Memory(Protocol):
    """Where the buffers of one call lie."""

    def place(self, buffer: Buffer) -> int: ...

    def contents(self, number: int) -> bytes: ...

    def check_guards(self) -> None: ...


def run_kernel(kernels: Backend, case: Case, memory: Memory) -> dict[int, bytes]:
    """Contents of all buffers after the call in C, by argument number."""
    addresses: list[int | None] = []
    blocks: dict[int, int] = {}
    for i, argument in enumerate(case.args):
        if isinstance(argument, Buffer):
            blocks[i] = len(blocks)
            addresses.append(memory.place(argument))
        elif isinstance(argument, Same):
            addresses.append(addresses[argument.argument])
        else:
            assert argument is None or isinstance(argument, int)
            addresses.append(argument)
    kernels.call(case, addresses, [_size(argument) for argument in case.args])
    memory.check_guards()
    return {i: memory.contents(block) for i, block in blocks.items()}


def _size(argument: Argument) -> int:
    return len(argument.data) if isinstance(argument, Buffer) else 0


def check(kernels: Backend, case: Case, memory: Memory) -> None:
    """Raise AssertionError unless C and numpy agree and nothing else changed."""
    after, wanted = run_kernel(kernels, case, memory), expected(case)
    for i, argument in enumerate(case.args):
        if not isinstance(argument, Buffer) or i in scratch_of(case):
            continue
        if argument.role == "read":
            assert after[i] == argument.data, f"{case}: the kernel changed input {i}"
        elif after[i] != wanted[i]:
            at = next(j for j, byte in enumerate(after[i]) if byte != wanted[i][j])
            raise AssertionError(
                f"{case}: byte {at} of argument {i} is {after[i][at]}, numpy says {wanted[i][at]}"
            )


def run(
    kernels: Backend, memory: Callable[[], Memory], cases: Iterable[Case] | None = None
) -> Counter[str]:
    """Check every case; the number of cases per op."""
    counts: Counter[str] = Counter()
    for case in all_cases() if cases is None else cases:
        check(kernels, case, memory())
        counts[case.op] += 1
        executed.cases[kernels.name] += 1
    return counts


def overrun(library: Path) -> None:
    """Call a kernel with an input that is one byte too short."""
    case = next(c for c in all_cases() if c.op == "gemm_s8")
    x = case.args[1]
    assert isinstance(x, Buffer)
    run_kernel(Kernels(library), case.replaced(1, Buffer(x.data[:-1], align=0)), ExactMemory())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("--overrun", action="store_true")
    arguments = parser.parse_args()
    if arguments.overrun:
        overrun(arguments.library)
        return
    counts = run(Kernels(arguments.library), ExactMemory)
    print(f"{counts.total()} kernel cases over {len(counts)} ops")


if __name__ == "__main__":
    main()
