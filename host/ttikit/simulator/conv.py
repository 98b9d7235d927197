"""§8 convolution 3×3: im2col with up-sampling in its indices, then one matrix product."""

from typing import Any

import numpy as np

from ttikit.simulator.arguments import Arguments, Int8
from ttikit.simulator.elementary import F, quantise_f32, quantise_u8_f32
from ttikit.simulator.products import dot_s8

UPSAMPLE, RELU, BYTES = 1, 2, 4  # flags
MAX_CIN = 7280  # a row of weights has at most 65,536 values


def padded_depth(cin: int) -> int:
    """Length of one row of weights: 9 · cin, rounded up to a multiple of 16."""
    return -(-9 * cin // 16) * 16


def _padded_rows(
    check: Arguments, x: Int8, in_y0: int, y0: int, y1: int, height: int, width: int, flags: int
) -> Int8:
    """Input of output rows y0 … y1−1 with its border: int8[y1−y0+2][width+2][cin].

    x int8[rows][in_width][cin] holds input rows from `in_y0` on.
    """
    shift = 1 if flags & UPSAMPLE else 0
    ys = np.arange(max(y0 - 1, 0), min(y1 + 1, height))
    wanted = (ys >> shift) - in_y0
    if wanted[0] < 0 or wanted[-1] >= x.shape[0]:
        raise ValueError(
            f"{check.op}: input rows {ys[0] >> shift} to {ys[-1] >> shift} are needed, "
            f"x begins with row {in_y0} and holds {x.shape[0]}"
        )
    padded = np.zeros((y1 - y0 + 2, width + 2, x.shape[2]), np.int8)
    rows = x[wanted][:, np.arange(width) >> shift]
    first = int(ys[0]) - (y0 - 1)
    padded[first : first + ys.size, 1:-1] = np.maximum(rows, 0) if flags & RELU else rows
    return padded


def _patches(padded: Int8) -> Int8:
    """im2col of int8[h+2][width+2][cin]: int8[h·width][9·cin], taps in the order ky, kx, c."""
    h, width, cin = padded.shape[0] - 2, padded.shape[1] - 2, padded.shape[2]
    taps = [padded[ky : ky + h, kx : kx + width] for ky in range(3) for kx in range(3)]
    return np.stack(taps, axis=2).reshape(h * width, 9 * cin)


def _size(check: Arguments, height: Any, width: Any, flags: Any) -> tuple[int, int, int, int]:
    """Check size of the output image and flags; (height, width, flags, width of the input)."""
    height, width = check.integer("height", height), check.integer("width", width)
    flags = check.integer("flags", flags, 0, UPSAMPLE | RELU | BYTES)
    if not flags & UPSAMPLE:
        return height, width, flags, width
    check.multiple("height", height, 2)
    check.multiple("width", width, 2)
    return height, width, flags, width // 2


def conv3x3_s8(
    out: Any,
    x: Any,
    w: Any,
    m: Any,
    b: Any,
    res: Any,
    r: Any,
    patches: Any,
    height: int,
    width: int,
    cin: int,
    cout: int,
    flags: int,
    y0: int,
    y1: int,
    in_y0: int,
    out_y0: int,
) -> None:
    """§8: rows y0 … y1−1 of a 3×3 convolution with zero padding, requantised.

    height, width: size of the whole output image. x int8[rows][in_width][cin] starts at input row
    `in_y0`; out int8 or bytes [rows][width][cout] starts at output row `out_y0`, and so does
    res int8[rows][width][cout] (or None; it may be `out`), which r float32[1] scales.
    w int8[cout][9·cin rounded up to 16], m and b float32[cout]; patches, scratch of at least one
    row of weights, is only checked here. flags: 1 up-sample, 2 ReLU on x, 4 bytes out.
    """
    check = Arguments("conv3x3_s8")
    height, width, flags, in_width = _size(check, height, width, flags)
    cin, cout = check.integer("cin", cin, high=MAX_CIN), check.integer("cout", cout)
    y0 = check.integer("y0", y0, 0, height - 1)
    y1 = check.integer("y1", y1, y0 + 1, height)
    in_y0 = check.integer("in_y0", in_y0, 0, height - 1)
    out_y0 = check.integer("out_y0", out_y0, 0, y0)
    depth = padded_depth(cin)

    window = check.all("x", x, np.int8)
    in_rows = window.size // (in_width * cin)
    image = window[: in_rows * in_width * cin].reshape(in_rows, in_width, cin)
    weights = check.read("w", w, np.int8, (cout, depth))
    gains = check.read("m", m, F, (cout,))
    offsets = check.read("b", b, F, (cout,))
    check.write("patches", patches, np.int8, (depth,))
    shape = (y1 - out_y0, width, cout)
    target = check.write("out", out, np.uint8 if flags & BYTES else np.int8, shape)[y0 - out_y0 :]
    skip = None
    if res is not None:
        skip = check.read("res", res, np.int8, shape)[y0 - out_y0 :].astype(F)
        skip = skip * check.read("r", r, F, (1,))

    rows = _patches(_padded_rows(check, image, in_y0, y0, y1, height, width, flags))
    with np.errstate(all="ignore"):
        v = dot_s8(rows, weights[:, : 9 * cin]).reshape(target.shape) * gains + offsets
        if skip is not None:
            v = v + skip
        target[:] = quantise_u8_f32(v) if flags & BYTES else quantise_f32(v)
