"""Cases of the ops over vectors: elementary functions, noise, sampler, sums, quantisation."""

from collections.abc import Callable

import numpy as np
from native_cases import Case, Cases, Maker, Same
from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 32, 33, 64, 97, 128, 251, 1009)
Values = NDArray[np.float32]


def _bits(pattern: int) -> np.float32:
    return np.array(pattern, np.uint32).view(np.float32)[()]


MAX = np.finfo(np.float32).max
TINY = np.finfo(np.float32).tiny
SUBNORMAL = _bits(1)
EDGES = {
    "exp": [
        0,
        -0.0,
        -87,
        -87.00001,
        -200,
        88,
        88.5,
        MAX,
        -MAX,
        np.inf,
        -np.inf,
        np.nan,
        SUBNORMAL,
    ],
    "log": [1, TINY, MAX, 0.5, 2, 1.4142135, 1.4142137, _bits(0x3F7FFFFF), _bits(0x3F800001)],
    "rsqrt": [0, SUBNORMAL, TINY, MAX, 1, 4, 1e-6, 2.0**-126],
    "sqrt": [0, -0.0, SUBNORMAL, TINY, MAX, 1, 4, 1e-6],
    "silu": [0, -0.0, 100, -100, MAX, -MAX, SUBNORMAL, -1.2784645],
    "rne": [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 4194303.5, -4194303.5, SUBNORMAL, -0.0],
    "gelu": [-6, 6, -5.9999995, 5.9999995, 5.9883, 0, -0.0, np.nan, np.inf, -np.inf, MAX, -MAX],
    "sincos": [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1 - 2.0**-24, 2.0**-24, SUBNORMAL],
}
DOMAINS: dict[str, Callable[[Maker, int], Values]] = {
    "exp": lambda m, n: m.uniform(-90, 90, n),
    "log": lambda m, n: np.exp(m.uniform(-87, 88, n)),
    "rsqrt": lambda m, n: np.exp(m.uniform(-87, 88, n)),
    "sqrt": lambda m, n: np.exp(m.uniform(-87, 88, n)),
    "silu": lambda m, n: m.uniform(-30, 30, n),
    "rne": lambda m, n: m.uniform(-300, 300, n) * m.pick([1, 1, 10000]),
    "gelu": lambda m, n: m.uniform(-7, 7, n),
    "sincos": lambda m, n: np.minimum(m.uniform(0, 1, n), np.float32(1 - 2.0**-24)),
}


