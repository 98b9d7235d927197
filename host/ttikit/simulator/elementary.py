"""§2 rounding and clamping, §3 elementary functions.

The functions whose names end in `_f32` work on arrays and are what the other files use; the ops
of the same names (`exp`, `log`, …) read and write buffers.
"""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

from ttikit.simulator.arguments import Arguments, Float32, Int8, Int32, UInt8

F = np.float32
QUARTER = F(0.25)
HALF = F(0.5)
ONE = F(1.0)

LOG2_E = F(1.442695041)
LN2_HIGH = F(0.693359375)
LN2_LOW = F(-2.12194440e-4)
SQRT2 = F(1.414213562)
TWO_PI = F(6.283185307)

# Coefficients from the highest power down; one float32 division rounds each of them once.
EXP = tuple(F(1) / F(factorial(k)) for k in range(6, -1, -1))
ARTANH = tuple(F(1) / F(k) for k in (9, 7, 5, 3, 1))
SINE = tuple(F(s) / F(factorial(k)) for s, k in ((1, 9), (-1, 7), (1, 5), (-1, 3), (1, 1)))
COSINE = tuple(F(s) / F(factorial(k)) for s, k in ((1, 8), (-1, 6), (1, 4), (-1, 2), (1, 0)))

GELU_POINTS = 1024
GELU_END = F(6.0)
GELU_PER_UNIT = F(85.33333333)


def rne_f32(v: Float32) -> Int32:
    """§2 `rne`: nearest integers of any shape, ties to even; |v| < 2^22."""
    return np.rint(v).astype(np.int32)


def quantise_f32(v: Float32) -> Int8:
    """§2: rne(clamp8(v)) as int8, any shape; NaN gives −127."""
    low = np.where(v >= F(-127), v, F(-127))
    return np.rint(np.where(low > F(127), F(127), low)).astype(np.int8)


def quantise_u8_f32(v: Float32) -> UInt8:
    """§2: rne(clampu8(v)) as a byte, any shape; NaN gives 0."""
    low = np.where(v >= F(0), v, F(0))
    return np.rint(np.where(low > F(255), F(255), low)).astype(np.uint8)


def horner(coefficients: tuple[np.float32, ...], x: Float32) -> Float32:
    """Evaluate a polynomial, highest power first, each product and sum rounded."""
    p = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        p = p * x + c
    return p


def exp_f32(x: Float32) -> Float32:
    """§3 exp of any shape; inputs are limited to −87…88, NaN counts as −87."""
    x = np.where(x >= F(-87), x, F(-87))
    x = np.where(x > F(88), F(88), x)
    n = np.rint(x * LOG2_E)
    f = (x - n * LN2_HIGH) - n * LN2_LOW
    power = ((n.astype(np.int32) + np.int32(127)) << np.int32(23)).view(F)
    return horner(EXP, f) * power


def log_f32(u: Float32) -> Float32:
    """§3 natural logarithm of any shape, for normal numbers above zero."""
    b = u.view(np.uint32)
    e = (b >> np.uint32(23)).astype(np.int32) - np.int32(127)
    m = ((b & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)).view(F)
    upper = m > SQRT2
    m = np.where(upper, m * HALF, m)
    exponent = np.where(upper, e + np.int32(1), e).astype(F)
    f = m - ONE
    s = f / (F(2) + f)
    p = horner(ARTANH, s * s)
    return (exponent * LN2_LOW + (F(2) * s) * p) + exponent * LN2_HIGH


def rsqrt_f32(x: Float32) -> Float32:
    """§3 1/sqrt of any shape, x ≥ 0; three Newton steps, so 0 gives a large finite number."""
    y = (np.uint32(0x5F3759DF) - (x.view(np.uint32) >> np.uint32(1))).view(F)
    h = HALF * x
    for _ in range(3):
        y = y * (F(1.5) - (h * y) * y)
    return y


def sqrt_f32(x: Float32) -> Float32:
    """§3 square root of any shape, x ≥ 0."""
    return x * rsqrt_f32(x)


