"""Pictures with a rare attribute are drawn more often, within bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.training import diffusion  # noqa: E402
from ttikit.training.balance import MOST, TARGET, Draw, picture_weights  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.loop import Budget, Settings  # noqa: E402

from .conftest import SMALL, captions  # noqa: E402


def labels(*columns):
    return np.array(columns, np.uint8).T


def test_a_picture_weighs_as_much_as_its_rarest_attribute():
    common, rare, rarest = np.zeros((3, 1000), np.uint8)
    common[:500], rare[:60], rarest[50:55] = 1, 1, 1
    weights = picture_weights(labels(common, rare, rarest), ["A", "B", "C"], 4.0)
    assert weights[0] == pytest.approx(TARGET / 0.06)
    assert (weights[50:55] == 4.0).all()  # bounded: 0.5 % would weigh 24
    assert (weights[60:] == 1.0).all()


def test_blur_is_never_taught_more_often():
    blurred = np.zeros(100, np.uint8)
    blurred[0] = 1
    assert (picture_weights(labels(blurred), ["Blurry"]) == 1).all()
    assert picture_weights(labels(blurred), ["Sad"])[0] == MOST


def test_draws_follow_the_weights():
    draw = Draw(4, np.array([1.0, 1.0, 2.0, 4.0]))
    seen = np.bincount(draw(np.random.default_rng(0), 80_000), minlength=4) / 80_000
    np.testing.assert_allclose(seen, [1 / 8, 1 / 8, 2 / 8, 4 / 8], atol=0.01)


def test_even_weights_draw_what_no_weights_draw():
    plain = np.random.default_rng(5).integers(40, size=64)
    for draw in (Draw(40), Draw(40, np.ones(40))):
        assert np.array_equal(draw(np.random.default_rng(5), 64), plain)


def test_a_run_keeps_its_balance_and_an_old_one_none(cache, tmp_path):
    rare = cache.labels.clone()
    rare[:] = 0
    rare[7] = 1
    cache = replace(cache, labels=rare)

    def train(samples, balance=None):
        settings = Settings(tmp_path, 8, Budget(samples=samples))
        diffusion.train_diffusion(cache, captions, settings, config=SMALL, balance=balance)
        return load_tensors(tmp_path / NAME)[1]["extra"]["balance"]

    assert train(8) == MOST
    assert train(16, balance=2.0) == 2.0
    assert train(24) == 2.0


def test_a_checkpoint_without_a_balance_goes_on_evenly(cache, tmp_path, monkeypatch):
    settings = Settings(tmp_path, 8, Budget(samples=8))
    diffusion.train_diffusion(cache, captions, settings, config=SMALL)
    tensors, counters = load_tensors(tmp_path / NAME)
    del counters["extra"]["balance"]
    diffusion.save_tensors(tmp_path / NAME, tensors, counters)
    seen = []
    monkeypatch.setattr(diffusion.Batches, "balance", lambda task, most: seen.append(most))
    diffusion.train_diffusion(cache, captions, settings, config=SMALL)
    assert seen == [1.0]
