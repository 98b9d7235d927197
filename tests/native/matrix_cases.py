"""Cases of the ops with int8 products: matrix product, attention, convolution."""

import numpy as np
from native_cases import CODES, Argument, Buffer, Case, Cases, Maker, Same

TOKENS = (1, 2, 3, 4, 5, 31, 32, 33, 65)
CHANNELS = (1, 2, 3, 4, 5, 8, 13)
DEPTHS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 96, 191, 192, 193, 385, 577)


def product(m: Maker, add: bool, t: int, o: int, k: int, kinds: tuple[str, str]) -> Case:
    """A matrix product of t rows with o rows of k terms, or one that is added."""
    x, w = m.s8(m.codes(kinds[0], t, k)), m.s8(m.codes(kinds[1], o, k))
    bias = m.pick([None, m.f32(m.normal(o))])
    operands = (x, m.f32(m.scales(t)), w, m.f32(m.scales(o)), bias, t, o, k)
    if not add:
        return Case("gemm_s8", (m.out_f32(t * o), *operands))
    return Case("gemm_s8_add", (m.inout_f32(m.normal(t, o)), m.f32(m.normal(o)), *operands))


def products(m: Maker) -> Cases:
    for t in TOKENS:
        for o in CHANNELS:
            for k in m.rng.permutation(DEPTHS)[:4]:
                for add in (False, True):
                    yield product(m, add, t, o, int(k), (m.pick(CODES), m.pick(CODES)))
    for k in DEPTHS:
        yield product(m, False, 2, 5, k, ("random", "random"))
    for t, o, k in (
        (1, 36, 96),
        (33, 20, 96),
        (2, 96, 192),
        (3, 64, 97),
        (64, 16, 16),
        (5, 4, 576),
    ):
        for add in (False, True):
            yield product(m, add, t, o, k, ("random", "random"))
    for k in (191, 192, 193, 319, 320, 321):  # where a smaller part of the weights fits
        yield product(m, True, 3, 12, k, ("random", "signs"))
    for kinds in (("high", "high"), ("high", "low"), ("random", "signs")):
        yield product(m, False, 3, 5, 65536, kinds)  # the largest accumulators


def attention(m: Maker) -> Cases:
    for tokens in (1, 2, 3, 5, 24, 32, 33, 64, 67):
        for heads, head_dim in (
            (1, 1),
            (1, 32),
            (2, 3),
            (3, 32),
            (6, 32),
            (2, 33),
            (5, 7),
            (2, 4),
            (3, 12),
        ):
            head, row0 = int(m.rng.integers(heads)), int(m.rng.integers(tokens))
            rows = int(m.rng.integers(1, tokens - row0 + 1))
            yield from heads_of(m, (head, row0, rows, tokens, heads, head_dim))


def heads_of(m: Maker, sizes: tuple[int, int, int, int, int, int]) -> Cases:
    """Scores and values of one head: head, row0, rows, tokens, heads, head_dim."""
    _, _, rows, tokens, heads, head_dim = sizes
    dim = heads * head_dim
    q, k = m.s8(m.codes(m.pick(CODES), tokens, dim)), m.s8(m.codes("random", tokens, dim))
    sq, sk = m.f32(m.scales(tokens, heads)), m.f32(m.scales(tokens, heads))
    yield Case("attention_scores", (m.out_f32(rows * tokens), q, sq, k, sk, *sizes))
    p = m.s8(np.abs(m.codes(m.pick(CODES), rows, tokens)))
    inv = m.f32(1 / m.uniform(127, 8000, rows))
    vt, sv = m.s8(m.codes(m.pick(CODES), dim, tokens)), m.f32(m.scales(dim))
    yield Case("attention_values", (m.out_f32(tokens * dim), p, inv, vt, sv, *sizes))


def softmax(m: Maker) -> Cases:
    for rows in (1, 2, 3, 16):
        for cols in (1, 2, 3, 4, 5, 8, 24, 32, 33, 64, 65):
            for spread in (0, 0.001, 1, 10, 200):
                valid = m.pick([cols, cols, 1, max(1, cols - 1), max(1, cols // 2)])
                s = m.normal(rows, cols) * np.float32(spread) + m.pick([0, -50, 1000])
                args = (m.out_s8(rows * cols), m.out_f32(rows), m.f32(s), rows, cols, valid)
                yield Case("softmax_s8", args)


def convolution(m: Maker) -> Cases:
    for _ in range(9):
        for flags in range(8):
            for cin in (1, 3, 4, 16, 17):
                yield window(m, flags, cin, m.pick([1, 2, 3, 4, 5, 9]))
    for flags in range(8):
        for cin, cout in ((16, 3), (32, 3), (48, 32), (64, 4), (64, 41), (71, 5)):
            yield window(m, flags, cin, cout, 40)


def window(m: Maker, flags: int, cin: int, cout: int, pixels: int = 0) -> Case:
    """A stripe of a convolution, in windows that are just as large as needed or larger.

    pixels: how many patches the scratch holds, 0 for a few.
    """
    up = flags & 1
    height, width = (int(m.rng.integers(1, 9)) * (2 if up else 1) for _ in range(2))
    y0 = int(m.rng.integers(height))
    y1 = int(m.rng.integers(y0 + 1, height + 1))
    first, last = max(y0 - 1, 0) >> up, min(y1, height - 1) >> up
    in_y0 = int(m.rng.integers(first + 1))
    in_rows = last - in_y0 + 1 + m.pick([0, 0, 1])
    out_y0 = int(m.rng.integers(y0 + 1))
    kpad = -(-9 * cin // 16) * 16
    weights = m.codes(m.pick(CODES), cout, kpad)
    if m.rng.random() < 0.5:
        weights[:, 9 * cin :] = 0  # as the exporter does; other padding must not matter
    x = m.s8(m.codes(m.pick(CODES), in_rows * (width >> up) * cin))
    size = (y1 - out_y0) * width * cout
    out, res, r = _residual(m, size)
    pixels = pixels or m.pick([1, 2, 3, width, width + 1, 40])
    patches = m.out_s8(pixels * kpad + m.pick([0, 0, 5]))
    gain = m.f32(m.uniform(0.2, 2, cout) * 127 / (2000 * np.sqrt(cin)))
    sizes = (height, width, cin, cout, flags, y0, y1, in_y0, out_y0)
    args = (out, x, m.s8(weights), gain, m.f32(m.normal(cout) * 20), res, r, patches, *sizes)
    return Case("conv3x3_s8", args)


def _residual(m: Maker, size: int) -> tuple[Argument, Argument, Argument]:
    """Buffers out, res and r: without residual, with one of its own, and in place."""
    values = m.codes("random", size)
    r = m.f32(m.uniform(0.1, 2, 1))
    return m.pick(
        [
            (m.out_s8(size), None, None),
            (m.out_s8(size), m.s8(values), r),
            (Buffer(values.tobytes(), "write", m.byte()), Same(0), r),
        ]
    )
