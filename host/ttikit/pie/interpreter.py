"""What each vector instruction of the ESP32-S3 does, one at a time: the reference for emulators.

Written from the manual (ESP32-S3 Technical Reference Manual, chapter "Processor Instruction
Extensions"); where entry and overview differ, the entry's operation counts. Rules that hold
everywhere: an access clears the low bits of the address but not of the register that it steps;
a fused access comes after the arithmetic; results saturate only where the manual says so, at
the true minimum. Instructions for FFT, complex numbers and GPIO are not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from ttikit.pie.opcodes import Opcode, PieError

WORD = 0xFFFF_FFFF
Q_BITS = 128
QACC_BITS = 320  # QACC_H above QACC_L
LANES = {8: 16, 16: 8, 32: 4}  # by the bits of a lane


class Memory(Protocol):
    """Bytes by address."""

    def load(self, address: int, size: int) -> int:
        """Return `size` bytes, little-endian."""

    def store(self, address: int, size: int, value: int) -> None:
        """Set `size` bytes, little-endian."""


@dataclass
class State:
    """Registers that vector instructions know, as unsigned bits."""

    q: list[int] = field(default_factory=lambda: [0] * 8)
    a: list[int] = field(default_factory=lambda: [0] * 16)
    f: list[int] = field(default_factory=lambda: [0] * 16)
    accx: int = 0
    qacc: int = 0
    sar: int = 0
    sar_byte: int = 0
    fft_bit_width: int = 0
    ua_state: int = 0


def signed(value: int, bits: int) -> int:
    """Return the low `bits` as a number in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def clamp(value: int, bits: int, *, is_signed: bool = True) -> int:
    """Return the nearest number that `bits` can hold."""
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def split(value: int, bits: int, count: int, *, is_signed: bool = True) -> list[int]:
    """Return the lanes of a register, the lowest first."""
    parts = [value >> i * bits & (1 << bits) - 1 for i in range(count)]
    return [signed(p, bits) for p in parts] if is_signed else parts


def join(parts: list[int], bits: int) -> int:
    """Return the register with these lanes, of which the low `bits` are kept."""
    return sum((part & (1 << bits) - 1) << i * bits for i, part in enumerate(parts))


class Machine:
    """Executes single instructions on a state and a memory."""

    def __init__(self, memory: Memory, state: State | None = None):
        self.memory = memory
        self.state = state or State()

    def execute(self, opcode: Opcode, values: list[int]) -> None:
        """Do what the instruction does.

        Raises:
            PieError: the instruction is not modelled.
        """
        rule = _rule(opcode.name)
        if rule is None:
            raise PieError(f"{opcode.name} is not modelled")
        function, groups = rule
        function(self, values, *groups)

    # Access to memory, by the letters behind the name: ip, xp or incp.

    def address(self, register: int, size: int) -> int:
        """Return where an access of `size` bytes goes."""
        return self.state.a[register] & -size & WORD

    def load(self, register: int, size: int) -> int:
        """Return the bytes that a register points to."""
        return self.memory.load(self.address(register, size), size)

    def store(self, register: int, size: int, value: int) -> None:
        """Set the bytes that a register points to."""
        self.memory.store(self.address(register, size), size, value & (1 << 8 * size) - 1)

    def step(self, mode: str | None, register: int, by: int) -> None:
        """Move a pointer by an immediate, or by a register in mode xp."""
        a = self.state.a
        a[register] = a[register] + (a[by] if mode == "xp" else by) & WORD

    def shifted(self, low: int, high: int) -> int:
        """Return 16 bytes of two registers from byte SAR_BYTE on."""
        q = self.state.q
        both = q[high] << Q_BITS | q[low]
        return both >> 8 * self.state.sar_byte & (1 << Q_BITS) - 1


Rule = Callable[..., None]
_RULES: list[tuple[re.Pattern[str], Rule]] = []


def does(pattern: str) -> Callable[[Rule], Rule]:
    """Register a function for the instructions of a pattern; it gets the groups as text."""

    def register(function: Rule) -> Rule:
        _RULES.append((re.compile(pattern), function))
        return function

    return register


@cache
def _rule(name: str) -> tuple[Rule, tuple[str, ...]] | None:
    from ttikit.pie import arithmetic, transfers  # noqa: F401  they register their rules

    for pattern, function in _RULES:
        match = pattern.fullmatch(name)
        if match:
            return function, match.groups()
    return None


def is_modelled(name: str) -> bool:
    """Whether `Machine` can execute an instruction."""
    return _rule(name) is not None
