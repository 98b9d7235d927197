"""Guidance and steps as inputs of the network: rows of two tables, interpolated, in one vector."""

import sys
from fractions import Fraction

import numpy as np
import pytest

F = np.float32


@pytest.fixture(scope="module")
def dit(tti):
    return sys.modules["tti.dit"]


@pytest.fixture(scope="module")
def pipe(tti, model):
    return tti.Pipeline(sys.modules["tti.weights"].load(str(model)))


def instructed(pipe, text, guidance, steps):
    got = text.copy()
    pipe.dit.instruct(pipe.arena.views["dit"], memoryview(got).cast("B"), guidance, steps)
    return got


def rows(pipe, name):
    return np.frombuffer(pipe.weights.tensor(name), F).reshape(5, 192)


def test_each_guidance_has_its_place_between_two_rows(dit):
    for guidance in range(100, 501):
        row, hundredths = dit.guide_place(guidance)
        assert row + Fraction(hundredths, 100) == Fraction(guidance, 100) - 1
        assert 0 <= row <= 4 and 0 <= hundredths < 100


def test_each_number_of_steps_has_its_place_linear_in_its_inverse(dit):
    for steps in range(1, 101):
        row, hundredths = dit.pace_place(steps)
        if steps >= 16:
            assert (row, hundredths) == (4, 0)
            continue
        assert 2**row <= steps < 2 ** (row + 1)
        near, far = Fraction(1, 2**row), Fraction(1, 2 ** (row + 1))
        exact = 100 * (near - Fraction(1, steps)) / (near - far)
        assert exact - Fraction(1, 2) < hundredths <= exact + Fraction(1, 2)


@pytest.mark.parametrize(("guidance", "steps"), [(100, 1), (300, 8), (500, 16), (200, 100)])
def test_whole_guidance_and_powers_of_two_take_rows_as_they_are(pipe, guidance, steps):
    text = np.random.default_rng(0).standard_normal(192).astype(F)
    row = {1: 0, 8: 3, 16: 4, 100: 4}[steps]
    expected = (text + rows(pipe, "dit.guide")[guidance // 100 - 1]) + rows(pipe, "dit.pace")[row]
    assert instructed(pipe, text, guidance, steps).tobytes() == expected.tobytes()


def test_what_lies_between_is_interpolated(pipe):
    text = np.random.default_rng(1).standard_normal(192).astype(F)
    guide, pace = rows(pipe, "dit.guide"), rows(pipe, "dit.pace")
    strict = guide[1] + F(75) / F(100) * (guide[2] - guide[1])  # 2.75
    slow = pace[1] + F(67) / F(100) * (pace[2] - pace[1])  # 3 steps: two thirds from 2 to 4
    assert instructed(pipe, text, 275, 3).tobytes() == ((text + strict) + slow).tobytes()


def test_the_float_model_is_told_the_same(pipe):
    torch = pytest.importorskip("torch")
    from ttikit.training.models import ModelConfig, TextToLatent

    model = TextToLatent(ModelConfig(depth=1, text_depth=1, guides=5, paces=5))
    with torch.no_grad():
        model.guide.copy_(torch.from_numpy(rows(pipe, "dit.guide").copy()))
        model.pace.copy_(torch.from_numpy(rows(pipe, "dit.pace").copy()))
    text = np.zeros(192, F)
    for guidance in (1, 1.5, 3.33, 5):
        for steps in (1, 2, 3, 7, 8, 13, 16, 50):
            whole = round(guidance * 100)
            recipe = model.recipe(torch.tensor([float(guidance)]), torch.tensor([float(steps)]))
            got = instructed(pipe, text, whole, steps)
            assert np.abs(got - recipe[0].detach().numpy()).max() < 0.03, (guidance, steps)
