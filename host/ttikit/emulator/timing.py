"""How long code takes on a chip, modelled from the blocks that an emulator ran.

Arm publishes no cycle counts of the Cortex-M33. The ones here are those of the Cortex-M4, the
same pipeline length without the pairs of instructions that a Cortex-M33 can issue together (Arm,
"Cortex-M4 Processor Technical Reference Manual" r0p1, tables 3-1 and 7-1). Every jump counts as
taken. The code is taken to be in RAM without wait states.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from ttikit.errors import TtiError

OBJDUMP = "arm-none-eabi-objdump"
REFILL = 2  # cycles after a jump, 1 to 3 by the manual
DIVIDE = 7  # sdiv and udiv, 2 to 12 by the manual

_LINE = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s*(.*)")
_MANY = re.compile(r"v?(ldm|stm|push|pop)")
_JUMP = re.compile(r"(b(l|x|lx)?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?|cbn?z|tb[bh])$")
_FLOAT = {"vdiv": 14, "vsqrt": 14, "vmla": 3, "vmls": 3, "vfma": 3, "vfms": 3, "vnmul": 1}


def _registers(operands: str) -> int:
    """How many registers a list in braces names."""
    listed = re.search(r"{(.*)}", operands)
    count = 0
    for part in (listed.group(1) if listed else "").split(","):
        first, _, last = part.strip().partition("-")
        width = 2 if first.startswith("d") else 1
        count += width * (_number(last) - _number(first) + 1 if last else 1)
    return count


def _number(register: str) -> int:
    names = {"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15}
    return names[register] if register in names else int(register[1:])


def _is_load(name: str) -> bool:
    return name.startswith(("ldr", "vldr")) and not name.startswith("ldrd")


def cycles_of(name: str, operands: str, before: str = "") -> int:
    """Return the cycles of an instruction; `before` is the one in front of it."""
    base = name.split(".")[0]
    if _MANY.match(base):
        return 1 + _registers(operands) + (REFILL if "pc" in operands else 0)
    if base.startswith(("ldrd", "strd")):
        return 3
    if _is_load(base):
        return 1 if _is_load(before) else 2
    if _JUMP.match(base):
        return 1 + REFILL
    if base in ("sdiv", "udiv"):
        return DIVIDE
    if base == "vmov" and operands.count(",") > 2:
        return 2  # two registers at once
    return _FLOAT.get(base, 1)


class Timing:
    """Cycles of the blocks of one ELF file."""

    def __init__(self, path: Path):
        """Disassemble `path`; TtiError if Arm's binutils are missing."""
        try:
            done = subprocess.run(
                [OBJDUMP, "-d", "--no-show-raw-insn", str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
        except FileNotFoundError:
            raise TtiError(
                f"{OBJDUMP} is missing; install the package binutils-arm-none-eabi"
            ) from None
        except subprocess.CalledProcessError as error:
            raise TtiError(f"{OBJDUMP} cannot read {path}: {error.stderr.strip()}") from None
        self._code: dict[int, int] = {}
        before = ""
        for line in done.stdout.splitlines():
            match = _LINE.match(line)
            if match:
                address, name, operands = match.groups()
                operands = operands.split(";")[0].split("@")[0]
                self._code[int(address, 16)] = cycles_of(name, operands, before)
                before = name

    def cycles(self, blocks: Counter[tuple[int, int]]) -> int:
        """Return the cycles of counted blocks (address, bytes)."""
        return sum(
            n * sum(self._code[a] for a in range(start, start + size, 2) if a in self._code)
            for (start, size), n in blocks.items()
        )
