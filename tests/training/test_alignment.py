"""Where the paths of a distilled model end, and the crowd of their ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import alignment, crowd, diffusion, pairs, reader, recipes, reflow  # noqa: E402
from ttikit.training.batches import Batches  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.sampling import euler, one_branch  # noqa: E402

from .conftest import SMALL, captions, celebrities, small_cache, strangers  # noqa: E402


def settings(out, samples):
    return Settings(out, 8, Budget(samples=samples), log_seconds=0.0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A teacher, its student and a reader, all hardly trained."""
    root = tmp_path_factory.mktemp("runs")
    cache = small_cache()
    diffusion.train_diffusion(
        cache, captions, settings(root / "teacher", 8 * 120), 3e-3, config=SMALL
    )
    teacher = root / "teacher" / diffusion.EXPORT
    pairs.draw_pairs(cache, captions, teacher, root / "pairs", 64)
    reflow.train_reflow(cache, teacher, root / "pairs", settings(root / "student", 8 * 10))
    for seed in range(2):
        long = Settings(root / f"reader{seed}", 16, Budget(samples=16 * 120), seed)
        reader.train_reader(cache, captions, long, rate=1e-2, config=SMALL)
    return root


def align(runs, out, samples=8 * 4, student="student", cache=None, readers=(0,), **options):
    path = runs / student / diffusion.EXPORT
    of = [runs / f"reader{seed}" / reader.EXPORT for seed in readers]
    return alignment.train_aligned(
        cache or small_cache(), captions, path, of, settings(out, samples), **options
    )


def shaken_task(readers=1, drawn=4, hard=0):
    torch.manual_seed(1)
    teacher = TextToLatent(SMALL)
    student = recipes.new_student(teacher)
    for parameter in student.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    batches = Batches(small_cache(), captions, drawn, torch.device("cpu"))
    return alignment.AlignmentTask(
        student, batches, [reader.Reader(1, SMALL) for _ in range(readers)], hard
    )


def test_a_path_is_the_samplers_and_the_anchor_is_the_start():
    task = shaken_task()
    batch = task.batches.draw(Counters(), 0.0)
    guidance = torch.full((4,), 3.0)
    end, strayed = task.path(batch, guidance, 4)
    with torch.no_grad():
        same = euler(one_branch(task.student, batch.tokens, 3.0, 4), batch.noise, 4)
        torch.testing.assert_close(end.detach(), same)
        # The anchor of guidance 3 is the start's guidance 2, along the same path.
        mine = one_branch(task.student, batch.tokens, 3.0, 4)
        its = one_branch(task.start, batch.tokens, 2.0, 4)
        x, expected = batch.noise, 0.0
        for i in range(4):
            velocity = mine(x, 1 - i / 4)
            expected += (velocity - its(x, 1 - i / 4)).square().mean().item() / 4
            x = x - velocity / 4
    assert strayed.item() == pytest.approx(expected, rel=1e-4) and expected > 1e-5
    assert task.path(batch, torch.ones(4), 4)[1].item() == pytest.approx(0, abs=1e-10)
    # Every step of the path is reached by the gradient of its end, the start model by none.
    end.square().mean().backward()
    assert all(p.grad is not None for p in task.student.dit.blocks.parameters())
    assert all(p.grad is None for p in task.start.parameters())


def test_recipes_are_what_people_ask_for():
    rng = np.random.default_rng(0)
    drawn = [alignment.recipes(8, rng) for _ in range(2000)]
    guidance = torch.cat([g for g, _ in drawn])
    assert guidance.min() >= 1 and guidance.max() <= 5
    assert (guidance == 3).float().mean().item() == pytest.approx(0.6, abs=0.02)
    for steps, share in alignment.SHARES.items():
        assert np.mean([n == steps for _, n in drawn]) == pytest.approx(share, abs=0.04)


def test_half_of_the_paths_are_the_hardest_of_many(monkeypatch):
    monkeypatch.setattr(alignment, "GLANCE", 0.0)
    drawn = 6 + 2 * alignment.CANDIDATES
    task = shaken_task(drawn=drawn, hard=2)
    task.readers[0].share.fill_(0.02)
    batch = task.batches.draw(Counters(), 0.0)
    chosen = task._chosen(batch)
    for name in ("x0", "labels", "tokens", "dropped", "noise"):
        assert torch.equal(getattr(chosen, name)[:6], getattr(batch, name)[:6])
        assert len(getattr(chosen, name)) == 8
    with torch.no_grad():
        end = euler(one_branch(task.student, batch.tokens, 3.0, 1), batch.noise, 1)
        lacking = task.readers[0].shortfall(end, torch.zeros(drawn), batch.tokens)
    worst = 6 + lacking[6:].argsort(descending=True)[:2]
    assert torch.equal(chosen.noise[6:], batch.noise[worst])
    assert torch.equal(chosen.tokens[6:], batch.tokens[worst])
    task.fill_crowd(Counters())
    before = len(task.crowds[0])
    task.loss(Counters(step=1))
    assert len(task.crowds[0]) == before + 6  # the hard ones would make the crowd another one


