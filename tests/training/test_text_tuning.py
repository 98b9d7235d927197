"""The text encoder learns to tell apart what captions say, and changes as little as it can."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.data.attributes import UNKNOWN  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import text_tuning  # noqa: E402
from ttikit.training.batches import Batches  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.diffusion import EXPORT, load_diffusion, save_diffusion  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.recipes import load_student, new_student  # noqa: E402

from .conftest import SMALL, celebrities, small_cache, strangers  # noqa: E402

STEPS = 150


def denials(labels: np.ndarray, rng: np.random.Generator, length: int = 32) -> np.ndarray:
    """ "hat, no beard" for one kind of people, "no hat, beard" for the other: the same words."""
    hat, beard, no = 1, 2, 3
    tokens = np.zeros((len(labels), length), np.int64)
    tokens[:, :3] = np.where(labels == 1, (hat, no, beard), (no, hat, beard))
    tokens[:, 3] = rng.integers(4, 7, size=len(labels))
    return tokens


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A teacher and a student, hardly trained; the transformer is no part of this."""
    root = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    teacher = TextToLatent(SMALL)
    student = new_student(teacher)
    counted = {"samples": 7, "teacher_samples": 3, "pairs": 5}
    for name, model in (("teacher", teacher), ("student", student)):
        save_diffusion(
            root / name / EXPORT, model.state_dict(), model.config, small_cache(), counted
        )
    return root


def tune(models, out, steps=STEPS, student="student", cache=None, captions=denials, **options):
    settings = Settings(out, 16, Budget(samples=16 * steps), log_seconds=0.0)
    path = models / student / EXPORT
    return text_tuning.tune_text(cache or small_cache(), captions, path, settings, **options)


def logged(out, name):
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    values = [line[name] for line in lines if name in line]
    return np.mean(values[:8]), np.mean(values[-8:])


def test_it_learns_what_the_same_words_in_another_order_say(models, tmp_path):
    assert tune(models, tmp_path, rate=1e-3) == {"captions": 16 * STEPS}
    first, last = logged(tmp_path, "read")
    assert last < 0.5 * first
    # The head begins by reading the old vectors as well as it can, not with random numbers.
    assert first < 0.9 * task_of(small_cache()).loss(Counters())["read"].item()
    assert logged(tmp_path, "strayed")[1] < 0.5


def test_only_the_text_encoder_changes(models, tmp_path):
    tune(models, tmp_path, 10)
    before, _ = load_tensors(models / "student" / EXPORT)
    after, about = load_tensors(tmp_path / EXPORT)
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and all(name.startswith("text.") for name in changed)
    average = load_tensors(tmp_path / NAME)[0]["average.text.proj.weight"]
    assert torch.equal(after["text.proj.weight"], average)
    assert about["captions"] == 160
    tune(tmp_path.parent, tmp_path / "more", 1, student=tmp_path.name)  # one may follow another
    assert load_tensors(tmp_path / "more" / EXPORT)[1]["captions"] == 176
    assert [about[name] for name in ("samples", "teacher_samples", "pairs")] == [7, 3, 5]
    assert load_diffusion(tmp_path / EXPORT)[0].config.guides  # it may be aligned


def test_the_head_learns_faster_than_what_it_reads(models, tmp_path, monkeypatch):
    rates = []

    class Spy(text_tuning.Trainer):
        def run(self):
            super().run()
            rates.extend(group["lr"] for group in self.optimisers[0].param_groups)

    monkeypatch.setattr(text_tuning, "Trainer", Spy)
    tune(models, tmp_path, 1)
    assert rates[0] > 0 and rates[1] == pytest.approx(text_tuning.HEAD * rates[0])


def test_the_data_are_those_it_learned_from(models, tmp_path):
    tune(models, tmp_path, 1, cache=celebrities())
    assert load_tensors(tmp_path / EXPORT)[1]["data"] == {"source": "celeba"}
    with pytest.raises(TtiError, match="learned from pictures of celeba, and these are of render"):
        load_student(tmp_path / EXPORT, small_cache())
    with pytest.raises(TtiError, match=r"tuned from .* or other latents; choose another --out"):
        tune(models, tmp_path, 1)


