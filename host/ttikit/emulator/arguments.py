"""Ops (docs/ops.md) as calls of C functions (native/core/tti_kernels.h)."""

from __future__ import annotations

import struct
from collections.abc import Container, Sequence

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


def c_call(
    op: str,
    args: Sequence[Number],
    sizes: Sequence[int],
    symbols: Container[str],
    prefix: str = "tti_",
) -> tuple[str, list[Number | bytes]]:
    """Return the function that computes an op, of those in an image, and its arguments.

    It is `<prefix><op>`, or `tti_<op>` where there is no other. A firmware's matrix products are
    calls of `tti_product` (native/core/product.h) on one structure.

    Args:
        op, args, sizes: as in `c_arguments`.
        symbols: names of the image's functions.
        prefix: tti_ for the fastest, tti_ref_ for the reference.
    """
    for name in (f"{prefix}{op}", f"tti_{op}"):
        if name in symbols:
            return name, c_arguments(op, args, sizes)
    reference = prefix == "tti_ref_" and "tti_product_ref" in symbols
    return "tti_product_ref" if reference else "tti_product", [_product(op, args)]


def _product(op: str, args: Sequence[Number]) -> bytes:
    """Return the tti_product_t of gemm_s8 or gemm_s8_add."""
    if op == "gemm_s8":
        args = [args[0], None, *args[1:]]
    out, gate, x, sx, w, sw, bias, rows, columns, depth = args
    strides = (columns, depth, 1, depth, 1)
    fields = (out, x, sx, w, sw, bias, gate, rows, columns, depth, *strides)
    return _structure([field or 0 for field in fields])


def _structure(fields: Sequence[Number]) -> bytes:
    return struct.pack(f"<{len(fields)}i", *fields)