def test_a_batch_larger_than_the_crowd_leaves_some_of_it(monkeypatch):
    monkeypatch.setattr(crowd, "MOST", 20)
    monkeypatch.setattr(alignment, "FEWEST", 12)
    task = shaken_task(drawn=6 + 2 * alignment.CANDIDATES, hard=2)
    task.fill_crowd(Counters())
    for step in range(6):
        assert 12 <= len(task.crowds[0]) <= 20
        task.loss(Counters(step=step))


def test_half_of_a_run_is_hard(runs, tmp_path, monkeypatch):
    made = []

    class Spy(alignment.AlignmentTask):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(alignment, "AlignmentTask", Spy)
    align(runs, tmp_path, 8)
    assert [(task.plain, task.hard) for task in made] == [(4, 4)]


def features(count, shift=0.0, scale=1.0, seed=0):
    random = torch.Generator().manual_seed(seed)
    return shift + scale * torch.randn(count, 6, generator=random)


def test_the_gap_of_crowds():
    def gap(drawn, real=None):
        both = crowd.Crowd()
        both.join(drawn, features(2000, seed=1) if real is None else real)
        return both.gap(drawn[:8].clone())[1].item()

    assert gap(features(2000, seed=2)) < 0.1
    assert gap(features(2000, 0.5, seed=2)) == pytest.approx(0.25, abs=0.1)
    # A standard deviation of 0.5 is a variance of 0.25, off by 0.75 in 6 of 36 entries; the
    # squashing takes an eighth of the larger variance.
    assert gap(features(2000, 0, 0.5, seed=2)) == pytest.approx(20 * 0.64**2 / 6, rel=0.15)
    astray = features(2000, seed=2)
    astray[0] = 1e4
    assert gap(astray) < gap(features(2000, seed=2)) + 0.01
    astray[:20] = 1e4  # a batch of them
    assert gap(astray) < gap(features(2000, seed=2)) + 0.1
    # What counts is the distance in units of the real latents' spread.
    assert gap(features(2000, 50, 100, 2), features(2000, 0, 100, 1)) == pytest.approx(
        gap(features(2000, 0.5, seed=2)), rel=0.01
    )


def test_the_pull_on_a_picture_does_not_depend_on_the_size_of_the_crowd():
    pulls = []
    for count in (200, 1600):
        both = crowd.Crowd()
        both.join(features(count, 0.5, seed=2), features(count, seed=1))
        drawn = features(8, 0.5, seed=3).requires_grad_()
        force, _ = both.gap(drawn)
        force.backward()
        pulls.append(drawn.grad.mean().item())
    assert pulls[0] > 0 and pulls[0] == pytest.approx(pulls[1], rel=0.4)


def test_following_the_pull_closes_the_gap(monkeypatch):
    monkeypatch.setattr(crowd, "MOST", 640)  # the beginning is soon forgotten
    weight = torch.nn.Parameter(torch.eye(6) * 0.5)
    shift = torch.nn.Parameter(torch.full((6,), 0.7))
    optimiser = torch.optim.Adam([weight, shift], 0.02)
    both, values = crowd.Crowd(), []
    for step in range(160):
        drawn = features(32, seed=100 + step) @ weight + shift
        if step >= 20:
            force, value = both.gap(drawn)
            optimiser.zero_grad()
            force.backward()
            optimiser.step()
            values.append(value.item())
        both.join(drawn, features(32, 2.0, 3.0, seed=300 + step) - 2.0)
    assert values[-1] < 0.3 * values[0]


def test_the_oldest_leave_the_crowd():
    both = crowd.Crowd()
    for seed in range(30):
        both.join(features(100, seed=seed), features(100, seed=seed))
    assert len(both) == 2000


def logged(out, name):
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    values = [line[name] for line in lines if name in line]
    return np.mean(values[:8]), np.mean(values[-8:])


