"""The reader of noisy latents and captions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.data.attributes import UNKNOWN  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import reader as module  # noqa: E402
from ttikit.training.batches import Batches  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings  # noqa: E402

from .conftest import SMALL, captions, small_cache, strangers  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("reader")
    settings = Settings(out, 16, Budget(samples=16 * 120))
    found = module.train_reader(small_cache(), captions, settings, rate=1e-2, config=SMALL)
    return module.load_reader(out / module.EXPORT, small_cache().space), found


def noisy(t):
    data = small_cache()
    x0 = data.standardised(torch.arange(16), torch.zeros(16, dtype=torch.bool))
    noise = torch.randn(x0.shape, generator=torch.Generator().manual_seed(4))
    return (1 - t) * x0 + t * noise, torch.full((16,), t), data.labels[:16, 0].bool()


def test_what_no_label_knows_adds_nothing(tmp_path):
    cache = small_cache()
    labels, held_out = (
        torch.cat((known, torch.full_like(known, UNKNOWN)), 1)
        for known in (cache.labels, cache.held_out_labels)
    )
    labels[::8, 0] = UNKNOWN
    cache = replace(cache, labels=labels, held_out_labels=held_out, attributes=["Male", "Young"])

    def plain(labels, rng):
        return captions(np.where(labels == UNKNOWN, 0, labels), rng)

    module.train_reader(cache, plain, Settings(tmp_path, 16, Budget(samples=16)), config=SMALL)
    reader = module.load_reader(tmp_path / module.EXPORT, cache.space).requires_grad_()
    assert reader.share.tolist() == pytest.approx([20 / 35, 0.5])
    task = module.ReaderTask(reader, Batches(cache, plain, 64, torch.device("cpu")))
    task.loss(Counters())["loss"].backward()
    for head in (reader.shown, reader.asked):  # mean of sigmoid − target, over two attributes
        assert head.bias.grad.abs().max() < 0.5


def words(has):
    return torch.stack((1 + has.long(), torch.full_like(has.long(), 3)), 1)


def test_it_reads_latents_and_captions(trained):
    reader, found = trained
    x, t, has = noisy(0.5)
    assert torch.equal(reader.see(x, t)[:, 0] > 0, has)
    assert torch.equal(reader.read(words(has))[:, 0] > 0, has)
    assert found["accuracy_at_0.5"] > 0.95


def test_agreement_follows_bayes_rule(trained):
    reader, _ = trained
    x, t, has = noisy(0.3)
    right, wrong = reader.agreement(x, t, words(has)), reader.agreement(x, t, words(~has))
    assert (right > 0.2).all() and (wrong < -0.3).all()
    # What the caption leaves open says nothing.
    share = reader.share.clone()
    reader.share.copy_(reader.read(words(has)[:1]).sigmoid()[0])
    nothing = reader.agreement(x, t, words(has)[:1].expand(16, -1))
    reader.share.copy_(share)
    torch.testing.assert_close(nothing, torch.zeros(16), atol=1e-4, rtol=0)


def test_what_a_caption_only_makes_likelier_is_left_to_chance(trained, monkeypatch):
    reader, _ = trained
    x, t, has = noisy(0.3)
    share = reader.share.clone()
    sees = torch.where(has, 2.0, -3.0)[:, None]
    monkeypatch.setattr(reader, "see", lambda x, t: sees)

    def agreement(usual, asked):
        reader.share.copy_(torch.tensor([usual]))
        logits = torch.full((16, 1), asked).logit()
        monkeypatch.setattr(reader, "read", lambda tokens: logits)
        return reader.agreement(x, t, words(has)), reader.shortfall(x, t, words(has))

    def bayes(usual, asked):  # below 5 % and above 95 % the reader alone is unsure
        r, q = sees[:, 0].sigmoid(), min(max((asked - 0.05) / 0.9, 0.0), 1.0)
        most = max(np.log(max(q, 1e-9) / usual), np.log(max(1 - q, 1e-9) / (1 - usual)))
        return (r * q / usual + (1 - r) * (1 - q) / (1 - usual)).log(), most

    # Nearly half or twice as likely; five times as likely, and still most faces have it not.
    for usual, asked in ((0.16, 0.08), (0.16, 0.16), (0.16, 0.29), (0.07, 0.34), (0.93, 0.66)):
        assert all(not value.any() for value in agreement(usual, asked))
    for usual, asked in ((0.16, 0.01), (0.16, 0.96), (0.4, 0.8), (0.07, 0.56)):
        right, most = bayes(usual, asked)
        torch.testing.assert_close(agreement(usual, asked)[0], right, atol=1e-3, rtol=0)
        torch.testing.assert_close(agreement(usual, asked)[1], most - right, atol=1e-3, rtol=0)
    # Odds of 0.4 times exp(1.2); what 45 % have.
    for usual, asked in ((0.4, 0.6888), (0.07, 0.45)):
        half = agreement(usual, asked)[0][has]
        torch.testing.assert_close(half, bayes(usual, asked)[0][has] / 2, rtol=0.01, atol=0)
    reader.share.copy_(share)


def test_a_face_that_shows_the_contrary_altogether_is_pulled_most(trained, monkeypatch):
    reader, _ = trained
    x, t, has = noisy(0.3)
    monkeypatch.setattr(reader, "read", lambda tokens: torch.full((16, 1), 0.03).logit())
    pulls = []
    for sure in (-3.0, 0.0, 3.0, 6.0):
        sees = torch.full((16, 1), sure, requires_grad=True)
        monkeypatch.setattr(reader, "see", lambda x, t, sees=sees: sees)
        reader.agreement(x, t, words(has)).sum().backward()
        pulls.append(-sees.grad.mean().item())
    assert pulls == sorted(pulls) and pulls[-1] > 0.9


def test_captions_of_one_picture_are_learnt_with_its_labels(trained):
    reader, _ = trained
    batches = Batches(small_cache(), captions, 8, torch.device("cpu"))
    batch = batches.draw(Counters(step=3), 0.0, module.CAPTIONS)
    assert len(batch.tokens) == 8 * module.CAPTIONS
    named = batch.labels[:, 0].repeat_interleave(module.CAPTIONS)
    assert torch.equal(reader.read(batch.tokens)[:, 0] > 0, named == 1)
    once = batches.draw(Counters(step=3), 0.0)
    assert torch.equal(once.labels, batch.labels) and len(once.tokens) == 8
    loss = module.ReaderTask(reader, batches).loss(Counters(step=3))
    assert loss["read"] < 0.3


def test_nothing_falls_short_where_all_is_there(trained, monkeypatch):
    reader, _ = trained
    x, t, has = noisy(0.3)
    right, wrong = reader.shortfall(x, t, words(has)), reader.shortfall(x, t, words(~has))
    assert (right >= 0).all() and (wrong > right + 0.5).all()
    sure = torch.where(reader.read(words(has)) > 0, 50.0, -50.0)
    monkeypatch.setattr(reader, "see", lambda x, t: sure)
    torch.testing.assert_close(
        reader.shortfall(x, t, words(has)), torch.zeros(16), atol=1e-4, rtol=0
    )


def test_the_pull_is_the_gradient_and_leads_to_agreement(trained):
    reader, _ = trained
    x, t, has = noisy(0.8)  # with less noise it is so sure that hardly anything pulls
    asked = words(~has)
    pull = reader.pull(x, t, asked)
    direction = torch.randn(x.shape, generator=torch.Generator().manual_seed(5))
    ahead = reader.agreement(x + 1e-2 * direction, t, asked)
    behind = reader.agreement(x - 1e-2 * direction, t, asked)
    slope = (pull * direction).sum((1, 2, 3))
    torch.testing.assert_close((ahead - behind) / 2e-2, slope, rtol=0.2, atol=0.05)
    before = reader.agreement(x, t, asked)
    for _ in range(60):
        x = x + 3.0 * reader.pull(x, t, asked)
    assert reader.agreement(x, t, asked).mean() > before.mean() + 0.1


def test_the_velocity_of_a_change_of_the_score():
    x0, noise = torch.randn(2, 3, 4, 4, 4)
    t = torch.tensor([0.2, 0.5, 0.75])
    mix = t[:, None, None, None]
    x = (1 - mix) * x0 + mix * noise
    change = torch.randn(3, 4, 4, 4)

    def velocity(score):  # with E[noise] = −t·score and E[x0] = (x − t·E[noise])/(1 − t)
        mean_noise = -mix * score
        return mean_noise - (x - mix * mean_noise) / (1 - mix)

    score = -noise / mix
    torch.testing.assert_close(
        module.velocity_of(change, t), velocity(score + change) - velocity(score)
    )


def test_readers_of_other_latents_are_refused(trained, tmp_path):
    settings = Settings(tmp_path, 16, Budget(samples=16))
    cache, path = replace(small_cache(), data={"source": "celeba"}), tmp_path / module.EXPORT
    module.train_reader(cache, captions, settings, config=SMALL)
    for stranger, what in strangers():
        with pytest.raises(TtiError, match=what):
            module.load_reader(path, stranger.space)
    with pytest.raises(TtiError, match="learned from pictures of celeba, and these are of render"):
        module.load_reader(path, small_cache().space)
    tensors, about = load_tensors(path)
    assert about["data"] == {"source": "celeba"}
    del tensors["latent.std"]
    save_tensors(path, tensors, about)
    with pytest.raises(TtiError, match=r"does not say 'latent.std': it is too old, train it anew"):
        module.load_reader(path, cache.space)


def test_a_reader_goes_on_with_its_own_latents_only(tmp_path):
    def train(cache):
        settings = Settings(tmp_path, 16, Budget(samples=32))
        module.train_reader(cache, captions, settings, config=SMALL)

    train(small_cache())
    before = (tmp_path / module.EXPORT).read_bytes()
    others = [stranger for stranger, _ in strangers()]
    for other in [*others, replace(small_cache(), attributes=["Young"])]:
        with pytest.raises(TtiError, match=r"trained on other latents .* or labels; choose"):
            train(other)
    assert (tmp_path / module.EXPORT).read_bytes() == before
