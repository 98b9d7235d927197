"""The student learns straight lines between the pairs of its teacher."""

from __future__ import annotations

import os
import shutil
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import pairs, recipes, reflow  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.diffusion import EXPORT, load_diffusion, train_diffusion  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.sampling import euler, guided, one_branch  # noqa: E402
from ttikit.training.world import World  # noqa: E402

from .conftest import SMALL, captions, celebrities, small_cache, strangers  # noqa: E402


def settings(out, samples, **options):
    return Settings(out, 16, Budget(samples=samples), **options)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A teacher and its pairs."""
    root, cache = tmp_path_factory.mktemp("runs"), small_cache()
    train_diffusion(cache, captions, settings(root, 16 * 100), rate=3e-3, config=SMALL)
    pairs.draw_pairs(cache, captions, root / EXPORT, root / "pairs", 256)
    return root


def train(runs, out, samples, cache=None, teacher=None, drawn=None, **options):
    return reflow.train_reflow(
        cache or small_cache(), teacher or runs / EXPORT, drawn or runs / "pairs",
        settings(out, samples), **options,
    )  # fmt: skip


def test_a_new_student_answers_like_its_teacher():
    teacher = TextToLatent(SMALL)
    for parameter in teacher.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    student = recipes.new_student(teacher)
    x, tokens = torch.randn(1, 8, 8, 4), torch.tensor([[3, 4]])
    with torch.no_grad():
        plain = guided(teacher, tokens, 1)(x, 0.5)
        torch.testing.assert_close(one_branch(student, tokens, 4.0, 8)(x, 0.5), plain)


def test_recipes_cover_what_people_ask_for_and_stay_on_the_grid():
    rng = np.random.default_rng(0)
    guidance = recipes.draw_guidance(4000, rng).numpy()
    steps, t = (v.numpy() for v in recipes.draw_times(4000, rng))
    assert guidance.min() >= 1 and guidance.max() <= 5
    assert abs((guidance == 3).mean() - recipes.DEFAULT_SHARE) < 0.03
    assert set(steps.tolist()) == set(map(float, recipes.SHARES))
    place = t * steps
    coarse = steps < recipes.FINEST
    np.testing.assert_allclose(place[coarse], place[coarse].round(), atol=1e-4)
    assert place.min() >= 0 and t.max() == 1
    for count, share in recipes.SHARES.items():
        assert abs((steps == count).mean() - share) < 0.03
    assert sum(recipes.SHARES.values()) == pytest.approx(1)


def test_the_loss_is_the_distance_to_the_line(runs, monkeypatch):
    """By hand, for one row after another, with a student of which every row matters."""
    drawn = pairs.load_pairs(runs / "pairs", torch.device("cpu"))
    torch.manual_seed(0)
    student = recipes.new_student(TextToLatent(SMALL)).requires_grad_(False)
    for parameter in student.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    rows, times = [], []
    original = student.dit.forward

    def forward(x, t, text):
        rows.append((x, t, text))
        return original(x, t, text)

    def draw_times(*arguments):
        times.append(recipes.draw_times(*arguments))
        return times[-1]

    monkeypatch.setattr(student.dit, "forward", forward)
    monkeypatch.setattr(reflow, "draw_times", draw_times)
    losses = reflow.ReflowTask(student, drawn, 64).loss(Counters(seed=3, step=5))
    x, t, text = rows[0]
    assert torch.equal(t, times[0][1])
    found, errors = [], []
    for i in range(64):
        # Which pair it is: the one on whose line x lies.
        mix = t[i]
        line = (1 - mix) * drawn.end.float() + mix * drawn.noise.float()
        far = (line - x[i]).abs().amax((1, 2, 3))
        k = int(far.argmin())
        assert far[k] < 1e-5
        found.append(k)
        target = drawn.noise[k].float() - drawn.end[k].float()
        velocity = original(x[i : i + 1], t[i : i + 1], text[i : i + 1])[0]
        errors.append((velocity - target).square().mean())
        prompt = (
            student.null if drawn.hidden[k] else student.text(drawn.tokens[k : k + 1].long())[0]
        )
        recipe = student.recipe(drawn.guidance[k : k + 1], times[0][0][i : i + 1])[0]
        torch.testing.assert_close(text[i], prompt + recipe, rtol=1e-4, atol=1e-4)
    assert len(set(found)) > 40 and any(drawn.hidden[k] for k in found)
    errors = torch.stack(errors)
    assert losses["loss"].item() == pytest.approx(errors.mean().item(), rel=1e-4)
    assert losses["early_loss"].item() == pytest.approx(errors[t > 0.8].mean().item(), rel=1e-4)
    assert losses["late_loss"].item() == pytest.approx(errors[t < 0.5].mean().item(), rel=1e-4)


def test_the_student_ends_where_the_guided_teacher_does_in_few_passes(runs, tmp_path):
    train(runs, tmp_path, 16 * 160, rate=3e-3)
    teacher, _, _ = load_diffusion(runs / EXPORT)
    student, space, _ = load_diffusion(tmp_path / EXPORT)
    torch.testing.assert_close(space.mean, small_cache().mean)
    tokens = torch.tensor([[1, 3], [2, 4]]).repeat(8, 1)
    noise = torch.randn(16, 8, 8, 4, generator=torch.Generator().manual_seed(2))
    shown, three = torch.zeros(16, dtype=torch.bool), torch.full((16,), 3.0)
    with torch.no_grad():
        wanted = pairs.Painter(teacher, None).end(noise, tokens, shown, three)
        plain = euler(guided(teacher, tokens, 1), noise, 4)
        few = euler(one_branch(student, tokens, 3, 4), noise, 4)
    assert (few - wanted).square().mean() < 0.6 * (plain - wanted).square().mean()
    about = load_tensors(tmp_path / EXPORT)[1]
    assert about["teacher_samples"] == 16 * 100 and about["samples"] == 16 * 260
    assert about["pairs"] == 256


def test_a_resumed_run_equals_an_uninterrupted_one(runs, tmp_path, monkeypatch):
    train(runs, tmp_path / "whole", 16 * 8)
    with monkeypatch.context() as patch:
        original, calls = reflow.ReflowTask.loss, []

        def loss(self, counters: Counters):
            calls.append(counters.step)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            return original(self, counters)

        patch.setattr(reflow.ReflowTask, "loss", loss)
        train(runs, tmp_path / "parts", 16 * 8)
    assert load_tensors(tmp_path / "parts" / NAME)[1]["step"] == 4
    train(runs, tmp_path / "parts", 16 * 8)
    whole, parts = (load_tensors(tmp_path / name / NAME)[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_wrong_teachers_and_pairs_are_refused(runs, cache, tmp_path):
    train(runs, tmp_path / "run", 16)
    with pytest.raises(TtiError, match="distilled already"):
        train(runs, tmp_path / "again", 16, teacher=tmp_path / "run" / EXPORT)
    other = tmp_path / "other"
    train_diffusion(cache, captions, settings(other, 16), config=SMALL)
    with pytest.raises(TtiError, match="pairs of another teacher than"):
        train(runs, tmp_path / "run", 16, teacher=other / EXPORT)
    pairs.draw_pairs(cache, captions, other / EXPORT, tmp_path / "pairs", 16, chunk=16)
    with pytest.raises(TtiError, match="trained on pairs of another teacher, reader or latents"):
        train(runs, tmp_path / "run", 32, teacher=other / EXPORT, drawn=tmp_path / "pairs")
    pairs.draw_pairs(celebrities(), captions, runs / EXPORT, tmp_path / "celeba", 16, chunk=16)
    with pytest.raises(TtiError, match="celeba holds pairs that were drawn with other latents"):
        train(runs, tmp_path / "third", 16, drawn=tmp_path / "celeba")
    train(runs, tmp_path / "third", 16, drawn=tmp_path / "celeba", cache=celebrities())
    for stranger, what in strangers():
        with pytest.raises(TtiError, match=what):
            train(runs, tmp_path / "third", 16, cache=stranger)


def test_more_pairs_may_come_between_two_parts(runs, cache, tmp_path):
    shutil.copytree(runs / "pairs", tmp_path / "pairs")
    train(runs, tmp_path / "run", 16, drawn=tmp_path / "pairs")
    pairs.draw_pairs(cache, captions, runs / EXPORT, tmp_path / "pairs", 320)
    result = train(runs, tmp_path / "run", 32, drawn=tmp_path / "pairs")
    assert result == {"samples": 32, "pairs": 320}


def test_processes_with_different_pairs_stop(runs, tmp_path):
    class Others(World):
        def gather(self, numbers):
            return [list(numbers), [4.0]]

    with pytest.raises(TtiError, match=r"different numbers of pairs in .*, 4; wait until all"):
        reflow.train_reflow(
            small_cache(), runs / EXPORT, runs / "pairs", settings(tmp_path, 16, world=Others())
        )
