"""Derive the table of opcodes from capstone's disassembler: `python -m ttikit.pie.derive`.

Only the pre-release 6.0.0a11 disassembles the ESP32-S3's vector instructions. Words are
decoded until every name that capstone knows has been seen. Then single bits of a word are
changed: a bit belongs to the operand that changes with it, and is worth the difference.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from ttikit.files import write_atomically
from ttikit.pie.opcodes import TABLE, Opcode, Operand

TRIES = 400_000  # random words of 32 bits for each of the two kinds; the rarest name came 36 times
TRUNCATED = 31  # capstone cuts longer names
PIE = ("ee.", "mv.qr", "rur.", "wur.")
OTHERS = ("wur.fcr", "wur.fsr")  # the float unit's, which every assembler knows

Decoded = tuple[str, list[str]]


class Disassembler:
    """Capstone for the ESP32-S3, one word at a time."""

    def __init__(self) -> None:
        import capstone
        from capstone import xtensa_const

        self._capstone = capstone.Cs(capstone.CS_ARCH_XTENSA, capstone.CS_MODE_XTENSA_ESP32S3)
        names = (n.removeprefix("XTENSA_INS_").lower() for n in dir(xtensa_const))
        self.names = {n for n in names if n.startswith("ee_")}

    def decode(self, word: int, size: int) -> Decoded | None:
        """Return name and operands of a vector instruction; None for anything else."""
        code = word.to_bytes(size, "little")
        for _, length, name, text in self._capstone.disasm_lite(code, 0, 1):
            operands = [part.strip() for part in text.split(",") if part.strip()]
            if length != size:
                return None
            if name.startswith(PIE) and name not in OTHERS:
                return self._whole(name), operands
        return None

    def _whole(self, name: str) -> str:
        if len(name) < TRUNCATED:
            return name
        start = name.replace(".", "_")
        (whole,) = (n for n in self.names if n.startswith(start))
        return name + whole[len(start) :]


def words() -> Iterator[tuple[int, int]]:
    """Yield words, and their sizes, among which every instruction is found."""
    for low in (0, 4):
        for high in range(1 << 20):
            yield high << 4 | low, 3
    dice = random.Random(1)
    for low in (14, 15):
        for _ in range(TRIES):
            yield dice.getrandbits(28) << 4 | low, 4


def number(operand: str) -> int:
    """Return the number of a register, or the value of an immediate."""
    return int(operand.lstrip("qaf"), 0) if operand[0] in "qaf" else int(operand, 0)


def derive(tools: Disassembler, name: str, word: int, size: int) -> Opcode:
    """Find out what each bit of the instruction `name` means, given one `word` of it."""

    def same(word: int) -> list[str] | None:
        decoded = tools.decode(word, size)
        return decoded[1] if decoded and decoded[0] == name else None

    base = word
    here = same(word)
    assert here is not None
    worth: list[dict[int, int]] = [{} for _ in here]  # of each operand: {bit: value}
    for bit in range(size * 8):
        changed = same(word ^ 1 << bit)
        if changed is None:
            continue
        ((at, gain),) = (
            (i, number(there) - number(text))
            for i, (there, text) in enumerate(zip(changed, here, strict=True))
            if there != text
        )
        worth[at][bit] = -gain if word >> bit & 1 else gain
        base &= ~(1 << bit)
    operands = tuple(
        operand(text[0] if text[0] in "qaf" else "i", bits)
        for text, bits in zip(here, worth, strict=True)
    )
    return Opcode(name, size, base, operands)


def operand(kind: str, worth: dict[int, int]) -> Operand:
    """Make an operand of bits that are worth so much each."""
    bits = sorted(worth, key=lambda bit: abs(worth[bit]))
    step = min(abs(value) for value in worth.values())
    signed = worth[bits[-1]] < 0
    expected = [step << i for i in range(len(bits))]
    if signed:
        expected[-1] = -expected[-1]
    assert [worth[bit] for bit in bits] == expected, worth
    return Operand(kind, tuple(bits), step, signed)


def main() -> None:
    """Write the table."""
    tools = Disassembler()
    found: dict[str, tuple[int, int]] = {}
    for word, size in words():
        decoded = tools.decode(word, size)
        if decoded:
            found[decoded[0]] = word, size  # the last: small ones may be ESP32-S2's by mistake
    missing = tools.names - {name.replace(".", "_") for name in found}
    assert not missing, missing
    opcodes = [derive(tools, name, *found[name]) for name in sorted(found)]
    lines = [f"  {json.dumps(opcode.name)}: {json.dumps(opcode.as_json())}" for opcode in opcodes]
    write_atomically(Path(str(TABLE)), ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    print(f"{len(opcodes)} opcodes in {TABLE}")


if __name__ == "__main__":
    main()
