"""All parts of a training in one go: pictures, autoencoder, latents, transformer, model file.

Every part resumes where it was stopped and is skipped once it is complete, so the same command
can be given again at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from ttikit.errors import TtiError
from ttikit.training.checkpoint import NAME, file_checksum, read_metadata
from ttikit.training.latents import CACHE
from ttikit.training.loop import Budget, Settings
from ttikit.training.models import ModelConfig, TextToLatent
from ttikit.training.optim import scaled_rate

EXPORT = "export.safetensors"
MODEL = "faces.tti"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Length:
    """Budget and batch of one training."""

    batch: int
    minutes: float | None = None
    samples: int | None = None

    @property
    def budget(self) -> Budget:
        """As the training loop takes it."""
        return Budget(self.minutes, self.samples)


@dataclass(frozen=True)
class Preset:
    """How much is rendered and how long each part is trained."""

    train: int
    held_out: int
    autoencoder: Length
    diffusion: Length
    reader: Length  # of each of the two
    pairs: int
    reflow: Length
    text: Length
    aligned: Length


PRESETS = {
    # A night of a PC with two cores; pictures and pairs take most of it.
    "cpu": Preset(
        train=40_000,
        held_out=4_000,
        autoencoder=Length(32, minutes=25.0),
        diffusion=Length(64, minutes=120.0),
        reader=Length(64, minutes=40.0),
        pairs=25_600,
        reflow=Length(32, minutes=60.0),
        text=Length(256, minutes=6.0),
        aligned=Length(16, minutes=30.0),
    ),
    # One large GPU; 12 million samples are 300 looks at every picture.
    "gpu": Preset(
        train=40_000,
        held_out=4_000,
        autoencoder=Length(256, samples=2_000_000),
        diffusion=Length(2048, samples=12_000_000),
        reader=Length(512, samples=2_000_000),
        pairs=204_800,
        reflow=Length(512, samples=2_000_000),
        text=Length(1024, samples=500_000),
        aligned=Length(256, samples=200_000),
    ),
}


@dataclass(frozen=True)
class Pipeline:
    """Where the parts lie and how they are made.

    Args:
        data: folder of the data set; rendered if it is none yet.
        runs: folder of everything else.
        preset: sizes and lengths.
        device: of the trainings.
        seed: of pictures, weights, batches and noise.
        tell: called with a line for every part.
    """

    data: Path
    runs: Path
    preset: Preset
    device: torch.device
    seed: int = 0
    tell: Tell = print

    @property
    def autoencoder(self) -> Path:
        """Weights of the autoencoder."""
        return self.runs / "autoencoder" / EXPORT

    @property
    def latents(self) -> Path:
        """Cache of the latents."""
        return self.runs / CACHE

    @property
    def diffusion(self) -> Path:
        """Weights of text encoder and transformer."""
        return self.runs / "diffusion" / EXPORT

    @property
    def reader(self) -> Path:
        """Weights of what reads attributes from half-drawn faces."""
        return self.runs / "reader" / EXPORT

    @property
    def readers(self) -> list[Path]:
        """That one and another, which only helps with the alignment."""
        return [self.reader, self.runs / "reader-2" / EXPORT]

    @property
    def pairs(self) -> Path:
        """Folder of noise and what the transformer, guided and pushed, draws from it."""
        return self.runs / "pairs"

    @property
    def reflow(self) -> Path:
        """Weights of the student that learned from the pairs."""
        return self.runs / "reflow" / EXPORT

    @property
    def text(self) -> Path:
        """The same with a text encoder that learned from more captions."""
        return self.runs / "text" / EXPORT

    @property
    def aligned(self) -> Path:
        """The same after the alignment."""
        return self.runs / "aligned" / EXPORT

    @property
    def model(self) -> Path:
        """The model file for the boards."""
        return self.runs / MODEL

    def run(self) -> bool:
        """Do what is missing; false if a signal stopped one of the trainings."""
        self._render()
        return (
            self._trained("autoencoder", self.preset.autoencoder, self._train_autoencoder)
            and self._encoded()
            and self._trained("diffusion", self.preset.diffusion, self._train_diffusion)
            and self._trained("reader", self.preset.reader, self._train_reader)
            and self._drawn()
            and self._same(self.reflow, "teacher", self.diffusion)
            and self._same(self.reflow, "reader", self.reader)
            and self._trained("reflow", self.preset.reflow, self._reflow)
            and self._same(self.text, "student", self.reflow)
            and self._same(self.aligned, "student", self.text)
            and self._trained("text", self.preset.text, self._tune_text)
            and self._trained("reader-2", self.preset.reader, self._train_another_reader)
            and self._same(self.aligned, "student", self.text)
            and self._same(self.aligned, "readers", *self.readers)
            and self._trained("aligned", self.preset.aligned, self._align)
            and self._exported()
        )

    def _render(self) -> None:
        from ttikit.data.cli import render
        from ttikit.data.shards import MANIFEST, RENDER, Manifest

        train, held_out, seed = self.preset.train, self.preset.held_out, self.seed
        if (self.data / MANIFEST).exists():  # also one that was not rendered
            manifest = Manifest.read(self.data)
            counts = manifest.counts
            have = sum(record["count"] for record in manifest.shards.values())
            if have >= sum(counts.values()):
                self.tell(f"{self.data}: {have:,} pictures, complete")
                return
            if manifest.command != RENDER:
                raise TtiError(
                    f"{self.data} is not complete; finish `ttikit data {manifest.command}` first"
                )
            train, held_out, seed = counts["train"], counts["held-out"], manifest.seed
        self.tell(f"{self.data}: drawing {train + held_out:,} pictures")
        render(self.data, train, held_out, seed, os.cpu_count() or 1)

    def _trained(self, name: str, length: Length, train: Callable[[Settings], object]) -> bool:
        """Train a part unless it is complete; whether it is complete now."""
        folder = self.runs / name
        if used(folder, length.budget) >= 1:
            self.tell(f"{folder} is complete")
            return True
        self.tell(f"{folder}: training")
        train(Settings(folder, length.batch, length.budget, self.seed))
        return used(folder, length.budget) >= 1

    def _train_autoencoder(self, settings: Settings) -> None:
        from ttikit.data.dataset import FaceDataset
        from ttikit.training.autoencoder import train_autoencoder

        train, held_out = FaceDataset(self.data, "train"), FaceDataset(self.data, "held-out")
        train_autoencoder(
            train.images, held_out.images, settings, device=self.device, data=train.data
        )

    def _encoded(self) -> bool:
        from ttikit.data.dataset import FaceDataset
        from ttikit.training.autoencoder import load_autoencoder
        from ttikit.training.latents import build_cache, check_pictures

        if self.latents.exists() and not self._outdated(self.latents, self.autoencoder):
            self.tell(f"{self.latents} is complete")
            return True
        self.tell(f"{self.latents}: encoding")
        train, held_out = FaceDataset(self.data, "train"), FaceDataset(self.data, "held-out")
        check_pictures(self.autoencoder, train.data)
        build_cache(
            load_autoencoder(self.autoencoder), train.images, train.labels, held_out.images,
            held_out.labels, train.attributes, self.latents, self.device, train.data,
        )  # fmt: skip
        return True

    def _train_diffusion(self, settings: Settings) -> None:
        from ttikit.training.diffusion import train_diffusion
        from ttikit.training.latents import load_cache

        cache, rate = load_cache(self.latents), scaled_rate(settings.batch)
        train_diffusion(cache, cache.captions, settings, rate, self.device)

    def _train_reader(self, settings: Settings) -> None:
        from ttikit.training.latents import load_cache
        from ttikit.training.reader import train_reader

        cache = load_cache(self.latents)
        train_reader(cache, cache.captions, settings, device=self.device)

    def _train_another_reader(self, settings: Settings) -> None:
        self._train_reader(replace(settings, seed=settings.seed + 1))

    @staticmethod
    def _same(made: Path, role: str, *sources: Path) -> bool:
        """True; raises `TtiError` if what there is of ``made`` came of other ``sources``, or
        of none where there is one now."""
        counters = counters_of(made.parent)
        if counters is None:
            return True
        known = counters.get("sources", {}).get(role)
        if [path.exists() and file_checksum(path) for path in sources] != (
            known if isinstance(known, list) else [known]
        ):
            raise TtiError(
                f"{made.parent} was not made from {' and '.join(map(str, sources))} as it is now; "
                f"delete that folder and give the same command again"
            )
        return True

    def _drawn(self) -> bool:
        from ttikit.training.latents import load_cache
        from ttikit.training.pairs import draw_pairs, drawn

        if sum(count for _, count in drawn(self.pairs).values()) >= self.preset.pairs:
            self.tell(f"{self.pairs} is complete")
        else:
            self.tell(f"{self.pairs}: drawing")
        cache = load_cache(self.latents)
        draw_pairs(  # refuses what is there if the transformer or the reader changed
            cache, cache.captions, self.diffusion, self.pairs, self.preset.pairs, self.reader,
            seed=self.seed, device=self.device,
        )  # fmt: skip
        return True

    def _reflow(self, settings: Settings) -> None:
        from ttikit.training.latents import load_cache
        from ttikit.training.reflow import train_reflow

        cache = load_cache(self.latents)
        train_reflow(cache, self.diffusion, self.pairs, settings, device=self.device)

    def _tune_text(self, settings: Settings) -> None:
        from ttikit.training.latents import load_cache
        from ttikit.training.text_tuning import tune_text

        cache = load_cache(self.latents)
        tune_text(cache, cache.captions, self.reflow, settings, device=self.device)

    def _align(self, settings: Settings) -> None:
        from ttikit.training.alignment import train_aligned
        from ttikit.training.latents import load_cache

        cache = load_cache(self.latents)
        train_aligned(cache, cache.captions, self.text, self.readers, settings, device=self.device)

    def _exported(self) -> bool:
        from ttikit.export.cli import export

        if self.model.exists() and not self._outdated(self.model, self.aligned):
            self.tell(f"{self.model} is complete")
            return True
        self.tell(f"{self.model}: quantising")
        export(self.aligned, self.autoencoder, self.model)
        return True

    @staticmethod
    def _outdated(made: Path, source: Path) -> bool:
        return not source.exists() or source.stat().st_mtime_ns > made.stat().st_mtime_ns


def counters_of(folder: Path) -> dict[str, Any] | None:
    """What the checkpoint in ``folder`` has counted; None if there is none yet or it is torn."""
    try:
        return read_metadata(folder / NAME)
    except TtiError:  # the training itself finds the one before it
        return None


def used(folder: Path, budget: Budget) -> float:
    """Share of ``budget`` that the run in ``folder`` has used, as its checkpoint says."""
    counters = counters_of(folder)
    if counters is None:
        return 0.0
    if budget.samples is not None:
        return counters["samples"] / budget.samples
    assert budget.minutes is not None
    return counters["seconds"] / (60 * budget.minutes)


def choose_preset(name: str | None, device: torch.device, samples: int | None) -> Preset:
    """The preset of that name, or what suits the device; ``samples`` replaces the length of the
    diffusion run. Raises `TtiError` for an unknown name."""
    name = name or ("gpu" if device.type == "cuda" else "cpu")
    if name not in PRESETS:
        raise TtiError(f"--preset {name} is unknown; choose {' or '.join(PRESETS)}")
    preset = PRESETS[name]
    if samples is None:
        return preset
    return replace(preset, diffusion=Length(preset.diffusion.batch, samples=samples))


def plan(preset: Preset) -> list[str]:
    """Lines that say how long the parts are, and what arithmetic the diffusion run needs."""
    lines = [f"pictures: {preset.train:,} and {preset.held_out:,} held out"]
    for name in ("autoencoder", "diffusion", "reader", "reflow", "text", "aligned"):
        if name == "reflow":
            lines.append(f"pairs: {preset.pairs:,}")
        length: Length = getattr(preset, name)
        label = "each of two readers" if name == "reader" else name
        ends = f"{length.samples:,} samples" if length.samples else f"{length.minutes:g} minutes"
        lines.append(f"{label}: {ends}, {length.batch} at a time")
    each = training_flops()
    lines.append(f"one sample of the diffusion run: {each / 1e9:.2f} GFLOP")
    if preset.diffusion.samples:
        total = each * preset.diffusion.samples
        speed = total / 600 / 1e12
        lines.append(f"all of them: {total / 1e15:.1f} PFLOP; in ten minutes {speed:.1f} TFLOP/s")
    return lines


def training_flops(config: ModelConfig | None = None, words: int = 23) -> int:
    """Floating-point operations of forward and backward pass for one sample, products only.

    Counted by torch on the real network; a multiplication with an addition counts as two.
    """
    model = TextToLatent(config)
    size, channels = model.config.size, model.config.channels
    x, t = torch.zeros(1, size, size, channels), torch.full((1,), 0.5)
    tokens, dropped = torch.ones(1, words, dtype=torch.long), torch.zeros(1, dtype=torch.bool)
    # Attention as plain products: those of the fused kernels are not counted.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(x, t, tokens, dropped).sum().backward()
    return counter.get_total_flops()
