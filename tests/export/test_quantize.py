"""Weights as int8: the nearest codes alone, and codes that keep what a layer gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

pytest.importorskip("torch")

from ttikit.export.quantize import CHUNK, convolution, linear, quantize_rows

finite = st.floats(-100, 100).map(lambda value: round(value, 3))
matrices = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=24), elements=finite)


def correlated(rng, rows, columns):
    """Inputs as layers read them: a few directions hold most of what there is."""
    few = rng.normal(size=(rows, 8)) @ rng.normal(size=(8, columns))
    return few + 0.2 * rng.normal(size=(rows, columns))


def moment_of(x):
    return x.T @ x


@settings(max_examples=200, deadline=None)
@given(matrices)
def test_without_a_moment_each_weight_gets_the_nearest_code(weight):
    q, scale = quantize_rows(weight)
    assert scale.shape == (len(weight), 1)
    assert q.min() >= -127
    assert (np.abs(weight - q * scale) <= scale * 0.5001).all()
    assert (q[scale[:, 0] == 0] == 0).all()


@settings(max_examples=100, deadline=None)
@given(matrices, st.sampled_from((0.0, 1.0, 1e12)))
def test_inputs_that_say_nothing_of_each_other_change_nothing(weight, size):
    moment = size * np.eye(weight.shape[1])
    q, scale = quantize_rows(weight)
    got, same = quantize_rows(weight, moment)
    assert got.tobytes() == q.tobytes()
    assert same.tobytes() == scale.tobytes()


@settings(max_examples=50, deadline=None)
@given(matrices, st.integers(0, 99), st.integers(1, 4))
def test_any_moment_gives_codes_in_range_and_the_same_scales(weight, seed, samples):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, weight.shape[1])) * (rng.random(weight.shape[1]) < 0.5)
    q, scale = quantize_rows(weight, moment_of(x))
    assert q.min() >= -127
    assert scale.tobytes() == quantize_rows(weight)[1].tobytes()
    assert (q[scale[:, 0] == 0] == 0).all()


@pytest.mark.parametrize("width", [None, 32])
def test_a_moment_brings_the_output_nearer(width):
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(40, 96)).astype(np.float32)
    seen, new = np.split(correlated(rng, 4000, 96), 2)

    def error(moment):
        q, scale = quantize_rows(weight, moment, width=width)
        rounded = q * np.repeat(scale, width or 96, axis=1)
        return np.square(new @ (rounded - weight).T).mean()

    assert error(moment_of(seen)) < 0.4 * error(None)


def test_the_strongest_input_is_rounded_first():
    """Its weight gets the nearest code; the weak one, which goes with it, makes up for it."""
    weight = np.array([[10.3, 127.0, 20.0]], np.float32)  # of scale 1
    for order in ([0, 1, 2], [2, 1, 0]):
        x = np.array([[9.0, 0.0, 1.0], [9.0, 0.0, 1.1], [0.0, 0.1, 0.0]])[:, order]
        q, scale = quantize_rows(weight[:, order], moment_of(x))
        assert scale == 1
        assert q[0, order].tolist() == [10, 127, 23]


def test_columns_of_zeros_stay_zero():
    rng = np.random.default_rng(3)
    weight = 1000 * rng.normal(size=(6, 96)).astype(np.float32)  # of errors above 1
    weight[::2, 32:64] = 0
    q, scale = quantize_rows(weight, moment_of(correlated(rng, 500, 96)), width=32)
    assert not scale[::2, 1].any() and scale[1::2].all()
    assert not q[::2, 32:64].any()
    assert (np.delete(q[::2], np.s_[32:64], axis=1) != 0).mean() > 0.9
    assert (q[1::2] != 0).mean() > 0.9


@settings(max_examples=30, deadline=None)
@given(st.integers(-300, 300), st.integers(0, 99))
def test_only_the_shape_of_a_moment_counts(power, seed):
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=(4, 20)).astype(np.float32)
    moment = moment_of(correlated(rng, 30, 20))
    q, _ = quantize_rows(weight, moment)
    assert np.array_equal(quantize_rows(weight, moment * 2.0**power)[0], q)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_layer_goes_by_its_moment_and_its_gain(chunked):
    rng = np.random.default_rng(4)
    weight = rng.normal(size=(8, 2 * CHUNK)).astype(np.float32)
    moment = moment_of(correlated(rng, 500, 2 * CHUNK))
    bias = rng.normal(size=8).astype(np.float32)
    parts = linear("a", weight, bias, chunked=chunked, gain=0.3, moment=moment)
    width = CHUNK if chunked else 2 * CHUNK
    q, scale = quantize_rows(weight * np.float32(0.3), moment, width=width)
    assert not np.array_equal(q, quantize_rows(weight * np.float32(0.3), width=width)[0])
    codes = parts["a.weight"].values.reshape(-1, 8, width)
    assert np.array_equal(np.concatenate(list(codes), axis=1), q)
    assert np.array_equal(parts["a.scale"].values.reshape(-1, 8), scale.T)
    assert np.array_equal(parts["a.bias"].values, bias * np.float32(0.3))


def test_chunks_of_a_layer_lie_one_after_the_other():
    rng = np.random.default_rng(1)
    weight = rng.normal(size=(5, 3 * CHUNK)).astype(np.float32)
    weight[:, CHUNK:] *= 10
    moment = moment_of(correlated(rng, 500, 3 * CHUNK))
    for known in (None, moment):
        parts = linear("layer", weight, np.zeros(5), chunked=True, gain=2.0, moment=known)
        codes = parts["layer.weight"].values.reshape(3, 5, CHUNK)
        scale = parts["layer.scale"].values.reshape(3, 5, 1)
        got = np.concatenate(list(codes * scale), axis=1)
        assert np.abs(got / 2 - weight).max() < 0.3
        assert (np.abs(codes).max(axis=2) == 127).mean() > 0.5


def test_rows_of_a_convolution_are_padded_with_zeros():
    rng = np.random.default_rng(2)
    weight = rng.normal(size=(3, 4, 3, 3)).astype(np.float32)
    for moment in (None, moment_of(correlated(rng, 400, 36))):
        q, scale = convolution(weight, moment)
        assert q.shape == (3, 48)
        assert not q[:, 36:].any()
        got = (q[:, :36] * scale[:, None]).reshape(3, 3, 3, 4).transpose(0, 3, 1, 2)
        assert np.abs(got - weight).max() < 0.2
