"""Elementary functions against float64, over dense sweeps.

Largest errors measured over these sweeps, in units in the last place of the true value:
exp 2.97, log 2.60, rsqrt 2.84, sqrt 2.50, silu 4.03; sin and cos 9.4e-8 absolute (2.4 ulp where
they exceed 0.01). GELU follows its table: 1.8e-5 absolute from the exact curve.
"""

import numpy as np
import pytest
import ttikit.simulator as ops
from scipy.special import erf

F = np.float32


def ulps(got, true):
    """Errors of float32 values in units in the last place of float64 references."""
    unit = np.spacing(np.abs(true).astype(F)).astype(np.float64)
    return np.abs(got.astype(np.float64) - true) / unit


def apply(op, x):
    out = np.empty_like(x)
    assert op(out, x, x.size) is None
    return out


def positive_floats():
    """Every 997th normal number above zero, over all exponents."""
    return np.arange(0x00800000, 0x7F800000, 997, dtype=np.uint32).view(F)


def gelu_table():
    x = -6 + 12 * np.arange(1025) / 1024
    value = (x * 0.5 * (1 + erf(x / np.sqrt(2)))).astype(F)
    return np.stack([value[:-1], value[1:] - value[:-1]], axis=1)


@pytest.mark.parametrize(
    ("op", "x", "true", "limit"),
    [
        (ops.exp, np.linspace(-87, 88, 2_000_001).astype(F), np.exp, 3.0),
        (ops.exp, np.linspace(-16, 0, 2_000_001).astype(F), np.exp, 3.0),
        (ops.log, positive_floats(), np.log, 2.7),
        (ops.rsqrt, positive_floats(), lambda x: 1 / np.sqrt(x), 2.9),
        (ops.sqrt, positive_floats(), np.sqrt, 2.6),
        (ops.silu, np.linspace(-80, 80, 2_000_001).astype(F), lambda x: x / (1 + np.exp(-x)), 4.1),
    ],
    ids=["exp", "exp-softmax", "log", "rsqrt", "sqrt", "silu"],
)
def test_error_stays_within_a_few_ulps(op, x, true, limit):
    errors = [
        ulps(apply(op, part), true(part.astype(np.float64))) for part in np.array_split(x, 4)
    ]
    worst = max(error.max() for error in errors)
    assert limit / 2 < worst <= limit  # an error far below the limit means the limit is stale


def test_exp_limits_its_input():
    x = np.array([-1e30, -87.5, -87, 88, 100, np.nan, np.inf, -np.inf], F)
    got = apply(ops.exp, x)
    lowest, highest = got[2], got[3]
    assert got.tolist() == [lowest, lowest, lowest, highest, highest, lowest, highest, lowest]
    assert lowest >= np.finfo(F).tiny
    assert np.isfinite(highest)


def test_exp_of_zero_is_one():
    assert apply(ops.exp, np.array([0.0, -0.0], F)).tolist() == [1, 1]


def test_roots_of_zero():
    zeros = np.array([0.0, -0.0], F)
    assert np.isfinite(apply(ops.rsqrt, zeros)).all()
    assert apply(ops.sqrt, zeros).tolist() == [0, 0]


def test_log_of_one_is_exactly_zero():
    assert apply(ops.log, np.ones(1, F)).tolist() == [0]


def test_log_of_uniform_numbers_is_never_positive():
    u = (np.arange(0, 1 << 24, 61, dtype=np.int64) + 1).astype(F) * F(2**-24)
    assert apply(ops.log, u).max() <= 0


def test_sine_and_cosine():
    turns = np.arange(0, 1 << 24, 37).astype(F) * F(2**-24)
    sine, cosine = np.empty_like(turns), np.empty_like(turns)
    ops.sincos(sine, cosine, turns, turns.size)
    angle = turns.astype(np.float64) * 2 * np.pi
    assert np.abs(sine - np.sin(angle)).max() < 9.4e-8
    assert np.abs(cosine - np.cos(angle)).max() < 9.4e-8


def test_sine_and_cosine_of_quarter_turns_are_exact():
    turns = np.array([0, 0.25, 0.5, 0.75], F)
    sine, cosine = np.empty_like(turns), np.empty_like(turns)
    ops.sincos(sine, cosine, turns, 4)
    assert sine.tolist() == [0, 1, 0, -1]
    assert cosine.tolist() == [1, 0, -1, 0]


def test_rne_rounds_ties_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 2**22 - 0.5, -(2**22) + 0.5], F)
    out = np.empty(8, np.int32)
    ops.rne(out, x, 8)
    assert out.tolist() == [0, 2, 2, 0, -2, 0, 2**22, -(2**22)]


def test_gelu_follows_the_exact_curve():
    x = np.linspace(-8, 8, 1_000_001).astype(F)
    out = np.empty_like(x)
    ops.gelu(out, x, gelu_table(), x.size)
    true = x * 0.5 * (1 + erf(x.astype(np.float64) / np.sqrt(2)))
    assert np.abs(out - true).max() < 1.8e-5


def test_gelu_interpolates_between_its_points():
    table = np.random.default_rng(0).standard_normal((1024, 2)).astype(F)
    x = np.array([np.nextafter(F(-6), F(0)), -5.9999, 0, 1.2345, np.nextafter(F(6), F(0))], F)
    out = np.empty_like(x)
    ops.gelu(out, x, table, x.size)
    for value, got in zip(x, out, strict=True):
        p = (value + F(6)) * F(85.33333333)
        i = min(int(p), 1023)
        assert got == table[i, 0] + table[i, 1] * (p - F(i))


def test_gelu_outside_its_table():
    x = np.array([-6, -7, -np.inf, np.nan, 6, 7], F)
    out = np.empty_like(x)
    ops.gelu(out, x, gelu_table(), x.size)
    assert out.tolist() == [0, 0, 0, 0, 6, 7]


@pytest.mark.parametrize("op", [ops.exp, ops.rsqrt, ops.sqrt, ops.log, ops.silu])
def test_output_may_be_the_input(op):
    x = np.linspace(0.1, 5, 100).astype(F)
    expected = apply(op, x)
    op(x, x, x.size)
    assert x.tobytes() == expected.tobytes()


def test_subnormal_numbers_are_kept():
    tiny = np.array([1e-40, -1e-42], F)
    assert apply(ops.silu, tiny).all()
    out = np.empty_like(tiny)
    ops.add(out, tiny, np.zeros_like(tiny), 2)
    assert out.tobytes() == tiny.tobytes()