def test_the_old_vectors_hold(models, tmp_path, monkeypatch):
    strayed = []
    for stay in (0.0, 1e3):
        monkeypatch.setattr(text_tuning, "STAY", stay)
        tune(models, tmp_path / f"{stay}", 40, rate=1e-3)
        strayed.append(logged(tmp_path / f"{stay}", "strayed")[1])
    assert 0 < strayed[1] < 0.2 * strayed[0]


def task_of(cache, size=16):  # with a head that knows nothing
    torch.manual_seed(0)
    model = text_tuning.TextReader(TextToLatent(SMALL).text, len(cache.attributes))
    return text_tuning.TextTask(model, Batches(cache, denials, size, torch.device("cpu")))


def test_the_first_head_reads_what_can_be_read_by_a_line():
    model = text_tuning.TextReader(TextToLatent(SMALL).text, 2)
    random = torch.Generator().manual_seed(0)
    vectors = 3 + 2 * torch.randn(4000, SMALL.dim, generator=random)
    seen = (vectors - 3) / 2
    chance = torch.stack((0.5 * seen[:, 0] - 2, 0.3 * seen[:, 1]), 1).sigmoid()
    shown = (torch.rand(4000, 2, generator=random) < chance).float()
    model.fit(vectors, shown)
    read = model.read(vectors)
    assert (read - chance.logit()).abs().mean() < 0.25
    assert (read.sigmoid() - chance).abs().mean() < 0.04


def test_what_no_label_knows_counts_for_nothing():
    cache = small_cache()
    known = task_of(cache).loss(Counters())["read"].item()
    cache.labels[::2] = UNKNOWN
    task = task_of(cache)
    batch = task.batches.draw(Counters(), 0.0)
    logit = task.model.read(task.model.text(batch.tokens))[:, 0]
    sure = batch.labels[:, 0] == 1
    expected = torch.nn.functional.softplus(-logit[sure]).sum().item() / 16
    assert task.loss(Counters())["read"].item() == pytest.approx(expected, rel=1e-4)
    assert 0 < sure.sum() < 16 and known != pytest.approx(expected)
    # All that are known are 1, and so is what the first head expects.
    task.fit_head(Counters())
    assert task.model.head.bias.item() == pytest.approx(np.log(0.999 / 0.001), rel=1e-3)


def test_a_stopped_run_goes_on(models, tmp_path, monkeypatch):
    loss = text_tuning.TextTask.loss

    def stopping(task, counters):
        if counters.step == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return loss(task, counters)

    tune(models, tmp_path / "whole", 5)
    with monkeypatch.context() as patch:
        patch.setattr(text_tuning.TextTask, "loss", stopping)
        tune(models, tmp_path / "parts", 5)
    assert load_tensors(tmp_path / "parts" / NAME)[1]["step"] == 3
    tune(models, tmp_path / "parts", 5)
    whole, parts = (load_tensors(tmp_path / name / EXPORT)[0] for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_what_cannot_be_tuned_is_refused(models, tmp_path):
    with pytest.raises(TtiError, match="not distilled; run `ttikit train reflow` first"):
        tune(models, tmp_path / "a", student="teacher")
    for stranger, what in strangers():
        with pytest.raises(TtiError, match=what):
            tune(models, tmp_path / "b", cache=stranger)
    tune(models, tmp_path / "c", 1)
    other = small_cache()
    other.attributes = ["Young"]
    with pytest.raises(TtiError, match="tuned from another model, other labels"):
        tune(models, tmp_path / "c", 1, cache=other)
    tensors, _ = load_tensors(models / "student" / EXPORT)
    config = load_diffusion(models / "student" / EXPORT)[0].config
    del tensors["latent.mean"], tensors["latent.std"]
    save_diffusion(tmp_path / "d" / EXPORT, tensors, config, small_cache(), {"samples": 8})
    with pytest.raises(TtiError, match="tuned from another model"):
        tune(tmp_path, tmp_path / "c", 1, student="d")
