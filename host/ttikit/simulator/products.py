"""§5 matrix product, §7 attention."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttikit.simulator.arguments import Arguments, Float32, Int8, Int32
from ttikit.simulator.elementary import F, exp_f32, rne_f32

EXACT_IN_FLOAT32 = (1 << 24) // (128 * 128)  # longest sum of int8 products that float32 holds


def dot_s8(a: Int8, b: Int8) -> Float32:
    """Σ_k a[i,k] · b[j,k] of int8[m][k] and int8[n][k], converted to float32[m][n] (§1).

    A floating-point product is fast and still exact: every partial sum is an integer below 2^24
    in float32, or below 2^53 in float64, so neither order nor fused operations can change it.
    """
    exact: type = F if a.shape[1] <= EXACT_IN_FLOAT32 else np.float64
    acc: NDArray[np.floating] = a.astype(exact) @ b.astype(exact).T
    return acc.astype(F, copy=False)


def _gemm(
    check: Arguments, x: Any, sx: Any, w: Any, sw: Any, bias: Any, t: int, o: int, k: int
) -> Float32:
    """§5: the value float32[t][o] that both products share."""
    codes = check.read("x", x, np.int8, (t, k))
    weights = check.read("w", w, np.int8, (o, k))
    row_scales = check.read("sx", sx, F, (t,))
    channel_scales = check.read("sw", sw, F, (o,))
    value = (dot_s8(codes, weights) * row_scales[:, None]) * channel_scales
    return value if bias is None else value + check.read("bias", bias, F, (o,))


def gemm_s8(out: Any, x: Any, sx: Any, w: Any, sw: Any, bias: Any, t: int, o: int, k: int) -> None:
    """§5: out float32[t][o] = (Σ_k x·w · sx[t]) · sw[o] + bias[o].

    x int8[t][k], sx float32[t], w int8[o][k], sw float32[o], bias float32[o] or None.
    """
    check = Arguments("gemm_s8")
    t, o, k = check.integer("t", t), check.integer("o", o), check.integer("k", k)
    target = check.write("out", out, F, (t, o))
    with np.errstate(all="ignore"):
        target[:] = _gemm(check, x, sx, w, sw, bias, t, o, k)


def gemm_s8_add(
    res: Any,
    gate: Any,
    x: Any,
    sx: Any,
    w: Any,
    sw: Any,
    bias: Any,
    t: int,
    o: int,
    k: int,
) -> None:
    """§5: res float32[t][o] += gate float32[o] · (value of `gemm_s8`)."""
    check = Arguments("gemm_s8_add")
    t, o, k = check.integer("t", t), check.integer("o", o), check.integer("k", k)
    target = check.write("res", res, F, (t, o))
    gates = check.read("gate", gate, F, (o,))
    with np.errstate(all="ignore"):
        value = _gemm(check, x, sx, w, sw, bias, t, o, k)
        target[:] = target + gates * value


def _head(
    check: Arguments, head: Any, row0: Any, rows: Any, tokens: Any, heads: Any, head_dim: Any
) -> tuple[int, int, int, int, int, int]:
    """Check the integers that both attention products share."""
    tokens = check.integer("tokens", tokens)
    heads = check.integer("heads", heads)
    head_dim = check.integer("head_dim", head_dim)
    head = check.integer("head", head, 0, heads - 1)
    row0 = check.integer("row0", row0, 0, tokens - 1)
    rows = check.integer("rows", rows, 1, tokens - row0)
    return head, row0, rows, tokens, heads, head_dim


def attention_scores(
    s: Any,
    q: Any,
    sq: Any,
    k: Any,
    sk: Any,
    head: int,
    row0: int,
    rows: int,
    tokens: int,
    heads: int,
    head_dim: int,
) -> None:
    """§7: s float32[rows][tokens], the scores of one head for query rows row0 … row0+rows−1.

    q and k int8[tokens][heads·head_dim], sq and sk float32[tokens][heads].
    """
    check = Arguments("attention_scores")
    head, row0, rows, tokens, heads, head_dim = _head(
        check, head, row0, rows, tokens, heads, head_dim
    )
    target = check.write("s", s, F, (rows, tokens))
    queries = check.read("q", q, np.int8, (tokens, heads, head_dim))[row0 : row0 + rows, head]
    keys = check.read("k", k, np.int8, (tokens, heads, head_dim))[:, head]
    query_scales = check.read("sq", sq, F, (tokens, heads))[row0 : row0 + rows, head]
    key_scales = check.read("sk", sk, F, (tokens, heads))[:, head]
    with np.errstate(all="ignore"):
        target[:] = (dot_s8(queries, keys) * query_scales[:, None]) * key_scales


def _diffused(e: Float32) -> Int32:
    """§7: e float32[rows][n] in 0…126 as integers; a column's rounding error goes to the next."""
    weights = np.empty(e.shape, np.int32)
    rest = np.zeros(len(e), F)
    for j in range(e.shape[1]):
        rest = rest + e[:, j]
        weights[:, j] = rne_f32(rest)
        rest = rest - weights[:, j].astype(F)
    return weights


def softmax_s8(p: Any, inv: Any, s: Any, rows: int, cols: int, valid: int) -> None:
    """§7: p int8[rows][cols] and inv float32[rows], so that p · inv sums to one in each row.

    s float32[rows][cols]; columns from `valid` (at least 1) on get 0.
    """
    check = Arguments("softmax_s8")
    rows, cols = check.integer("rows", rows), check.integer("cols", cols)
    valid = check.integer("valid", valid, 1, cols)
    scores = check.read("s", s, F, (rows, cols))[:, :valid]
    p_out = check.write("p", p, np.int8, (rows, cols))
    inv_out = check.write("inv", inv, F, (rows,))
    with np.errstate(all="ignore"):
        e = exp_f32(scores - np.fmax.reduce(scores, axis=1)[:, None])
        weights = _diffused(e * F(126))
        inverse = F(1) / weights.sum(axis=1, dtype=np.int32).astype(F)
    p_out[:, :valid] = weights.astype(np.int8)
    p_out[:, valid:] = 0
    inv_out[:] = inverse


def attention_values(
    out: Any,
    p: Any,
    inv: Any,
    vt: Any,
    sv: Any,
    head: int,
    row0: int,
    rows: int,
    tokens: int,
    heads: int,
    head_dim: int,
) -> None:
    """§7: rows row0 … row0+rows−1 of one head's columns in out float32[tokens][heads·head_dim].

    p int8[rows][tokens], inv float32[rows], vt int8[heads·head_dim][tokens],
    sv float32[heads·head_dim].
    """
    check = Arguments("attention_values")
    head, row0, rows, tokens, heads, head_dim = _head(
        check, head, row0, rows, tokens, heads, head_dim
    )
    target = check.write("out", out, F, (tokens, heads, head_dim))
    weights = check.read("p", p, np.int8, (rows, tokens))
    inverse = check.read("inv", inv, F, (rows,))
    values = check.read("vt", vt, np.int8, (heads, head_dim, tokens))[head]
    value_scales = check.read("sv", sv, F, (heads, head_dim))[head]
    with np.errstate(all="ignore"):
        target[row0 : row0 + rows, head] = (
            dot_s8(weights, values) * inverse[:, None]
        ) * value_scales
