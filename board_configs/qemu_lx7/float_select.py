"""Rewrites LLVM code that clang 22 has no Xtensa instructions for.

A choice between two float constants, or a float made of one bit, becomes a choice between the
integers with the same bits.
"""

from __future__ import annotations

import re
import struct

_NUMBER = r"(0x[0-9A-Fa-f]+|-?\d[\d.]*e[+-]\d+)"
_SELECT = re.compile(
    rf"(\s*)(%[\w.]+) = select (?:\w+ )*?i1 (%[\w.]+), float {_NUMBER}, float {_NUMBER}(.*)"
)
_FROM_BIT = re.compile(r"(\s*)(%[\w.]+) = ([us])itofp (?:nneg )?i1 (%[\w.]+) to float(.*)")


def bits(number: str) -> int:
    """Return the bits of a float32 that LLVM writes as a double, as a signed integer."""
    if number.startswith("0x"):
        (value,) = struct.unpack(">d", bytes.fromhex(number[2:].rjust(16, "0")))
    else:
        value = float(number)
    (whole,) = struct.unpack("<i", struct.pack("<f", value))
    return int(whole)


def rewrite(code: str) -> str:
    """Return the code of a module without such choices."""
    out = []
    for number, line in enumerate(code.splitlines()):
        select, from_bit = _SELECT.fullmatch(line), _FROM_BIT.fullmatch(line)
        if select:
            space, name, bit, yes, no, rest = select.groups()
            values = bits(yes), bits(no)
        elif from_bit:
            space, name, sign, bit, rest = from_bit.groups()
            values = bits("1.0e+00" if sign == "u" else "-1.0e+00"), 0
        else:
            out.append(line)
            continue
        chosen = f"%float.bits.{number}"
        out.append(f"{space}{chosen} = select i1 {bit}, i32 {values[0]}, i32 {values[1]}")
        out.append(f"{space}{name} = bitcast i32 {chosen} to float{rest}")
    return "\n".join(out) + "\n"
