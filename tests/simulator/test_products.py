"""Matrix products and attention against integer and float64 arithmetic."""

import numpy as np
import pytest
import ttikit.simulator as ops

F = np.float32


def codes(rng, *shape):
    return rng.integers(-127, 128, shape, dtype=np.int8)


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(F)


def int_dot(x, w):
    """Exact sums of products as float32."""
    return (x.astype(np.int64) @ w.astype(np.int64).T).astype(F)


@pytest.mark.parametrize(("t", "o", "k"), [(1, 1, 1), (3, 5, 7), (64, 192, 576), (2, 3, 5000)])
def test_product_scales_then_adds_the_bias(t, o, k):
    rng = np.random.default_rng(k)
    x, w = codes(rng, t, k), codes(rng, o, k)
    sx, sw, bias = floats(rng, t), floats(rng, o), floats(rng, o)
    out = np.empty((t, o), F)
    ops.gemm_s8(out, x, sx, w, sw, bias, t, o, k)
    scaled = (int_dot(x, w) * sx[:, None]) * sw
    assert out.tobytes() == (scaled + bias).tobytes()
    ops.gemm_s8(out, x, sx, w, sw, None, t, o, k)
    assert out.tobytes() == scaled.tobytes()


@pytest.mark.parametrize("k", [1024, 1025, 65536])
@pytest.mark.parametrize("sign", [1, -1])
def test_product_is_exact_at_the_extremes(k, sign):
    x = np.full((1, k), 127, np.int8)
    w = np.full((2, k), 127 * sign, np.int8)
    w[1, 0] = 126 * sign
    out, one = np.empty((1, 2), F), np.ones(2, F)
    ops.gemm_s8(out, x, one, w, one, None, 1, 2, k)
    assert out.tolist() == [
        [float(F(127 * 127 * k * sign)), float(F((127 * 127 * k - 127) * sign))]
    ]


@pytest.mark.parametrize("k", [1024, 1025, 4096, 65536])
def test_product_of_large_codes_is_exact(k):
    rng = np.random.default_rng(k)
    x, w = rng.integers(64, 128, (2, 8, k), dtype=np.int8)
    out, one = np.empty((8, 8), F), np.ones(8, F)
    ops.gemm_s8(out, x, one, w, one, None, 8, 8, k)
    assert out.tobytes() == int_dot(x, w).tobytes()


def test_gated_addition_in_place():
    rng = np.random.default_rng(2)
    t, o, k = 5, 6, 96
    x, w, res = codes(rng, t, k), codes(rng, o, k), floats(rng, t, o)
    sx, sw, bias, gate = floats(rng, t), floats(rng, o), floats(rng, o), floats(rng, o)
    value = ((int_dot(x, w) * sx[:, None]) * sw) + bias
    expected = res + gate * value
    ops.gemm_s8_add(res, gate, x, sx, w, sw, bias, t, o, k)
    assert res.tobytes() == expected.tobytes()


class Attention:
    """Random Q, K, V of some heads, quantised by the ops, and the float64 answer."""

    def __init__(self, tokens, heads, head_dim, seed=0):
        rng = np.random.default_rng(seed)
        self.tokens, self.heads, self.head_dim = tokens, heads, head_dim
        width = heads * head_dim
        q, k, v = floats(rng, 3, tokens, width)
        q *= F(1 / np.sqrt(head_dim))
        self.q, self.k = np.empty((2, tokens, width), np.int8)
        self.sq, self.sk = np.empty((2, tokens, heads), F)
        self.vt, self.sv = np.empty((width, tokens), np.int8), np.empty(width, F)
        ops.quantize_rows(self.q, self.sq, q, tokens * heads, head_dim)
        ops.quantize_rows(self.k, self.sk, k, tokens * heads, head_dim)
        ops.quantize_cols_t(self.vt, self.sv, v, tokens, width)
        self.float_qkv = [a.reshape(tokens, heads, head_dim).astype(np.float64) for a in (q, k, v)]

    def run(self, rows, valid):
        """Output of all heads, `rows` query rows at a time."""
        out = np.zeros((self.tokens, self.heads * self.head_dim), F)
        shape = (self.tokens, self.heads, self.head_dim)
        for head in range(self.heads):
            for row0 in range(0, self.tokens, rows):
                n = min(rows, self.tokens - row0)
                s, p = np.empty((n, self.tokens), F), np.empty((n, self.tokens), np.int8)
                inv = np.empty(n, F)
                ops.attention_scores(s, self.q, self.sq, self.k, self.sk, head, row0, n, *shape)
                ops.softmax_s8(p, inv, s, n, self.tokens, valid)
                ops.attention_values(out, p, inv, self.vt, self.sv, head, row0, n, *shape)
        return out

    def exact(self, valid):
        q, k, v = self.float_qkv
        s = np.einsum("ihd,jhd->hij", q, k[:valid])
        p = np.exp(s - s.max(axis=2, keepdims=True))
        p /= p.sum(axis=2, keepdims=True)
        return np.einsum("hij,jhd->ihd", p, v[:valid]).reshape(self.tokens, -1)