def _input(m: Maker, op: str, n: int) -> Values:
    """Values of the op's domain with its edges among them."""
    values = DOMAINS[op](m, n)
    edges = np.array(EDGES[op], np.float32)
    at = m.rng.permutation(n)[: min(n // 2, len(edges))]
    values[at] = m.rng.permutation(edges)[: len(at)]
    return values


def elementary(m: Maker) -> Cases:
    for op in ("exp", "log", "rsqrt", "sqrt", "silu", "rne"):
        for n in LENGTHS:
            yield Case(op, (m.out_f32(n), m.f32(_input(m, op, n)), n))
            if op != "rne":
                yield Case(op, (m.inout_f32(_input(m, op, n)), Same(0), n))
        for edge in EDGES[op]:
            yield Case(op, (m.out_f32(1), m.f32([edge]), 1))
    for n in LENGTHS:
        turns = m.f32(_input(m, "sincos", n))
        yield Case("sincos", (m.out_f32(n), m.out_f32(n), turns, n))
        table = m.f32(m.normal(2048))
        yield Case("gelu", (m.out_f32(n), m.f32(_input(m, "gelu", n)), table, n))
        yield Case("gelu", (m.inout_f32(_input(m, "gelu", n)), Same(0), table, n))
    for edge in EDGES["sincos"]:
        yield Case("sincos", (m.out_f32(1), m.out_f32(1), m.f32([edge]), 1))
    for edge in EDGES["gelu"]:
        yield Case("gelu", (m.out_f32(1), m.f32([edge]), m.f32(m.normal(2048)), 1))


def sampler(m: Maker) -> Cases:
    for seed in (0, 1, 7, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1):
        for n in (4, 8, 12, 256, 1024):
            yield Case("noise", (m.out_f32(n), seed, n))
    for n in LENGTHS:
        for steps in (1, 2, 3, 8, 50, 65535):
            i = m.pick([0, steps - 1, steps // 2])
            freqs = m.f32(np.exp(m.uniform(-6, 5.1, n)))
            yield Case("timestep_features", (m.out_f32(2 * n), freqs, i, steps, n))
            x = m.inout_f32(m.normal(n) * 3)
            yield Case("euler", (x, m.f32(m.normal(n) * 3), steps, n))


def sums(m: Maker) -> Cases:
    for n in LENGTHS:
        big = m.pick([1, 1, 1e30])
        a, b = m.f32(m.normal(n) * big), m.f32(m.normal(n))
        yield Case("add", (m.out_f32(n), a, b, n))
        yield Case("add", (m.inout_f32(m.normal(n)), Same(0), b, n))
        yield Case("add", (m.inout_f32(m.normal(n)), a, Same(0), n))
        yield Case("add", (m.inout_f32(m.normal(n)), Same(0), Same(0), n))
        for hundredths in (0, 1, 33, 50, 67, 99, 100):
            yield Case("lerp", (m.out_f32(n), a, b, hundredths, n))
            yield Case("lerp", (m.inout_f32(m.normal(n)), Same(0), b, hundredths, n))
            yield Case("lerp", (m.inout_f32(m.normal(n)), a, Same(0), hundredths, n))
    for rows in (1, 2, 3, 5, 8, 24, 32, 37):
        for cols in (1, 2, 3, 4, 7, 17, 96):
            yield Case("mean_rows", (m.out_f32(cols), m.f32(m.normal(rows, cols)), rows, cols))
    for n in (1, 2, 5, 24, 32):
        for dim in (1, 3, 4, 7, 96):
            vocabulary = m.pick([1, 2, 61, 64, 256])
            tokens = m.s8(m.rng.integers(0, vocabulary, n).astype(np.uint8))
            table = m.f32(m.normal(vocabulary, dim))
            yield Case("embed", (m.out_f32(n * dim), table, None, tokens, n, dim))
            pos = m.f32(m.normal(n, dim))
            yield Case("embed", (m.out_f32(n * dim), table, pos, tokens, n, dim))
    for height in (2, 4, 6, 16):
        for width in (2, 4, 10, 16):
            x = m.f32(m.normal(height * width * 4) * 2)
            gain, offset = m.f32(m.uniform(10, 60, 4)), m.f32(m.uniform(-20, 20, 4))
            q = m.out_s8(height * width * 4)
            yield Case("quantize_latent", (q, x, gain, offset, height, width))


def activations(m: Maker, kind: str, rows: int, cols: int) -> Values:
    """Numbers of one of KINDS."""
    x = m.normal(rows, cols)
    if kind == "zero rows":
        x[m.rng.random(rows) < 0.5] = 0
    elif kind == "zeros":
        x[:] = 0
    elif kind == "subnormal":
        x = x * np.float32(1e-41)
    elif kind == "threshold":  # 2^-100 and its neighbours
        x[:] = 0
        x[:, 0] = m.rng.choice(np.array([2.0**-100, 2.0**-100 * (1 - 2.0**-24)], np.float32), rows)
    elif kind == "huge":
        x = np.sign(x) * m.uniform(0.5, 1, rows, cols) * MAX
    elif kind == "ties":  # x · (127 / max) falls on halves
        x = m.rng.integers(-254, 255, (rows, cols)).astype(np.float32) / 2
        x[:, 0] = 127
    elif kind == "nan":
        x[m.rng.random((rows, cols)) < 0.1] = np.nan
    return x


KINDS = ("normal", "zero rows", "zeros", "subnormal", "threshold", "huge", "ties", "nan")


def quantisation(m: Maker) -> Cases:
    for rows in (1, 2, 3, 8, 17):
        for cols in (1, 2, 3, 4, 5, 7, 16, 31, 96, 193):
            for kind in m.rng.permutation(KINDS)[:4]:
                x = activations(m, kind, rows, cols)
                size = rows * cols
                args = (m.out_s8(size), m.out_f32(rows), m.f32(x), rows, cols)
                yield Case("quantize_rows", args)
                args = (m.out_s8(size), m.out_f32(cols), m.f32(x), rows, cols)
                yield Case("quantize_cols_t", args)


def layernorm(m: Maker) -> Cases:
    for rows in (1, 2, 3, 5, 8, 64):
        for cols in (4, 8, 12, 36, 96, 192):
            for _ in range(4):
                kind = m.pick(("normal", "normal", "zero rows", "zeros", "subnormal", "ties"))
                x = activations(m, kind, rows, cols) * m.pick([1, 1, 1000]) + m.pick([0, 3])
                shift, scale = m.f32(m.normal(cols)), m.f32(m.normal(cols))
                q, sq, scratch = m.out_s8(rows * cols), m.out_f32(rows), m.out_f32(cols)
                args = (q, sq, m.f32(x), shift, scale, scratch, rows, cols)
                yield Case("layernorm_modulate_s8", args)
