"""Runs: learning, resuming, interruption and damage."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import autoencoder as ae  # noqa: E402
from ttikit.training import diffusion, loop  # noqa: E402
from ttikit.training.checkpoint import (  # noqa: E402
    NAME,
    PREVIOUS,
    load_checkpoint,
    load_tensors,
    save_tensors,
)
from ttikit.training.journal import LOG  # noqa: E402
from ttikit.training.latents import (  # noqa: E402
    LatentSpace,
    build_cache,
    check_pictures,
    load_cache,
)
from ttikit.training.loop import Budget, Settings, Trainer  # noqa: E402
from ttikit.training.models import Autoencoder, TextToLatent  # noqa: E402
from ttikit.training.optim import Average, Muon, Schedule, orthogonalise  # noqa: E402
from ttikit.training.plot import read_log  # noqa: E402

from .conftest import SMALL, captions, small_cache, strangers  # noqa: E402


def settings(out, samples, **changes):
    return replace(Settings(out, 8, Budget(samples=samples), log_seconds=0.0), **changes)


OWN_DOMAIN = """
name = "pets"
licence = "LICENCE"
attributes = ["Cat"]
prompts = ["PROMPT"]
noun = ["pet"]
[meanings]
cat = "cat"
dog = "dog"
pet = "pet"
[[say]]
when = "Cat"
as = "after"
words = ["cat"]
"""


def train(cache, out, samples, **changes):
    return diffusion.train_diffusion(
        cache, captions, settings(out, samples, **changes), rate=4e-2, config=SMALL
    )


def stop_after(monkeypatch, steps, stop):
    """Call ``stop`` in the middle of the step after ``steps`` whole ones."""
    original, calls = diffusion.flow_loss, []

    def loss(*arguments):
        calls.append(1)
        value = original(*arguments)
        if len(calls) == steps + 1:
            stop()
        return value

    monkeypatch.setattr(diffusion, "flow_loss", loss)


def interrupt():
    raise KeyboardInterrupt


def test_diffusion_learns_and_the_prompt_matters(cache, tmp_path):
    result = train(cache, tmp_path, 8 * 120)
    rows = [row["loss"] for row in read_log(tmp_path / LOG) if "loss" in row]
    assert np.mean(rows[-20:]) < 0.75 * np.mean(rows[:5])
    assert result["held_out_loss"] < 0.75 * np.mean(rows[:5])
    model, space, _ = diffusion.load_diffusion(tmp_path / diffusion.EXPORT)
    torch.testing.assert_close((space.mean, space.std), (cache.mean, cache.std))
    x, t = torch.randn(1, 8, 8, 4), torch.tensor([0.9])
    with torch.no_grad():
        one = model.dit(x, t, model.text(torch.tensor([[1, 3]])))
        two = model.dit(x, t, model.text(torch.tensor([[2, 3]])))
    assert (one - two).abs().mean() > 0.1
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_a_resumed_run_equals_an_uninterrupted_one(cache, tmp_path, monkeypatch):
    train(cache, tmp_path / "whole", 8 * 12)
    with monkeypatch.context() as patch:
        stop_after(patch, 5, lambda: os.kill(os.getpid(), signal.SIGTERM))
        train(cache, tmp_path / "parts", 8 * 12)
    assert load_tensors(tmp_path / "parts" / NAME)[1]["step"] == 6
    train(cache, tmp_path / "parts", 8 * 12)
    whole, parts = (load_tensors(tmp_path / name / NAME)[0] for name in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    for name in whole:
        assert torch.equal(whole[name], parts[name]), name


def test_an_exception_within_a_step_leaves_the_last_checkpoint(cache, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stop_after(patch, 4, interrupt)
        train(cache, tmp_path, 8 * 12, save_seconds=0.0)
    # With a check after each step every second loss is a held-out one.
    step = load_tensors(tmp_path / NAME)[1]["step"]
    assert step == 2
    train(cache, tmp_path, 8 * 12)
    assert load_tensors(tmp_path / NAME)[1]["step"] == 12


def test_signal_handlers_are_put_back(cache, tmp_path):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    train(cache, tmp_path, 8)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_torn_checkpoint_is_refused_and_the_one_before_it_used(cache, tmp_path):
    train(cache, tmp_path, 8 * 2)
    train(cache, tmp_path, 8 * 4)
    content = (tmp_path / NAME).read_bytes()
    assert load_tensors(tmp_path / PREVIOUS)[1]["step"] == 2
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    for damaged in (content[: len(content) // 2], content[:-1], content[:5], b"", bytes(flipped)):
        (tmp_path / NAME).write_bytes(damaged)
        with pytest.raises(TtiError, match="damaged"):
            load_tensors(tmp_path / NAME)
        model = TextToLatent(SMALL)
        assert load_checkpoint(tmp_path, model, Average(model), [])["step"] == 2
    (tmp_path / PREVIOUS).write_bytes(b"nothing")
    with pytest.raises(TtiError, match="no usable checkpoint"):
        load_checkpoint(tmp_path, TextToLatent(SMALL), None, [])


def test_a_cut_between_the_two_renames_loses_nothing(cache, tmp_path):
    train(cache, tmp_path, 8 * 3)
    (tmp_path / NAME).rename(tmp_path / f"{NAME}.new")
    assert load_checkpoint(tmp_path, TextToLatent(SMALL), None, [])["step"] == 3


def test_runs_that_do_not_belong_together_are_refused(cache, tmp_path):
    train(cache, tmp_path, 8)
    with pytest.raises(TtiError, match="--seed"):
        train(cache, tmp_path, 8, seed=1)
    for stranger, _ in strangers():
        with pytest.raises(TtiError, match=r"trained on other latents .*; choose another --out"):
            train(stranger, tmp_path, 8)
    with pytest.raises(TtiError, match="another shape"):
        load_checkpoint(tmp_path, Autoencoder(), None, [])
    with pytest.raises(TtiError, match="no diffusion model"):
        diffusion.load_diffusion(_other_kind(tmp_path / "x.safetensors"))


def test_a_run_of_an_older_version_is_left_alone(cache, tmp_path):
    train(cache, tmp_path, 8)
    tensors, counters = load_tensors(tmp_path / NAME)
    del counters["sources"]
    save_tensors(tmp_path / NAME, tensors, counters)
    with pytest.raises(TtiError, match="was begun by an older version; choose another --out"):
        train(cache, tmp_path, 16)


def test_files_that_are_no_model_are_told_from_one(cache, tmp_path):
    train(cache, tmp_path, 8)
    tensors, about = load_tensors(tmp_path / diffusion.EXPORT)
    path = tmp_path / "changed.safetensors"

    def refused(tensors, about, what):
        save_tensors(path, tensors, about)
        with pytest.raises(TtiError, match=what):
            diffusion.load_diffusion(path)

    few = {name: tensor for name, tensor in tensors.items() if name != "null"}
    refused(few, about, "does not fit the sizes that it names")
    refused(tensors, {"kind": "diffusion"}, "holds no diffusion model")
    few = {name: tensor for name, tensor in tensors.items() if name != "latent.mean"}
    refused(few, about, "does not say 'latent.mean'")


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(TtiError, match=r"file/a cannot be written \(.*\); check the folder"):
        save_tensors(tmp_path / "file" / "a", {"a": torch.zeros(1)}, {})


def _other_kind(path):
    save_tensors(path, {"a": torch.zeros(1)}, {"kind": "something"})
    return path


def test_a_finish_ends_early_with_a_rate_of_zero(cache, tmp_path, monkeypatch):
    train(cache, tmp_path, 8 * 3)
    ticks = itertools.count()
    monkeypatch.setattr(loop.time, "monotonic", lambda: 1.0 * next(ticks))  # a second per look
    train(cache, tmp_path, 1, budget=Budget(minutes=60.0, finish_minutes=0.5))
    rows = [row for row in read_log(tmp_path / LOG) if "rate" in row]
    assert 28 <= rows[-1]["seconds"] - rows[2]["seconds"] <= 32
    unfinished = Schedule(4e-2).rate(rows[-1]["step"] - 1, 0.0)
    assert 0 <= rows[-1]["rate"] < 0.1 * unfinished


def test_a_loss_that_is_no_number_stops_the_run(tmp_path):
    model = torch.nn.Linear(1, 1)
    optimiser = torch.optim.AdamW(model.parameters())
    trainer = Trainer(
        model, [optimiser], Schedule(1e-3),
        lambda counters: {"loss": model(torch.ones(1)).sum() * float("nan")},
        settings(tmp_path, 8),
    )  # fmt: skip
    with pytest.raises(TtiError, match="smaller --rate"):
        trainer.run()


def test_budgets_are_checked():
    for wrong in ({}, {"minutes": 1.0, "samples": 1}):
        with pytest.raises(TtiError, match="either"):
            Budget(**wrong)
    for wrong in ({"minutes": 0.0}, {"samples": -1}, {"minutes": float("nan")}):
        with pytest.raises(TtiError, match="above 0"):
            Budget(**wrong)


def test_schedules_end_at_zero():
    linear, cosine = Schedule(1.0, warmup=10), Schedule(1.0, shape="cosine", warmup=10)
    assert linear.rate(0, 0.0) == pytest.approx(0.1)
    assert linear.rate(50, 0.6) == 1.0 and linear.rate(50, 0.8) == pytest.approx(0.5)
    assert cosine.rate(50, 0.5) == pytest.approx(0.5)
    assert linear.rate(50, 1.0) == cosine.rate(50, 1.0) == 0.0


@pytest.mark.parametrize("shape", [(32, 32), (48, 16), (16, 48)])
def test_muon_makes_updates_orthogonal(shape):
    g = torch.randn(3, *shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(g))
    assert values.min() > 0.3 and values.max() < 1.3
    parameter = torch.nn.Parameter(torch.zeros(shape))
    parameter.grad = g[0]
    Muon([parameter], lr=0.1).step()
    u, _, vh = torch.linalg.svd(g[0], full_matrices=False)
    direction = -parameter.detach() / parameter.norm()
    assert (direction * (u @ vh)).sum() / (u @ vh).norm() > 0.95


def test_the_average_follows_the_weights():
    model = torch.nn.Linear(1, 1)
    average = Average(model)
    for step in range(1, 101):
        torch.nn.init.constant_(model.weight, float(step))
        average.update(model, step)
    # Weights proportional to step^γ have their mean near (γ + 1) / (γ + 2) of the last step.
    expected = 100 * (Average.GAMMA + 1) / (Average.GAMMA + 2)
    assert average.values["weight"].item() == pytest.approx(expected, rel=0.01)


def test_autoencoder_learns_and_its_latents_are_cached(pictures, tmp_path):
    untrained = ae.psnr(Autoencoder(), pictures, torch.device("cpu"))
    result = ae.train_autoencoder(pictures, pictures[:4], settings(tmp_path, 8 * 80), rate=1e-2)
    assert result["held_out_psnr"] > untrained + 4
    model = ae.load_autoencoder(tmp_path / ae.EXPORT)
    labels = np.arange(24, dtype=np.uint8)[:, None]

    def build(count):
        return build_cache(
            model, pictures[:count], labels[:count], pictures[:4], labels[:4], ["A"],
            tmp_path / "cache.safetensors",
        )  # fmt: skip

    first, second = build(10), build(24)
    assert len(first) == 10 and len(second) == 24
    # Extending keeps scale and order, and equals encoding everything at once.
    assert torch.equal(first.mean, second.mean) and torch.equal(first.std, second.std)
    (tmp_path / "cache.safetensors").unlink()
    torch.testing.assert_close(
        build(24).latents.float(), second.latents.float(), atol=2e-3, rtol=0
    )
    read = load_cache(tmp_path / "cache.safetensors")
    x = read.standardised(torch.arange(24), torch.zeros(24, dtype=torch.bool)).reshape(-1, 4)
    assert x.mean(0).abs().max() < 1e-2 and (x.std(0) - 1).abs().max() < 1e-2
    flipped = read.standardised(torch.arange(24), torch.ones(24, dtype=torch.bool))
    with torch.no_grad():
        mirrored = ae.to_scale(torch.from_numpy(pictures[:, :, ::-1].copy()))
        mean = model.encoder(mirrored)[0].permute(0, 2, 3, 1)
    torch.testing.assert_close(flipped, (mean - read.mean) / read.std, atol=1e-2, rtol=0)


def test_an_autoencoder_keeps_its_licence(pictures, tmp_path):
    path = tmp_path / ae.EXPORT
    for data in ({"source": "celeba"}, {"source": "celeba", "domain": ""}):
        ae.train_autoencoder(pictures, pictures[:0], settings(tmp_path, 8), data=data)
    assert load_tensors(path)[1]["data"]["source"] == "celeba"
    with pytest.raises(TtiError, match="trained on pictures of another source or licence"):
        ae.train_autoencoder(pictures, pictures[:0], settings(tmp_path, 8))
    with pytest.raises(TtiError, match="was trained on other latents"):  # not what torch says
        train(small_cache(), tmp_path, 8)
    check_pictures(path, {"source": "celeba"})
    for other in ({}, {"source": "folder"}):
        with pytest.raises(TtiError, match=r"export.safetensors learned from pictures of celeba"):
            check_pictures(path, other)


def test_another_cache_is_not_overwritten(pictures, tmp_path):
    out = tmp_path / "cache.safetensors"
    labels, attributes = np.arange(24, dtype=np.uint8)[:, None], ["A"]
    models = [Autoencoder(), Autoencoder()]

    def build(
        model=models[0], labels=labels, attributes=attributes, faces=pictures, seen=pictures[:4],
        **options,
    ):  # fmt: skip
        count, aside = len(labels), np.zeros((len(seen), 1), np.uint8)
        return build_cache(
            model, faces[:count], labels, seen, aside, attributes, out, **options
        )  # fmt: skip

    known = build(labels=labels[:20], seen=pictures[:4])
    before = out.read_bytes()
    celebrities = {"source": "celeba"}
    for options, what in (
        ({"model": models[1]}, "another autoencoder"),
        ({"scale": replace(known.space, std=2 * known.std)}, "another scale"),
        ({"scale": replace(known.space, mean=1 + known.mean)}, "another scale"),
        ({"labels": labels[:19]}, "more pictures than the 19 of --data"),
        ({"labels": labels[::-1].copy()}, "another data set"),
        ({"attributes": ["B"]}, "another data set"),
        ({"data": celebrities}, "another data set"),
        ({"faces": pictures[::-1]}, "another data set"),
        ({"seen": pictures[:3]}, "more held-out pictures than the 3 of --data"),
    ):
        with pytest.raises(TtiError, match=f"holds latents of {what}; choose another --out, or"):
            build(**options)
        assert out.read_bytes() == before
    assert len(build(seen=pictures[:5])) == 24


def test_a_file_without_some_weights_is_no_autoencoder(tmp_path):
    weights = Autoencoder().state_dict()
    del weights["decoder.up1.weight"]
    ae.save_tensors(tmp_path / "few", weights, {"kind": "autoencoder"})
    with pytest.raises(TtiError, match=r"few does not fit the sizes that it names: .*decoder.up1"):
        ae.load_autoencoder(tmp_path / "few")
    ae.save_tensors(tmp_path / "few", weights, {"kind": "autoencoder", "data": "celeba"})
    with pytest.raises(TtiError, match=r"few is damaged .*its data set is no object"):
        ae.load_autoencoder(tmp_path / "few")


def test_words_do_not_matter_to_an_autoencoder_but_the_licence_does(pictures, tmp_path):
    def words(prompt, licence):
        text = OWN_DOMAIN.replace("PROMPT", prompt).replace("LICENCE", licence)
        return {"source": "folder", "domain": text}

    for prompt in ("cat", "dog"):
        of = settings(tmp_path, 8)
        ae.train_autoencoder(pictures, pictures[:0], of, data=words(prompt, "research only"))
    with pytest.raises(TtiError, match="trained on pictures of another source or licence"):
        ae.train_autoencoder(pictures, pictures[:0], of, data=words("dog", "MIT"))
    check_pictures(tmp_path / ae.EXPORT, words("cat", "research only"))
    with pytest.raises(TtiError, match=r"under the licence «research only», and these .* «MIT»"):
        check_pictures(tmp_path / ae.EXPORT, words("dog", "MIT"))


def test_a_new_cache_takes_the_scale_of_weights_to_go_on_with(pictures, tmp_path):
    labels, out = np.zeros((24, 1), np.uint8), tmp_path / "cache.safetensors"
    torch.manual_seed(0)
    model = Autoencoder()

    def build(scale, count=24):
        return build_cache(
            model, pictures[:count], labels[:count], pictures[:0], labels[:0], ["A"], out,
            scale=scale,
        )  # fmt: skip

    mean, std = torch.tensor([1.0, 2, 3, 4]), torch.tensor([0.5, 1, 2, 3])
    scale = LatentSpace(mean, std, "of the original")
    first = build(scale, 10)
    assert torch.equal(first.mean, scale.mean) and torch.equal(first.std, scale.std)
    assert first.autoencoder == "of the original"
    extended = build(scale)
    assert len(extended) == 24 and torch.equal(extended.latents[:10], first.latents)


def test_crops_are_parts_of_pictures(pictures):
    rng = np.random.default_rng(0)
    crops = ae.crops(pictures[:1], rng, 16, 32)
    windows = np.lib.stride_tricks.sliding_window_view(pictures[0], (32, 32, 3))[:, :, 0]
    flat = {window.tobytes() for row in windows for window in row}
    flat |= {window[:, ::-1].tobytes() for row in windows for window in row}
    assert all(crop.tobytes() in flat for crop in crops)
    assert len({crop.tobytes() for crop in crops}) > 8


def test_no_pictures_are_refused(tmp_path):
    with pytest.raises(TtiError, match="render"):
        ae.train_autoencoder(np.empty((0, 64, 64, 3), np.uint8), None, settings(tmp_path, 8))


def test_optimiser_state_takes_the_order_of_its_weights(tmp_path):
    def layer():
        torch.manual_seed(0)
        layer = torch.nn.Conv2d(3, 5, 3).to(memory_format=torch.channels_last)
        return layer, torch.optim.AdamW(layer.parameters(), fused=True)

    def step(layer, optimiser, seed):
        x = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(seed))
        optimiser.zero_grad()
        layer(x).square().mean().backward()
        optimiser.step()

    one, optimiser = layer()
    step(one, optimiser, 1)
    loop.save_checkpoint(tmp_path, one, None, [optimiser], {"step": 1})
    two, resumed = layer()
    load_checkpoint(tmp_path, two, None, [resumed])
    for seed in (2, 3):
        step(one, optimiser, seed)
        step(two, resumed, seed)
    assert torch.equal(one.weight, two.weight)