def test_paths_end_where_the_reader_wants_them(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(alignment, "CROWD", 0.0)
    monkeypatch.setattr(alignment, "ANCHOR", 0.1)
    assert align(runs, tmp_path, 8 * 40, rate=3e-3) == {"paths": 8 * 40}
    first, last = logged(tmp_path, "agreement")
    assert last > first + 0.1
    exported, about = load_tensors(tmp_path / alignment.EXPORT)
    aligned = load_tensors(tmp_path / NAME)[0]
    for name in ("guide", "dit.final.weight"):
        torch.testing.assert_close(exported[name], aligned[f"average.{name}"], rtol=0, atol=0)
    assert about["teacher_samples"] == 8 * 120 and about["paths"] == 8 * 40
    align(runs, tmp_path / "more", 8, student=tmp_path)  # one may follow another
    assert load_tensors(tmp_path / "more" / alignment.EXPORT)[1]["paths"] == 8 * 41
    assert about["pairs"] == load_tensors(runs / "student" / diffusion.EXPORT)[1]["pairs"] > 50


def test_two_readers_count_alike_and_each_sees_a_crowd_of_its_own():
    task = shaken_task(2)
    for one in task.readers:
        one.share.fill_(0.02)  # what either of them reads in a caption is far more
    task.fill_crowd(Counters())
    assert len(task.crowds) == 2 and all(len(one) >= crowd.FEWEST for one in task.crowds)
    both = task.loss(Counters())
    alone = []
    for one, people in zip(task.readers, task.crowds, strict=True):
        single = shaken_task()
        single.readers, single.crowds = [one], [people]
        del people._drawn[-1], people._real[-1]  # who joined just now
        alone.append(single.loss(Counters()))
    for name in ("agreement", "gap", "loss"):
        mean = sum(loss[name].item() for loss in alone) / 2
        assert both[name].item() == pytest.approx(mean, rel=1e-4)
    for name in ("agreement", "gap"):
        assert alone[0][name].item() != pytest.approx(alone[1][name].item(), rel=1e-3)


def test_the_anchor_holds(runs, tmp_path, monkeypatch):
    ends = []
    for anchor in (0.0, 1e4):
        monkeypatch.setattr(alignment, "CROWD", 0.0)
        monkeypatch.setattr(alignment, "ANCHOR", anchor)
        align(runs, tmp_path / f"{anchor}", 8 * 20, rate=1e-3)
        ends.append(logged(tmp_path / f"{anchor}", "strayed")[1])
    assert ends[1] < 0.3 * ends[0]


def test_a_stopped_run_goes_on(runs, tmp_path, monkeypatch):
    loss = alignment.AlignmentTask.loss

    def stopping(task, counters):
        os.kill(os.getpid(), signal.SIGTERM)
        return loss(task, counters)

    with monkeypatch.context() as patch:
        patch.setattr(alignment.AlignmentTask, "loss", stopping)
        align(runs, tmp_path)
    assert load_tensors(tmp_path / NAME)[1]["step"] == 1
    align(runs, tmp_path)
    assert load_tensors(tmp_path / NAME)[1]["step"] == 4


def test_what_cannot_be_aligned_is_refused(runs, tmp_path):
    with pytest.raises(TtiError, match="not distilled; run `ttikit train reflow` first"):
        align(runs, tmp_path / "a", student="teacher")
    with pytest.raises(TtiError, match="one --reader is given twice"):
        align(runs, tmp_path / "a", readers=(0, 1, 0))
    for stranger, what in strangers():
        with pytest.raises(TtiError, match=what):
            align(runs, tmp_path / "b", cache=stranger)
    align(runs, tmp_path / "c", 8, cache=celebrities())
    with pytest.raises(TtiError, match=r"aligned from .* or on other latents; choose another"):
        align(runs, tmp_path / "c", 8)  # the licence would be lost
    align(runs, tmp_path / "c2", 8)
    second = tmp_path / "second"
    teacher = runs / "teacher" / diffusion.EXPORT
    reflow.train_reflow(small_cache(), teacher, runs / "pairs", settings(second, 8 * 2))
    with pytest.raises(TtiError, match=r"aligned from another model, with other readers"):
        align(runs, tmp_path / "c2", student=second)
    for readers in ((1,), (0, 1)):
        with pytest.raises(TtiError, match=r"aligned from another model, with other readers"):
            align(runs, tmp_path / "c2", readers=readers)


def test_a_run_of_another_stage_is_left_alone(runs, tmp_path):
    for stage in ("student", "teacher"):
        shutil.copytree(runs / stage, tmp_path / stage)
        before = (tmp_path / stage / diffusion.EXPORT).read_bytes()
        for samples in (8, 8 * 1000):
            with pytest.raises(TtiError, match="choose another --out"):
                align(runs, tmp_path / stage, samples)
        assert (tmp_path / stage / diffusion.EXPORT).read_bytes() == before
    align(runs, tmp_path / "aligned", 8)
    before = (tmp_path / "aligned" / diffusion.EXPORT).read_bytes()
    teacher = runs / "teacher" / diffusion.EXPORT
    for samples in (8, 8 * 1000):
        with pytest.raises(TtiError, match="was trained on pairs of another teacher"):
            of = settings(tmp_path / "aligned", samples)
            reflow.train_reflow(small_cache(), teacher, runs / "pairs", of)
    assert (tmp_path / "aligned" / diffusion.EXPORT).read_bytes() == before


def test_readers_of_other_latents_are_refused(runs, tmp_path):
    cache = replace(small_cache(), std=2 * small_cache().std)
    reader.train_reader(cache, captions, Settings(tmp_path, 16, Budget(samples=16)), config=SMALL)
    (tmp_path / "both").mkdir()
    shutil.copytree(runs / "student", tmp_path / "both" / "student")
    shutil.copytree(runs / "reader0", tmp_path / "both" / "reader0")
    (tmp_path / "both" / "reader1").symlink_to(tmp_path)
    with pytest.raises(TtiError, match=r"reader1/.* was trained on latents of another scale"):
        align(tmp_path / "both", tmp_path / "out", readers=(0, 1))