def sincos_f32(u: Float32) -> tuple[Float32, Float32]:
    """§3 (sin, cos) of u turns, any shape, 0 ≤ u < 1."""
    k = (u * F(4) + HALF).astype(np.int32)
    a = (u - k.astype(F) * QUARTER) * TWO_PI
    z = a * a
    s, c = horner(SINE, z) * a, horner(COSINE, z)
    quarter = k & 3
    sine = np.choose(quarter, (s, c, -s, -c))
    cosine = np.choose(quarter, (c, -s, -c, s))
    return sine, cosine


def silu_f32(x: Float32) -> Float32:
    """§3 x / (1 + exp(−x)), any shape."""
    return x / (ONE + exp_f32(-x))


def gelu_f32(x: Float32, table: Float32) -> Float32:
    """§3 GELU of any shape from a table float32[1024][2] of (value, slope) over [−6, 6)."""
    inside = (x > -GELU_END) & (x < GELU_END)
    p = (np.where(inside, x, F(0)) + GELU_END) * GELU_PER_UNIT
    i = np.minimum(p.astype(np.int32), GELU_POINTS - 1)
    curve = table[i, 0] + table[i, 1] * (p - i.astype(F))
    return np.where(inside, curve, np.where(x >= GELU_END, x, F(0)))


def _map(op: str, function: Callable[[Float32], Float32], out: Any, x: Any, n: Any) -> None:
    """Write function(x) to out, float32[n] each; `out` may be `x`."""
    check = Arguments(op)
    count = check.length("n", n)
    source = check.read("x", x, F, (count,))
    target = check.write("out", out, F, (count,))
    with np.errstate(all="ignore"):  # values outside the domain are the caller's
        target[:] = function(source)


def exp(out: Any, x: Any, n: int) -> None:
    """§3: out = exp(x), float32[n]; `out` may be `x`."""
    _map("exp", exp_f32, out, x, n)


def log(out: Any, x: Any, n: int) -> None:
    """§3: out = ln(x), float32[n], x normal and positive; `out` may be `x`."""
    _map("log", log_f32, out, x, n)


def rsqrt(out: Any, x: Any, n: int) -> None:
    """§3: out = 1/sqrt(x), float32[n], x ≥ 0; `out` may be `x`."""
    _map("rsqrt", rsqrt_f32, out, x, n)


def sqrt(out: Any, x: Any, n: int) -> None:
    """§3: out = sqrt(x), float32[n], x ≥ 0; `out` may be `x`."""
    _map("sqrt", sqrt_f32, out, x, n)


def silu(out: Any, x: Any, n: int) -> None:
    """§3: out = x / (1 + exp(−x)), float32[n]; `out` may be `x`."""
    _map("silu", silu_f32, out, x, n)


def sincos(out_sin: Any, out_cos: Any, turns: Any, n: int) -> None:
    """§3: sine and cosine of `turns` (0 ≤ turns < 1), float32[n] each."""
    check = Arguments("sincos")
    count = check.length("n", n)
    u = check.read("turns", turns, F, (count,))
    sine_out = check.write("out_sin", out_sin, F, (count,))
    cosine_out = check.write("out_cos", out_cos, F, (count,))
    with np.errstate(all="ignore"):
        sine, cosine = sincos_f32(u)
    sine_out[:], cosine_out[:] = sine, cosine


def rne(out: Any, x: Any, n: int) -> None:
    """§2: out int32[n] = the integers nearest to x float32[n], ties to even; |x| < 2^22."""
    check = Arguments("rne")
    count = check.length("n", n)
    source = check.read("x", x, F, (count,))
    target = check.write("out", out, np.int32, (count,))
    with np.errstate(all="ignore"):
        target[:] = rne_f32(source)


def gelu(out: Any, x: Any, table: Any, n: int) -> None:
    """§3: out = gelu(x), float32[n], by `table` float32[1024][2]; `out` may be `x`."""
    check = Arguments("gelu")
    count = check.length("n", n)
    source = check.read("x", x, F, (count,))
    curve = check.read("table", table, F, (GELU_POINTS, 2))
    target = check.write("out", out, F, (count,))
    with np.errstate(all="ignore"):
        target[:] = gelu_f32(source, curve)
