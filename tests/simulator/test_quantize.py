"""Quantisation and LayerNorm: the promises of the contract over arbitrary values."""

import numpy as np
import ttikit.simulator as ops
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from ttikit.simulator.quantize import sum4

F = np.float32
EMPTY = F(2.0**-100)

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
any_float = st.floats(width=32)
matrices = array_shapes(min_dims=2, max_dims=2, max_side=12)


def quantize_rows(x):
    q, scale = np.full(x.shape, 99, np.int8), np.full(x.shape[0], 99, F)
    assert ops.quantize_rows(q, scale, x, *x.shape) is None
    return q, scale


def quantize_cols_t(x):
    q, scale = np.full(x.shape[::-1], 99, np.int8), np.full(x.shape[1], 99, F)
    assert ops.quantize_cols_t(q, scale, x, *x.shape) is None
    return q, scale


def layernorm(x, shift, scale):
    q, sq = np.empty(x.shape, np.int8), np.empty(x.shape[0], F)
    scratch = np.empty(x.shape[1], F)
    ops.layernorm_modulate_s8(q, sq, x, shift, scale, scratch, *x.shape)
    return q, sq


@settings(max_examples=300, deadline=None)
@given(arrays(F, matrices, elements=finite))
def test_quantised_values_lie_within_half_a_step(x):
    q, scale = quantize_rows(x)
    error = np.abs(x.astype(np.float64) - q * scale[:, None].astype(np.float64))
    full = np.abs(x).max(axis=1) >= EMPTY
    # 127 steps of half a rounding error each widen the half step.
    assert (error[full] <= scale[full, None].astype(np.float64) * 0.5 * (1 + 2**-15)).all()


@settings(max_examples=300, deadline=None)
@given(arrays(F, matrices, elements=any_float))
def test_minus_128_never_appears(x):
    q, _ = quantize_rows(x)
    assert q.min() >= -127


@settings(max_examples=200, deadline=None)
@given(arrays(F, matrices, elements=finite))
def test_the_largest_value_of_a_row_becomes_127(x):
    q, scale = quantize_rows(x)
    full = np.abs(x).max(axis=1) >= EMPTY
    assert (np.abs(q[full]).max(axis=1) == 127).all()
    assert (scale[full] > 0).all()


@settings(max_examples=200, deadline=None)
@given(arrays(F, matrices, elements=any_float))
def test_columns_are_the_rows_of_the_transpose(x):
    q, scale = quantize_rows(np.ascontiguousarray(x.T))
    got_q, got_scale = quantize_cols_t(x)
    assert got_q.tobytes() == q.tobytes()
    assert got_scale.tobytes() == scale.tobytes()


def test_rows_without_content_have_scale_zero():
    tiny = np.nextafter(EMPTY, F(0))
    x = np.array([[0, -0.0], [tiny, -tiny], [1e-40, 0], [np.nan, np.nan], [EMPTY, 0]], F)
    q, scale = quantize_rows(x)
    assert scale[:4].tolist() == [0, 0, 0, 0]
    assert not q[:4].any()
    assert q[4].tolist() == [127, 0]


def test_a_nan_never_becomes_the_maximum():
    q, scale = quantize_rows(np.array([[np.nan, 2, -1]], F))
    assert scale[0] == F(2) / F(127)
    assert q.tolist() == [[-127, 127, -64]]


def test_ties_round_to_even():
    q, _ = quantize_rows(np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5]], F))
    assert q.tolist() == [[127, 0, 2, 2, 0, -2]]


def test_layernorm_follows_float64():
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((128, 192)) * 3 + 1).astype(F)
    shift, scale = rng.standard_normal((2, 192)).astype(F)
    q, sq = layernorm(x, shift, scale)
    wide = x.astype(np.float64)
    normal = wide - wide.mean(axis=1, keepdims=True)
    normal /= np.sqrt(wide.var(axis=1, keepdims=True) + 1e-6)
    expected = normal * (1 + scale.astype(np.float64)) + shift
    error = np.abs(q * sq[:, None].astype(np.float64) - expected)
    assert (error <= sq[:, None] * 0.501).all()


def test_sum4_keeps_its_order():
    lane = np.zeros((4, 4), F)
    lane[:, 0] = [2**24, 1, 1, -(2**24)]  # in this order the ones vanish, backwards they don't
    assert sum4(lane.reshape(1, 16)).tolist() == [0]
    assert sum4(np.array([[2**24, 1, 1, 1]], F)).tolist() == [2**24 + 2]


def test_layernorm_follows_the_contract_bit_for_bit():
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((9, 192)) * 100).astype(F)
    shift, scale = rng.standard_normal((2, 1, 192)).astype(F)
    d = x - (sum4(x) / F(192))[:, None]
    r = np.empty(9, F)
    ops.rsqrt(r, sum4(d * d) / F(192) + F(1e-6), 9)
    expected = quantize_rows(((d * r[:, None]) * (F(1) + scale)) + shift)
    q, sq = layernorm(x, shift, scale)
    assert q.tobytes() == expected[0].tobytes()
    assert sq.tobytes() == expected[1].tobytes()
