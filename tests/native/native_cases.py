"""Calls of ops as data, so that the same call can go to numpy, to the C kernels and to `_tti`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Role = Literal["read", "write"]


@dataclass(frozen=True)
class Buffer:
    """Contents of a buffer before the call, and the remainder of its address modulo 16.

    A buffer with the role "write" is compared after the call, one with "read" must not change.
    """

    data: bytes
    role: Role = "read"
    align: int = 0


@dataclass(frozen=True)
class Same:
    """The very buffer that is the argument with this number."""

    argument: int


@dataclass(frozen=True)
class Expression:
    """A Python expression without buffers, for arguments of a wrong type."""

    source: str


@dataclass(frozen=True)
class ReadOnly:
    """A `bytes` object where the op wants to write."""

    data: bytes


Argument = int | None | Buffer | Same | Expression | ReadOnly


@dataclass(frozen=True)
class Case:
    """One call: name of the op and its positional arguments."""

    op: str
    args: tuple[Argument, ...]

    def __str__(self) -> str:
        return f"{self.op}({', '.join(_short(a) for a in self.args)})"

    def replaced(self, index: int, argument: Argument) -> Case:
        """Return the same call with one argument changed."""
        return Case(self.op, (*self.args[:index], argument, *self.args[index + 1 :]))


def _short(argument: Argument) -> str:
    if isinstance(argument, Buffer):
        return f"<{argument.role} {len(argument.data)} B, align {argument.align}>"
    return str(argument)


class Maker:
    """Makes buffers with random contents; the same seed gives the same cases."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def f32(self, values: Any, align: int | None = None) -> Buffer:
        """Input float32 of these values, by default at a random multiple of 4."""
        data = np.ascontiguousarray(values, np.float32).tobytes()
        return Buffer(data, align=self.word() if align is None else align)

    def s8(self, values: Any, align: int | None = None) -> Buffer:
        """Input int8 or bytes of these values, by default at any address."""
        array = np.ascontiguousarray(values)
        assert array.dtype in (np.int8, np.uint8)
        return Buffer(array.tobytes(), align=self.byte() if align is None else align)

    def word(self) -> int:
        return int(self.rng.integers(4)) * 4

    def byte(self) -> int:
        return int(self.rng.integers(16))

    def out_f32(self, n: int) -> Buffer:
        """Output of n four-byte elements filled with a pattern."""
        return Buffer(b"\xa5\x5a\xc3\x3c" * n, "write", self.word())

    def out_s8(self, n: int) -> Buffer:
        """Output of n bytes filled with a pattern, at any address."""
        return Buffer(b"\x7e" * n, "write", self.byte())

    def inout_f32(self, values: Any) -> Buffer:
        return Buffer(np.ascontiguousarray(values, np.float32).tobytes(), "write", self.word())

    def normal(self, *shape: int) -> NDArray[np.float32]:
        return self.rng.standard_normal(shape).astype(np.float32)

    def uniform(self, low: float, high: float, *shape: int) -> NDArray[np.float32]:
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def scales(self, *shape: int) -> NDArray[np.float32]:
        """Positive numbers over six decades, some of them zero."""
        s = np.exp(self.rng.uniform(-9, 3, shape)).astype(np.float32)
        s[self.rng.random(shape) < 0.05] = 0
        return s

    def codes(self, kind: str, *shape: int) -> NDArray[np.int8]:
        """int8 in −127…127: "random", "zeros", or the extremes "high", "low" and "signs"."""
        if kind == "random":
            return self.rng.integers(-127, 128, shape).astype(np.int8)
        if kind == "signs":
            return (self.rng.integers(0, 2, shape) * 254 - 127).astype(np.int8)
        return np.full(shape, {"zeros": 0, "high": 127, "low": -127}[kind], np.int8)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.rng.integers(len(options)))]


CODES = ("random", "random", "random", "zeros", "high", "low", "signs")
Cases = Iterator[Case]
