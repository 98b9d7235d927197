"""Arguments of an op (docs/ops.md) as its C function takes them (native/core/tti_kernels.h)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

Number = int | None
CONV_PIXELS = 1024  # TTI_CONV_PIXELS


def c_arguments(op: str, args: Sequence[Number], sizes: Sequence[int]) -> list[Number | bytes]:
    """Return the arguments in C's order; bytes stand for the address of a structure.

    The binding of MicroPython does the same.

    Args:
        op: name of the op.
        args: its arguments, buffers as addresses.
        sizes: lengths of the buffers among them, 0 for the others.
    """
    if op in ("attention_scores", "attention_values"):
        return [*args[:5], _structure(args[5:])]
    if op == "conv3x3_s8":
        kpad = -(-9 * (args[10] or 0) // 16) * 16
        return [*args[:8], min(sizes[7] // kpad, CONV_PIXELS), _structure(args[8:])]
    return list(args)


def _structure(fields: Sequence[Number]) -> bytes:
    return struct.pack(f"<{len(fields)}i", *fields)
