"""What a run on a GPU does differently, done on a CPU: captions beforehand, bfloat16 and more."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.data.attributes import ATTRIBUTES, labels_array, sample_attributes  # noqa: E402
from ttikit.data.captions import token_batch  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import diffusion, speed  # noqa: E402
from ttikit.training.bank import caption_bank  # noqa: E402
from ttikit.training.batches import Batches  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.loop import Budget, Counters, Settings, Trainer  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.optim import RATE, Schedule, scaled_rate  # noqa: E402
from ttikit.training.speed import Speed  # noqa: E402

from .conftest import SMALL, captions  # noqa: E402

CPU = torch.device("cpu")


def train(cache, out, samples, **changes):
    settings = Settings(out, 8, Budget(samples=samples), log_seconds=0.0, look_every=7)
    return diffusion.train_diffusion(cache, captions, settings, rate=4e-2, config=SMALL, **changes)


def test_the_whole_path_of_a_gpu_learns_and_resumes(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "HALVED", {"cpu"})
    fast = Speed(captions=3, processes=1, backend="eager")
    compiled = []
    original = torch.compile
    monkeypatch.setattr(
        torch, "compile", lambda model, **options: compiled.append(1) or original(model, **options)
    )
    found = train(cache, tmp_path / "one", 8 * 24, speed=fast)["held_out_loss"]
    assert compiled
    # The same run in float32, not compiled, comes to nearly the same.
    with monkeypatch.context() as patch:
        patch.setattr(speed, "HALVED", set())
        plain = train(cache, tmp_path / "plain", 8 * 24, speed=Speed(captions=3))["held_out_loss"]
    untrained = train(cache, tmp_path / "short", 8, speed=Speed(captions=3))["held_out_loss"]
    assert found == pytest.approx(plain, abs=5e-3) and found < untrained - 0.02
    # A run in two parts: captions, batches and noise are those of the run in one.
    loss = diffusion.DiffusionTask.loss
    with monkeypatch.context() as patch:
        patch.setattr(
            diffusion.DiffusionTask, "loss",
            lambda task, counters: (
                counters.step == 10 and os.kill(os.getpid(), signal.SIGTERM),
                loss(task, counters),
            )[1],
        )  # fmt: skip
        train(cache, tmp_path / "two", 8 * 24, speed=fast)
    assert load_tensors(tmp_path / "two" / NAME)[1]["step"] == 11
    train(cache, tmp_path / "two", 8 * 24, speed=fast)
    one, two = (load_tensors(tmp_path / name / NAME)[0] for name in ("one", "two"))
    for name in one:
        assert torch.equal(one[name], two[name]), name


def test_products_are_done_in_half_where_asked(cache, monkeypatch):
    model, seen = TextToLatent(SMALL), []
    model.dit.final.register_forward_hook(lambda layer, given, out: seen.append(out.dtype))
    task = diffusion.DiffusionTask(model, Batches(cache, captions, 4, CPU))
    for halved, kind in ((set(), torch.float32), ({"cpu"}, torch.bfloat16)):
        monkeypatch.setattr(speed, "HALVED", halved)
        assert task.loss(Counters())["loss"].dtype == torch.float32
        assert seen[-1] == kind


@pytest.mark.parametrize("when", ["making", "running"])
def test_what_does_not_compile_runs_as_it_is(monkeypatch, capsys, when):
    def broken(model, **options):
        if when == "making":
            raise RuntimeError("no Triton here\nand more")

        def run(x):
            raise RuntimeError("no Triton here\nand more")

        return run

    monkeypatch.setattr(torch, "compile", broken)
    model = torch.nn.Linear(2, 1)
    used = speed.compiled(model, "inductor", lambda forward: forward(torch.ones(1, 2)).sum())
    assert used is model
    assert "trains without torch.compile: no Triton here\n" in capsys.readouterr().err


def test_compiling_leaves_no_gradient_behind():
    model = torch.nn.Linear(2, 1)
    fast = speed.compiled(model, "eager", lambda forward: forward(torch.ones(1, 2)).sum())
    assert fast is not model and model.weight.grad is None
    assert torch.equal(fast(torch.ones(1, 2)), model(torch.ones(1, 2)))


def test_only_a_gpu_is_sped_up():
    assert speed.speed_for(CPU) == Speed()
    fast = speed.speed_for(torch.device("cuda"), 10_000)
    assert fast == Speed(speed.EACH, 1, "inductor")


def people(count):
    rng = np.random.default_rng(0)
    rows = [labels_array(sample_attributes(rng)) for _ in range(count)]
    assert len(rows[0]) == len(ATTRIBUTES)
    return np.stack(rows)


def test_the_bank_does_not_depend_on_the_number_of_processes():
    labels = people(260)  # two chunks
    one, two = (caption_bank(labels, token_batch, 2, 5, processes) for processes in (1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, caption_bank(labels, token_batch, 2, 6))


def test_the_bank_holds_captions_of_each_picture():
    labels = people(300)
    bank = caption_bank(labels, token_batch, 4, 0)
    longest = (bank != 0).sum(2).max()
    assert bank.shape == (300, 4, longest)  # no column that is always empty
    assert (bank[:, :, 0] != 0).all()
    assert len(np.unique(bank[7], axis=0)) > 1
    alike = caption_bank(np.repeat(labels[:1], 300, axis=0), token_batch, 4, 0)
    assert not np.array_equal(alike[:50], alike[250:])  # the parts draw different numbers
    one = np.zeros((300, 1), np.uint8)
    one[10:, 0] = 1
    assert np.array_equal(caption_bank(one, captions, 3, 0)[:, :, 0], 1 + np.repeat(one, 3, 1))


def test_batches_choose_captions_of_their_pictures(cache):
    batches = Batches(cache, captions, 32, CPU)
    batches.prepare_captions(3, 0, 1)
    drawn = batches.draw(Counters(step=4), 0.0)
    assert torch.equal(drawn.tokens[:, 0], 1 + drawn.labels[:, 0].long())
    assert drawn.tokens.dtype == torch.int64 and len(drawn.tokens[:, 1].unique()) == 3
    again = batches.draw(Counters(step=4), 0.0)
    assert torch.equal(drawn.tokens, again.tokens) and torch.equal(drawn.x0, again.x0)
    assert not torch.equal(drawn.tokens, batches.draw(Counters(step=5), 0.0).tokens)


def test_a_bad_step_between_two_looks_never_reaches_a_checkpoint(tmp_path):
    model = torch.nn.Linear(1, 1)

    def run(steps, bad):
        def loss(counters):
            loss = model(torch.ones(1)).sum()
            if counters.step != bad:
                return {"loss": loss}
            os.kill(os.getpid(), signal.SIGTERM)  # so that a checkpoint is due right after it
            return {"loss": loss * float("nan")}

        settings = Settings(tmp_path, 8, Budget(samples=8 * steps), look_every=1000)
        optimiser = torch.optim.AdamW(model.parameters())
        trainer = Trainer(model, [optimiser], Schedule(1e-3), loss, settings)
        trainer.resume({}, "")
        trainer.run()

    run(2, None)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(TtiError, match="at step 3"):
        run(6, 3)
    assert (tmp_path / NAME).read_bytes() == before


def test_the_rate_grows_with_the_root_of_the_batch_up_to_a_limit():
    assert scaled_rate(64) == RATE
    assert scaled_rate(256) == pytest.approx(2 * RATE)
    assert scaled_rate(2048) == scaled_rate(4096) == 4 * RATE
