"""The vector instructions of the ESP32-S3 (PIE): their encoding, from the table opcodes.json.

An instruction is a word of 3 or 4 bytes, little-endian; the low four bits of a 4-byte one are
14 or 15, which no other Xtensa instruction has. Operands are in the order of the manual's
assembly syntax. `ttikit.pie.derive` makes the table.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ttikit.errors import TtiError

TABLE = Path(__file__).with_name("opcodes.json")
_REGISTERS = {"q": 8, "a": 16, "f": 16}


class PieError(TtiError):
    """An instruction that the ESP32-S3 does not have; the text says what is wrong with it."""


@dataclass(frozen=True)
class Operand:
    """One operand: kind "q", "a" or "f" (a register) or "i" (an immediate).

    bits: where its bits are in the word, the lowest first. An immediate counts in steps.
    """

    kind: str
    bits: tuple[int, ...]
    step: int = 1
    signed: bool = False

    @property
    def range(self) -> range:
        """The values that it can have."""
        count = 1 << len(self.bits)
        first = -count // 2 if self.signed else 0
        return range(first * self.step, (first + count) * self.step, self.step)

    def place(self, value: int) -> int:
        """Return the word with only this operand in it."""
        steps = value // self.step
        return sum((steps >> i & 1) << bit for i, bit in enumerate(self.bits))

    def extract(self, word: int) -> int:
        """Return the operand's value in a word."""
        steps = sum((word >> bit & 1) << i for i, bit in enumerate(self.bits))
        if self.signed and steps >> len(self.bits) - 1:
            steps -= 1 << len(self.bits)
        return steps * self.step


@dataclass(frozen=True)
class Opcode:
    """One instruction: its name, bytes, the word with all operands zero, and its operands."""

    name: str
    size: int
    word: int
    operands: tuple[Operand, ...]

    @property
    def mask(self) -> int:
        """The bits that belong to the opcode."""
        taken = sum(1 << bit for operand in self.operands for bit in operand.bits)
        return ((1 << self.size * 8) - 1) & ~taken

    def encode(self, values: list[int]) -> int:
        """Return the word of the instruction with these operands, which are in range."""
        return self.word | sum(o.place(v) for o, v in zip(self.operands, values, strict=True))

    def as_json(self) -> list[Any]:
        """Return its entry in the table."""
        operands = [
            [o.kind, list(o.bits), *([o.step, o.signed] if o.kind == "i" else [])]
            for o in self.operands
        ]
        return [self.size, f"0x{self.word:0{2 * self.size}x}", operands]


@cache
def opcodes() -> dict[str, Opcode]:
    """Return all instructions by name."""
    table = json.loads(TABLE.read_text())
    return {
        name: Opcode(
            name,
            size,
            int(word, 16),
            tuple(Operand(k, tuple(b), *rest) for k, b, *rest in operands),
        )
        for name, (size, word, operands) in table.items()
    }


def is_pie(name: str) -> bool:
    """Whether the table has an instruction of this name, in any case."""
    return name.lower() in opcodes()


_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
}


def constant(text: str) -> int:
    """Return the value of a sum or product of numbers; ValueError if it is something else."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError

    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError from None


def _value(operand: Operand, text: str, where: str) -> int:
    if operand.kind == "i":
        try:
            value = constant(text)
        except ValueError:
            raise PieError(f"{where}: {text} is not a number") from None
        if value not in operand.range:
            r = operand.range
            steps = f" in steps of {r.step}" if r.step > 1 else ""
            raise PieError(f"{where}: {text} is not in {r[0]}..{r[-1]}{steps}")
        return value
    name = "a1" if operand.kind == "a" and text == "sp" else text
    count = _REGISTERS[operand.kind]
    if name[:1] != operand.kind or not name[1:].isdecimal() or int(name[1:]) >= count:
        raise PieError(
            f"{where}: {text} is not a register {operand.kind}0..{operand.kind}{count - 1}"
        )
    return int(name[1:])


def encode(name: str, operands: list[str]) -> bytes:
    """Return the bytes of an instruction as it is written.

    Raises:
        PieError: no such instruction, or an operand that it cannot have.
    """
    opcode = opcodes().get(name.lower())
    if opcode is None:
        raise PieError(f"{name} is not an instruction of the ESP32-S3")
    where = f"{name} {', '.join(operands)}".strip()
    if len(operands) != len(opcode.operands):
        raise PieError(f"{where}: it takes {len(opcode.operands)} operands, not {len(operands)}")
    values = [
        _value(operand, text.strip().lower(), where)
        for operand, text in zip(opcode.operands, operands, strict=True)
    ]
    return opcode.encode(values).to_bytes(opcode.size, "little")


@cache
def _by_mask() -> dict[tuple[int, int], dict[int, Opcode]]:
    groups: dict[tuple[int, int], dict[int, Opcode]] = {}
    for opcode in opcodes().values():
        groups.setdefault((opcode.size, opcode.mask), {})[opcode.word] = opcode
    return groups


def decode(code: bytes) -> tuple[Opcode, list[int]] | None:
    """Return the vector instruction at the start of `code` and its operands, or None."""
    if not code:
        return None
    length = 4 if code[0] & 15 >= 14 else 3
    word = int.from_bytes(code[:length], "little")
    for (size, mask), group in _by_mask().items():
        opcode = group.get(word & mask) if size == length and len(code) >= size else None
        if opcode:
            return opcode, [operand.extract(word) for operand in opcode.operands]
    return None


def written(opcode: Opcode, values: list[int]) -> str:
    """Return an instruction as the assembler takes it."""
    texts = [
        str(value) if operand.kind == "i" else f"{operand.kind}{value}"
        for operand, value in zip(opcode.operands, values, strict=True)
    ]
    return f"{opcode.name} {', '.join(texts)}".strip()
