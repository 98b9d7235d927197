"""Cases for kernels that load vectors of 16 bytes: aligned buffers, and one of them not quite."""

from dataclasses import replace

import matrix_cases
import numpy as np
import vector_cases
from native_cases import CODES, Buffer, Case, Cases, Maker


def aligned(m: Maker, case: Case) -> Case:
    """The case with its buffers at multiples of 16, in one of four cases all but one."""
    buffers = [i for i, a in enumerate(case.args) if isinstance(a, Buffer)]
    odd = m.pick(buffers) if m.rng.random() < 0.25 else None
    args = list(case.args)
    for i in buffers:
        argument = args[i]
        assert isinstance(argument, Buffer)
        step = 4 if argument.align % 4 == 0 else 1
        off = int(m.rng.integers(1, 16 // step)) * step if i == odd else 0
        args[i] = replace(argument, align=off)
    return Case(case.op, tuple(args))


def products(m: Maker) -> Cases:
    """Depths around the slices of a row of weights, and rows around what is kept of them."""
    for k in (16, 32, 48, 64, 80, 96, 112, 144, 176, 192, 208, 288, 576):
        for add in (False, True):
            for _ in range(3):
                t, o = m.pick([1, 2, 3, 8, 31, 64, 65]), m.pick([1, 3, 4, 5, 8, 12])
                kinds = m.pick(CODES), m.pick(CODES)
                yield aligned(m, matrix_cases.product(m, add, t, o, k, kinds))
    for kinds in (("high", "high"), ("high", "low")):
        yield aligned(m, matrix_cases.product(m, False, 2, 4, 65536, kinds))


def attention(m: Maker) -> Cases:
    """Heads and tokens that fill whole vectors."""
    for tokens in (16, 32, 48, 64, 80, 144):
        for heads, head_dim in ((1, 16), (3, 32), (2, 48), (2, 96)):
            row0 = m.pick([0, 0, 1, tokens // 2])
            rows = m.pick([tokens - row0, 1])
            head = int(m.rng.integers(heads))
            for case in matrix_cases.heads_of(m, (head, row0, rows, tokens, heads, head_dim)):
                yield aligned(m, case)


def softmax(m: Maker) -> Cases:
    """Rows of whole vectors, with and without exponentials that are bounded."""
    for rows in (1, 2, 3, 5):
        for cols in (8, 16, 32, 64, 128, 136):
            for spread in (0, 0.01, 1, 10, 30):
                valid = m.pick([cols, cols, max(8, cols // 2), max(1, cols - 3)])
                s = m.normal(rows, cols) * np.float32(spread) + m.pick([0, -50, 1000])
                if m.rng.random() < 0.3:
                    s[m.rng.integers(rows), m.rng.integers(cols)] -= m.pick([86, 87, 88, 1000])
                args = (m.out_s8(rows * cols), m.out_f32(rows), m.f32(s), rows, cols, valid)
                yield aligned(m, Case("softmax_s8", args))


def vectors(m: Maker) -> Cases:
    """Quantisation, LayerNorm and GELU of whole vectors."""
    for rows in (1, 2, 4, 6, 7):
        for cols in (4, 8, 12, 16, 32, 96, 192):
            for kind in m.rng.permutation(vector_cases.KINDS)[:3]:
                x, size = m.f32(vector_cases.activations(m, kind, rows, cols)), rows * cols
                args = (m.out_s8(size), m.out_f32(rows), x, rows, cols)
                yield aligned(m, Case("quantize_rows", args))
                args = (m.out_s8(size), m.out_f32(cols), x, rows, cols)
                yield aligned(m, Case("quantize_cols_t", args))
    for case in vector_cases.layernorm(m):
        if m.rng.random() < 0.5:
            yield aligned(m, case)
    for n in (4, 8, 16, 120, 128, 136, 384, 1009):
        for width in (1, 5.9, 6.5):
            x = m.uniform(-width, width, n)
            table = m.f32(m.normal(2048))
            yield aligned(m, Case("gelu", (m.out_f32(n), m.f32(x), table, n)))


def convolution(m: Maker) -> Cases:
    """Channels that fill whole vectors, and some that do not, in windows of all kinds."""
    for flags in range(8):
        for cin, cout in ((16, 4), (16, 3), (32, 8), (32, 13), (48, 4), (64, 5), (4, 8), (3, 3)):
            pixels = m.pick([1, 2, 3, 4, 7, 40])
            yield aligned(m, matrix_cases.window(m, flags, cin, cout, pixels))
