"""§4 quantisation of activations, §6 LayerNorm with modulation and quantisation."""

from typing import Any

import numpy as np

from ttikit.simulator.arguments import Arguments, Float32, Int8
from ttikit.simulator.elementary import F, quantise_f32, rsqrt_f32

TINY = F(2.0**-100)
EPSILON = F(1e-6)


def quantise_rows_f32(x: Float32) -> tuple[Int8, Float32]:
    """§4: (q int8[rows][cols], scale float32[rows]) of x float32[rows][cols]."""
    m: Float32 = np.fmax.reduce(np.abs(x), axis=1, initial=F(0))  # fmax: a NaN never wins
    empty = m < TINY
    divisor: Float32 = np.where(empty, F(127), m)
    scale = np.where(empty, F(0), divisor / F(127))
    inverse: Float32 = F(127) / divisor
    q = quantise_f32(x * inverse[:, None])
    q[empty] = 0
    return q, scale


def sum4(a: Float32) -> Float32:
    """§6 `sum4` of each row of float32[rows][n]: four lanes, each summed in order."""
    lanes = a.reshape(a.shape[0], -1, 4)
    total = np.zeros((a.shape[0], 4), F)
    for i in range(lanes.shape[1]):
        total = total + lanes[:, i]
    return (total[:, 0] + total[:, 1]) + (total[:, 2] + total[:, 3])


def layernorm_f32(x: Float32, shift: Float32, scale: Float32) -> Float32:
    """§6 before quantisation: x float32[rows][n], shift and scale float32[n]."""
    n = F(x.shape[1])
    d = x - (sum4(x) / n)[:, None]
    r = rsqrt_f32(sum4(d * d) / n + EPSILON)
    return ((d * r[:, None]) * (F(1) + scale)) + shift


def quantize_rows(q: Any, scale: Any, x: Any, rows: int, cols: int) -> None:
    """§4: q int8[rows][cols] and scale float32[rows] from x float32[rows][cols]."""
    check = Arguments("quantize_rows")
    rows, cols = check.integer("rows", rows), check.integer("cols", cols)
    values = check.read("x", x, F, (rows, cols))
    q_out = check.write("q", q, np.int8, (rows, cols))
    scale_out = check.write("scale", scale, F, (rows,))
    with np.errstate(all="ignore"):
        codes, scales = quantise_rows_f32(values)
    q_out[:], scale_out[:] = codes, scales


def quantize_cols_t(q: Any, scale: Any, x: Any, rows: int, cols: int) -> None:
    """§4 over columns: q int8[cols][rows], scale float32[cols] from x float32[rows][cols]."""
    check = Arguments("quantize_cols_t")
    rows, cols = check.integer("rows", rows), check.integer("cols", cols)
    values = check.read("x", x, F, (rows, cols))
    q_out = check.write("q", q, np.int8, (cols, rows))
    scale_out = check.write("scale", scale, F, (cols,))
    with np.errstate(all="ignore"):
        codes, scales = quantise_rows_f32(np.ascontiguousarray(values.T))
    q_out[:], scale_out[:] = codes, scales


def layernorm_modulate_s8(
    q: Any,
    sq: Any,
    x: Any,
    shift: Any,
    scale: Any,
    scratch: Any,
    rows: int,
    cols: int,
) -> None:
    """§6: normalise each row, y · (1 + scale) + shift, quantise.

    q int8[rows][cols], sq float32[rows], x float32[rows][cols]; shift and scale float32[cols];
    scratch float32[cols] is only checked here. `cols` is a multiple of 4.
    """
    check = Arguments("layernorm_modulate_s8")
    rows, cols = check.integer("rows", rows), check.integer("cols", cols)
    check.multiple("cols", cols, 4)
    values = check.read("x", x, F, (rows, cols))
    shifts = check.read("shift", shift, F, (cols,))
    scales = check.read("scale", scale, F, (cols,))
    check.write("scratch", scratch, F, (cols,))
    q_out = check.write("q", q, np.int8, (rows, cols))
    sq_out = check.write("sq", sq, F, (rows,))
    with np.errstate(all="ignore"):
        codes, row_scales = quantise_rows_f32(layernorm_f32(values, shifts, scales))
    q_out[:], sq_out[:] = codes, row_scales
