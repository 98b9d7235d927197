"""What the student is asked to learn, and that it learns it."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import distillation  # noqa: E402
from ttikit.training.batches import Batches  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.diffusion import EXPORT, load_diffusion, train_diffusion  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.sampling import euler, guided, one_branch  # noqa: E402

from tests.training.conftest import SMALL, captions, small_cache  # noqa: E402


def settings(out, samples, **options):
    return Settings(out, 16, Budget(samples=samples), **options)


@pytest.fixture(scope="module")
def shaken():
    """Teacher and student of which every path carries a signal."""
    torch.manual_seed(0)
    teacher = TextToLatent(SMALL)
    for parameter in teacher.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    student = distillation.new_student(teacher)
    torch.nn.init.normal_(student.guide)
    torch.nn.init.normal_(student.pace)
    return teacher.requires_grad_(False), student.requires_grad_(False)


def inputs(count=6):
    x = torch.randn(count, 8, 8, 4, generator=torch.Generator().manual_seed(1))
    tokens = torch.arange(1, 2 * count + 1).view(count, 2)
    dropped = torch.arange(count) == 2
    guidance = torch.linspace(1, 5, count)
    steps = torch.tensor([16.0, 4, 16, 8, 1, 3])
    return x, 1 / steps, tokens, dropped, guidance, steps


def test_targets_are_the_guided_teacher_or_two_half_steps(shaken):
    teacher, student = shaken
    task = distillation.DistillationTask(student, student, teacher, batches=None)
    x, t, tokens, dropped, guidance, steps = inputs()
    targets = task.targets(x, t, tokens, dropped, guidance, steps)
    for i in range(len(x)):
        row = slice(i, i + 1)
        if steps[i] == 16 and not dropped[i]:
            strength = 1 + (guidance[i].item() - 1) / 2
            expected = guided(teacher, tokens[row], strength)(x[row], t[i].item())
        elif steps[i] == 16:
            expected = teacher.dit(x[row], t[row], teacher.null[None])
        else:
            field = one_branch(student, tokens[row], guidance[i].item(), 2 * int(steps[i]))
            first = field(x[row], t[i].item())
            half = 0.5 / steps[i].item()
            second = field(x[row] - half * first, t[i].item() - half)
            expected = (first + second) / 2
        torch.testing.assert_close(targets[row], expected, rtol=1e-4, atol=1e-4)


def test_a_new_student_answers_like_its_teacher():
    teacher = TextToLatent(SMALL)
    torch.nn.init.normal_(teacher.dit.final.weight)
    student = distillation.new_student(teacher)
    x, tokens = torch.randn(1, 8, 8, 4), torch.tensor([[3, 4]])
    with torch.no_grad():
        plain = guided(teacher, tokens, 1)(x, 0.5)
        torch.testing.assert_close(one_branch(student, tokens, 4.0, 8)(x, 0.5), plain)


def test_recipes_cover_what_people_ask_for_and_stay_on_the_grid():
    guidance, steps, t = (v.numpy() for v in distillation.recipes(4000, np.random.default_rng(0)))
    assert guidance.min() >= 1 and guidance.max() <= 5
    assert set(steps.tolist()) == set(map(float, distillation.SHARES))
    place = t * steps
    coarse = steps < distillation.FINEST
    np.testing.assert_allclose(place[coarse], place[coarse].round(), atol=1e-4)
    assert place.min() >= 0 and t.max() == 1
    for count, share in distillation.SHARES.items():
        assert abs((steps == count).mean() - share) < 0.03
    assert abs((guidance == 3).mean() - distillation.DEFAULT_SHARE) < 0.03
    assert sum(distillation.SHARES.values()) == pytest.approx(1)


@pytest.fixture(scope="module")
def teacher_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher")
    train_diffusion(small_cache(), captions, settings(folder, 16 * 100), rate=3e-3, config=SMALL)
    return folder / EXPORT


def test_the_student_needs_half_the_passes(cache, teacher_file, tmp_path):
    distillation.train_distilled(
        cache, captions, teacher_file, settings(tmp_path, 16 * 120), rate=3e-3
    )
    teacher, _, _ = load_diffusion(teacher_file)
    student, mean, _ = load_diffusion(tmp_path / EXPORT)
    torch.testing.assert_close(mean, cache.mean)
    tokens = torch.tensor([[1, 3], [2, 4]]).repeat(8, 1)
    noise = torch.randn(16, 8, 8, 4, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        wanted = euler(guided(teacher, tokens, 2), noise, 32)
        plain = euler(guided(teacher, tokens, 1), noise, 4)
        few = euler(one_branch(student, tokens, 3, 4), noise, 4)
    assert (few - wanted).square().mean() < 0.5 * (plain - wanted).square().mean()
    about = load_tensors(tmp_path / EXPORT)[1]
    assert about["teacher_samples"] == 16 * 100 and about["samples"] == 16 * 220


def test_a_resumed_run_equals_an_uninterrupted_one(cache, teacher_file, tmp_path, monkeypatch):
    def train(out):
        distillation.train_distilled(cache, captions, teacher_file, settings(out, 16 * 8))

    train(tmp_path / "whole")
    with monkeypatch.context() as patch:
        original, calls = Batches.draw, []

        def draw(self, counters: Counters, drop):
            calls.append(counters.step)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            return original(self, counters, drop)

        patch.setattr(Batches, "draw", draw)
        train(tmp_path / "parts")
    assert load_tensors(tmp_path / "parts" / NAME)[1]["step"] == 4
    train(tmp_path / "parts")
    whole, parts = (load_tensors(tmp_path / name / NAME)[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_wrong_teachers_are_refused(cache, teacher_file, tmp_path):
    def distil(teacher, out="run", **options):
        distillation.train_distilled(
            cache, captions, teacher, settings(tmp_path / out, 16), **options
        )

    distil(teacher_file)
    with pytest.raises(TtiError, match="distilled already"):
        distil(tmp_path / "run" / EXPORT, "again")
    other = tmp_path / "other"
    train_diffusion(cache, captions, settings(other, 16), config=SMALL)
    with pytest.raises(TtiError, match="another teacher"):
        distil(other / EXPORT)
    cache.autoencoder = "other"
    with pytest.raises(TtiError, match="another autoencoder"):
        distil(teacher_file, "third")


def test_the_reader_pushes_towards_the_caption(shaken):
    teacher, student = shaken

    class Fake:
        def pull(self, x, t, tokens):
            return torch.ones_like(x)

    x, t, tokens, dropped, guidance, _ = inputs()
    steps = torch.full_like(t, 16.0)
    t = torch.full_like(t, 0.5)
    plain = distillation.DistillationTask(student, student, teacher, None)
    pushed = distillation.DistillationTask(student, student, teacher, None, Fake(), push=0.5)
    arguments = x, t, tokens, dropped, guidance, steps
    change = pushed.targets(*arguments) - plain.targets(*arguments)
    # At t = 0.5 the factor t/(1 − t) is 1; guidance 1 and hidden prompts are not pushed.
    expected = -0.5 * (guidance - 1) / 2 * ~dropped
    torch.testing.assert_close(change.mean((1, 2, 3)), expected, rtol=1e-4, atol=1e-4)
