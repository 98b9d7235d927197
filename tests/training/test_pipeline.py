"""`ttikit train all`: every part once, stopped parts go on, complete ones are skipped."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.data import captions as captions_module  # noqa: E402
from ttikit.data import cli as data_cli  # noqa: E402
from ttikit.data import dataset  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.export import cli as export_cli  # noqa: E402
from ttikit.training import alignment, pairs, pipeline, text_tuning  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.cli import app  # noqa: E402
from ttikit.training.diffusion import DiffusionTask, load_diffusion  # noqa: E402
from ttikit.training.loop import Budget  # noqa: E402
from ttikit.training.pipeline import Length, Preset, choose_preset, counters_of, used  # noqa: E402

from .conftest import captions  # noqa: E402

TINY = Preset(
    train=24,
    held_out=4,
    autoencoder=Length(4, samples=8),
    diffusion=Length(2, samples=4),
    reader=Length(2, samples=2),
    pairs=3,
    reflow=Length(2, samples=2),
    text=Length(2, samples=2),
    aligned=Length(2, samples=2),
)


@pytest.fixture
def run(pictures, tmp_path, monkeypatch):
    """Runs the command on stand-ins for renderer and exporter; `run.calls` are theirs."""

    class Faces:
        attributes = ("Male",)
        data: ClassVar[dict] = {}

        def __init__(self, root, split):
            assert (root / dataset.MANIFEST).exists()
            count = {"train": 24, "held-out": 4}[split]
            self.images = pictures[:count]
            self.labels = (np.arange(count) % 2).astype(np.uint8)[:, None]

    def render(out, train, held_out, seed, workers):
        calls.append(("render", train, held_out, seed))
        shards = {"a": {"count": train + held_out, "images": "", "labels": ""}}
        out.mkdir(exist_ok=True)
        dataset.Manifest(seed, {"train": train, "held-out": held_out}, 1, [], shards).write(out)

    def export(diffusion, autoencoder, out):
        calls.append(("export", diffusion, autoencoder))
        assert load_diffusion(diffusion)[0].config.guides and autoencoder.exists()
        out.touch()

    calls: list[tuple] = []
    monkeypatch.setattr(dataset, "FaceDataset", Faces)
    monkeypatch.setattr(data_cli, "render", render)
    monkeypatch.setattr(export_cli, "export", export)
    monkeypatch.setattr(captions_module, "token_batch", captions)
    monkeypatch.setitem(pipeline.PRESETS, "cpu", TINY)
    monkeypatch.setattr(pairs, "chunk_for", lambda device: 2)
    monkeypatch.setattr(alignment, "FEWEST", 4)
    monkeypatch.setattr(text_tuning, "FITTED", 4)
    monkeypatch.chdir(tmp_path)

    def command(*more):
        result = CliRunner().invoke(app, ["all", "--data", "data", "--out", "runs", *more])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    command.calls = calls
    return command


def test_all_parts_once_and_on_after_a_stop(run, monkeypatch):
    loss, stops = DiffusionTask.loss, [1]

    def stopping(task, counters):
        if stops and stops.pop():
            os.kill(os.getpid(), signal.SIGTERM)
        return loss(task, counters)

    monkeypatch.setattr(DiffusionTask, "loss", stopping)
    assert run().endswith("stopped; the same command goes on from here\n")
    assert used(Path("runs/diffusion"), Budget(samples=4)) == 0.5
    assert not Path("runs/pairs").exists()
    out = run()
    for part in (
        "data: 28 pictures, complete",
        "autoencoder is complete",
        "latents.safetensors is",
    ):
        assert part in out
    assert used(Path("runs/diffusion"), Budget(samples=4)) == 1.0
    assert Path("runs/faces.tti").exists()
    diffusion, autoencoder = (
        Path("runs") / n / pipeline.EXPORT for n in ("aligned", "autoencoder")
    )
    assert run.calls == [("render", 24, 4, 0), ("export", diffusion, autoencoder)]
    out = run()
    assert out.count("complete") == 11 and len(run.calls) == 2
    # More samples of the transformer: it goes on, and what it taught before is no longer complete.
    with pytest.raises(TtiError, match=r"runs/pairs holds pairs of another teacher.* delete it"):
        run("--samples", "6")
    assert used(Path("runs/diffusion"), Budget(samples=6)) == 1.0
    shutil.rmtree("runs/pairs")
    with pytest.raises(TtiError, match=r"reflow was not made from .*diffusion.* delete that"):
        run("--samples", "6")
    shutil.rmtree("runs/reflow")
    with pytest.raises(TtiError, match=r"text was not made from .*reflow.* delete that"):
        run("--samples", "6")
    shutil.rmtree("runs/text")
    with pytest.raises(TtiError, match=r"aligned was not made from .*text.* delete that"):
        run("--samples", "6")
    shutil.rmtree("runs/aligned")
    run("--samples", "6")
    for part in ("reflow", "text", "aligned"):
        assert used(Path("runs") / part, Budget(samples=2)) == 1.0
    assert [call[0] for call in run.calls] == ["render", "export", "export"]
    assert counters_of(Path("runs/reader-2"))["seed"] == 1
    # Another second reader: only what was aligned by it.
    second = Path("runs/reader-2") / pipeline.EXPORT
    kept = second.read_bytes()
    tensors, about = load_tensors(second)
    save_tensors(second, tensors, {**about, "another": True})
    with pytest.raises(TtiError, match=r"aligned was not made from .*reader-2.* delete that"):
        run("--samples", "6")
    second.write_bytes(kept)
    # Another reader: its pairs, and all that learned from them.
    reader = Path("runs/reader") / pipeline.EXPORT
    tensors, about = load_tensors(reader)
    save_tensors(reader, tensors, {**about, "another": True})
    with pytest.raises(TtiError, match=r"runs/pairs holds pairs of another .*reader.* delete it"):
        run("--samples", "6")
    shutil.rmtree("runs/pairs")
    with pytest.raises(TtiError, match=r"reflow was not made from .*reader.* delete that"):
        run("--samples", "6")


def test_a_half_rendered_set_goes_on_with_its_own_numbers(run, monkeypatch):
    Path("data").mkdir()
    dataset.Manifest(9, {"train": 7, "held-out": 3}, 1, [], {}).write(Path("data"))
    monkeypatch.setattr(pipeline.Pipeline, "_trained", lambda *a: False)
    run()
    assert run.calls == [("render", 7, 3, 9)]
    dataset.Manifest(9, {"train": 7, "held-out": 3}, 1, [], {}, "celeba").write(Path("data"))
    with pytest.raises(TtiError, match="finish `ttikit data celeba`"):
        run()
    shards = {"train-00000": {"count": 20, "images": "", "labels": ""}}  # more than asked for
    dataset.Manifest(9, {"train": 7, "held-out": 3}, 1, [], shards).write(Path("data"))
    assert "data: 20 pictures, complete" in run()


def test_presets_suit_the_device():
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    assert choose_preset(None, cpu, None) is pipeline.PRESETS["cpu"]
    fast = choose_preset(None, cuda, None)
    assert fast is pipeline.PRESETS["gpu"] and fast.diffusion.samples == 12_000_000
    other = choose_preset("cpu", cuda, 1000)
    assert other.diffusion == Length(64, samples=1000)
    assert other.autoencoder == pipeline.PRESETS["cpu"].autoencoder
    with pytest.raises(TtiError, match="choose cpu or gpu"):
        choose_preset("tpu", cpu, None)


def test_a_torn_checkpoint_counts_as_nothing(tmp_path):
    assert used(tmp_path, Budget(minutes=1.0)) == 0.0
    (tmp_path / pipeline.NAME).write_bytes(b"torn")
    assert used(tmp_path, Budget(minutes=1.0)) == 0.0


def test_the_plan_counts_the_arithmetic(run):
    out = run("--plan", "--preset", "gpu")
    assert "diffusion: 12,000,000 samples, 2048 at a time" in out
    assert "pairs: 204,800\nreflow: 2,000,000 samples, 512 at a time" in out
    assert run.calls == [] and not Path("runs").exists()
    # Backward costs twice as much as forward, except where no gradient flows to the input.
    depth, tokens, dim, hidden = 6, 64, 192, 576
    blocks = depth * tokens * (4 * dim * dim + 2 * dim * hidden + 2 * tokens * dim)
    products = pipeline.training_flops() / 2 / 3
    assert blocks < products < 1.1 * blocks


def test_an_autoencoder_under_another_licence_is_refused(run):
    run()
    Path("runs/latents.safetensors").unlink()
    tensors, about = load_tensors(Path("runs/autoencoder") / pipeline.EXPORT)
    about["data"] = {"source": "celeba"}
    save_tensors(Path("runs/autoencoder") / pipeline.EXPORT, tensors, about)
    with pytest.raises(TtiError, match="learned from pictures of celeba, and these are of render"):
        run()
    assert not Path("runs/latents.safetensors").exists()
