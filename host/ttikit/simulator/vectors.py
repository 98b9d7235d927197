"""§9 noise, §10 sampler, §11 vectors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttikit.simulator.arguments import MAX_STEPS, Arguments, Float32
from ttikit.simulator.elementary import F, log_f32, quantise_f32, sincos_f32, sqrt_f32

PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10
WORD = np.uint64(0xFFFFFFFF)
TWO_TO_MINUS_24 = F(2.0**-24)


def philox4x32(counter: NDArray[np.uint64], key: tuple[int, int]) -> NDArray[np.uint32]:
    """Philox4x32-10 of counters uint64[n][4] holding 32-bit words; words uint32[n][4].

    Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
    """
    c0, c1, c2, c3 = (counter[:, i] for i in range(4))
    k0, k1 = key
    for _ in range(PHILOX_ROUNDS):
        p0, p1 = PHILOX_MULTIPLIERS[0] * c0, PHILOX_MULTIPLIERS[1] * c2
        c0, c2 = (
            (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0),
            (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1),
        )
        c1, c3 = p1 & WORD, p0 & WORD
        k0, k1 = (k0 + PHILOX_KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + PHILOX_KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def noise_f32(seed: int, n: int) -> Float32:
    """§9: n normal values (n a multiple of 4) that depend on the 32-bit seed only."""
    counter = np.zeros((n // 4, 4), np.uint64)
    counter[:, 0] = np.arange(n // 4)
    words = philox4x32(counter, (seed, 0)).reshape(-1, 2)
    u = ((words[:, 0] >> np.uint32(8)) + np.uint32(1)).astype(F) * TWO_TO_MINUS_24
    v = (words[:, 1] >> np.uint32(8)).astype(F) * TWO_TO_MINUS_24
    radius = sqrt_f32(F(-2) * log_f32(u))
    sine, cosine = sincos_f32(v)
    return np.stack([radius * cosine, radius * sine], axis=1).reshape(n)


def noise(out: Any, seed: int, n: int) -> None:
    """§9: out float32[n] = normal noise of a seed in 0 … 2^32−1; n is a multiple of 4."""
    check = Arguments("noise")
    seed = check.integer("seed", seed, 0, 0xFFFFFFFF)
    n = check.length("n", n)
    check.multiple("n", n, 4)
    target = check.write("out", out, F, (n,))
    target[:] = noise_f32(seed, n)


def timestep_features(out: Any, freqs: Any, i: int, steps: int, n: int) -> None:
    """§10: out float32[2n] = cosines, then sines, of the time of step i of `steps`.

    freqs float32[n] in turns per unit of time.
    """
    check = Arguments("timestep_features")
    steps = check.integer("steps", steps, 1, MAX_STEPS)
    i = check.integer("i", i, 0, steps - 1)
    n = check.length("n", n)
    turns_per_unit = check.read("freqs", freqs, F, (n,))
    target = check.write("out", out, F, (2 * n,))
    with np.errstate(all="ignore"):
        a = F(steps - i) / F(steps) * turns_per_unit
        sine, cosine = sincos_f32(a - a.astype(np.int32).astype(F))
    target[:n], target[n:] = cosine, sine


def euler(x: Any, v: Any, steps: int, n: int) -> None:
    """§10: x = x − 1/steps · v, float32[n], in place in x."""
    check = Arguments("euler")
    steps = check.integer("steps", steps, 1, MAX_STEPS)
    n = check.length("n", n)
    target = check.write("x", x, F, (n,))
    velocity = check.read("v", v, F, (n,))
    with np.errstate(all="ignore"):
        target[:] = target - F(1) / F(steps) * velocity


def embed(out: Any, table: Any, pos: Any, tokens: Any, n: int, dim: int) -> None:
    """§11: out float32[n][dim] = table[token] + pos.

    table float32[vocabulary][dim], pos float32[n][dim] or None for no addition, tokens uint8[n].
    """
    check = Arguments("embed")
    n, dim = check.integer("n", n), check.integer("dim", dim)
    ids = check.read("tokens", tokens, np.uint8, (n,))
    rows = check.all("table", table, F)
    vocabulary = rows.size // dim
    target = check.write("out", out, F, (n, dim))
    position = None if pos is None else check.read("pos", pos, F, (n, dim))
    if int(ids.max()) >= vocabulary:
        raise ValueError(f"embed: token {ids.max()} is outside the table of {vocabulary} rows")
    chosen = rows[: vocabulary * dim].reshape(vocabulary, dim)[ids]
    with np.errstate(all="ignore"):
        target[:] = chosen if position is None else chosen + position


def add(out: Any, a: Any, b: Any, n: int) -> None:
    """§11: out = a + b, float32[n]; `out` may be `a` or `b`."""
    check = Arguments("add")
    n = check.length("n", n)
    left, right = check.read("a", a, F, (n,)), check.read("b", b, F, (n,))
    target = check.write("out", out, F, (n,))
    with np.errstate(all="ignore"):
        target[:] = left + right


def lerp(out: Any, a: Any, b: Any, hundredths: int, n: int) -> None:
    """§11: out = a + hundredths/100 · (b − a), float32[n]; `out` may be `a` or `b`."""
    check = Arguments("lerp")
    hundredths = check.integer("hundredths", hundredths, 0, 100)
    n = check.length("n", n)
    start, end = check.read("a", a, F, (n,)), check.read("b", b, F, (n,))
    target = check.write("out", out, F, (n,))
    with np.errstate(all="ignore"):
        target[:] = start + F(hundredths) / F(100) * (end - start)


def mean_rows(out: Any, x: Any, rows: int, cols: int) -> None:
    """§11: out float32[cols] = mean over the rows of x float32[rows][cols], summed in order."""
    check = Arguments("mean_rows")
    rows, cols = check.integer("rows", rows), check.integer("cols", cols)
    values = check.read("x", x, F, (rows, cols))
    target = check.write("out", out, F, (cols,))
    with np.errstate(all="ignore"):
        total = np.zeros(cols, F)
        for row in values:
            total = total + row
        target[:] = total / F(rows)


def quantize_latent(q: Any, x: Any, m: Any, b: Any, height: int, width: int) -> None:
    """§11: q int8[height][width][4] = quantised x · m + b, moved out of the tokens' patches.

    x float32[height/2 · width/2][2][2][4], m and b float32[4]; height and width are even.
    """
    check = Arguments("quantize_latent")
    height, width = check.integer("height", height), check.integer("width", width)
    check.multiple("height", height, 2)
    check.multiple("width", width, 2)
    latent = check.read("x", x, F, (height // 2, width // 2, 2, 2, 4))
    gain, offset = check.read("m", m, F, (4,)), check.read("b", b, F, (4,))
    target = check.write("q", q, np.int8, (height, width, 4))
    with np.errstate(all="ignore"):
        codes = quantise_f32(latent * gain + offset)
    target[:] = codes.transpose(0, 2, 1, 3, 4).reshape(height, width, 4)
