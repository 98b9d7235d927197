"""The Euler sampler and guidance on fields whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training.autoencoder import to_pixels, to_scale  # noqa: E402
from ttikit.training.models import Decoder, TextToLatent  # noqa: E402
from ttikit.training.sampling import euler, guided, one_branch, sample, sheet  # noqa: E402

from .conftest import SMALL  # noqa: E402


@pytest.mark.parametrize("steps", [1, 2, 8, 50])
def test_a_straight_flow_is_exact_at_any_step_count(steps):
    target, noise = torch.randn(1, 4, 4, 4), torch.randn(1, 4, 4, 4)
    torch.testing.assert_close(
        euler(lambda x, t: noise - target, noise, steps), target, rtol=1e-5, atol=1e-5
    )


def test_times_go_from_one_downwards():
    seen = []

    def field(x, t):
        seen.append(t)
        return x

    out = euler(field, torch.ones(1), 4)
    assert seen == [1.0, 0.75, 0.5, 0.25]
    torch.testing.assert_close(out, torch.tensor([0.75**4]))  # x −= x / 4, four times


def test_the_best_field_of_one_picture_leads_to_it():
    """For a single picture the optimal velocity at x_t is (x − x0) / t."""
    x0 = torch.randn(1, 4, 4, 4)
    out = euler(lambda x, t: (x - x0) / t, torch.randn(1, 4, 4, 4), 8)
    torch.testing.assert_close(out, x0, rtol=1e-4, atol=1e-4)


def test_no_steps_are_refused():
    with pytest.raises(TtiError, match="at least 1 step"):
        euler(lambda x, t: x, torch.ones(1), 0)


def test_a_row_of_padding_is_an_empty_prompt():
    torch.manual_seed(0)
    model = TextToLatent(replace(SMALL, guides=5, paces=5))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    tokens, x = torch.tensor([[3, 4, 0], [0, 0, 0]]), torch.randn(2, 8, 8, 4)
    with torch.no_grad():
        text = model.prompt(torch.tensor([[3, 4], [3, 4]]), torch.tensor([False, True]))
        text = text + model.recipe(torch.tensor([3.0]), torch.tensor([4.0]))
        expected = model.dit(x, torch.tensor([0.5, 0.5]), text)
        torch.testing.assert_close(one_branch(model, tokens, 3, 4)(x, 0.5), expected)


def test_guidance_extrapolates_between_the_branches():
    torch.manual_seed(0)
    model = TextToLatent(SMALL)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    tokens, x = torch.tensor([[3, 4]]), torch.randn(1, 8, 8, 4)
    t = torch.tensor([0.5])
    with torch.no_grad():
        conditional = model(x, t, tokens, torch.tensor([False]))
        unconditional = model(x, t, tokens, torch.tensor([True]))
        for guidance in (0.0, 1.0, 3.0):
            expected = unconditional + guidance * (conditional - unconditional)
            torch.testing.assert_close(guided(model, tokens, guidance)(x, 0.5), expected)
    assert not torch.allclose(conditional, unconditional, atol=1e-4)


def test_prompt_and_seed_both_change_a_sample_and_repeat_it():
    torch.manual_seed(0)
    model, decoder = TextToLatent(SMALL), Decoder()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    tokens = np.array([[3, 4, 0], [5, 0, 0]])

    def draw():
        return sample(model, torch.zeros(4), torch.ones(4), decoder, tokens, (1, 2), steps=2)

    pictures = draw()
    assert pictures.shape == (2, 2, 32, 32, 3) and pictures.dtype == np.uint8
    assert np.array_equal(pictures, draw())
    assert not np.array_equal(pictures[0, 0], pictures[0, 1])
    assert not np.array_equal(pictures[0, 0], pictures[1, 0])
    assert sheet(pictures, zoom=1).size == (70, 70)


def test_bytes_survive_the_scale():
    pixels = torch.arange(256).to(torch.uint8).repeat(3, 1).T.reshape(1, 16, 16, 3)
    assert torch.equal(to_pixels(to_scale(pixels)), pixels)
    assert to_pixels(torch.tensor([-9.0, 0.0, 9.0]).view(1, 3, 1, 1)).tolist() == [
        [[[0, 128, 255]]]
    ]