@pytest.mark.parametrize("valid", [64, 41, 1])
def test_attention_follows_float64(valid):
    attention = Attention(64, 6, 32)
    error = np.abs(attention.run(64, valid) - attention.exact(valid))
    assert error.max() < 0.05  # values reach ±4, a step of V is about 0.025
    assert error.mean() < 0.008


@pytest.mark.parametrize("rows", [1, 7, 32])
def test_attention_in_slices_equals_the_whole(rows):
    attention = Attention(33, 3, 8, seed=1)
    assert attention.run(rows, 30).tobytes() == attention.run(33, 30).tobytes()


def test_attention_scores_are_scaled_integers():
    attention = Attention(5, 2, 4, seed=2)
    s = np.empty((2, 5), F)
    a = attention
    ops.attention_scores(s, a.q, a.sq, a.k, a.sk, 1, 3, 2, 5, 2, 4)
    acc = int_dot(a.q[3:5, 4:], a.k[:, 4:])
    assert s.tobytes() == ((acc * a.sq[3:5, 1:]) * a.sk[:, 1]).tobytes()


def test_attention_values_leave_other_heads_alone():
    attention = Attention(4, 3, 4, seed=3)
    out = np.full((4, 12), 7, F)
    p, inv = np.full((2, 4), 10, np.int8), np.full(2, 1 / 40, F)
    ops.attention_values(out, p, inv, attention.vt, attention.sv, 1, 1, 2, 4, 3, 4)
    untouched = np.ones((4, 12), bool)
    untouched[1:3, 4:8] = False
    assert (out[untouched] == 7).all()
    assert (out[~untouched] != 7).all()


def softmax(s, valid):
    p, inv = np.full(s.shape, 99, np.int8), np.empty(len(s), F)
    ops.softmax_s8(p, inv, s, *s.shape, valid)
    return p, inv


@pytest.mark.parametrize("offset", [0, 50, -50])
def test_softmax_follows_float64(offset):
    s = floats(np.random.default_rng(4), 100, 64) * 3 + F(offset)
    p, inv = softmax(s, 64)
    true = np.exp(s.astype(np.float64) - s.max(axis=1, keepdims=True))
    # A weight is off by its own rounding and by that of its neighbour, their sums by one rounding.
    assert np.abs(p / 126 - true).max() <= 1 / 126 + 1e-6
    assert np.abs(p.cumsum(axis=1) / 126 - true.cumsum(axis=1)).max() <= 0.5 / 126 + 1e-5
    assert (p.max(axis=1) == 126).all()
    assert p.min() >= 0
    assert np.abs(p.sum(axis=1) * inv.astype(np.float64) - 1).max() < 1e-7


def test_softmax_ignores_columns_beyond_the_valid_ones():
    s = floats(np.random.default_rng(5), 6, 9)
    whole, cut = softmax(np.ascontiguousarray(s[:, :5]), 5), softmax(s, 5)
    s[:, 5:] = 1e30
    assert cut[0][:, :5].tobytes() == whole[0].tobytes()
    assert not cut[0][:, 5:].any()
    assert cut[1].tobytes() == whole[1].tobytes()
    assert softmax(s, 5)[0].tobytes() == cut[0].tobytes()


def test_softmax_of_wide_scores_is_one_hot():
    p, inv = softmax(np.array([[-3e38, 3e38, 0, 1]], F), 4)
    assert p.tolist() == [[0, 126, 0, 0]]
    assert inv[0] == F(1) / F(126)


def test_many_small_weights_are_not_lost():
    p, inv = softmax(np.array([[0, *[-6] * 63]], F), 64)
    assert p[0, 0] == 126
    assert set(p[0, 1:].tolist()) == {0, 1}
    assert abs(p[0, 1:].sum() * inv[0] - 63 / (63 + np.exp(6))) < 0.003
