"""Draws, looks and measures: from a model file to a `Report` and the pictures for the sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ttikit.evaluate import measures, precision
from ttikit.evaluate.drawing import Artist, Pictures
from ttikit.evaluate.expectations import Expectation
from ttikit.evaluate.report import Frechet, Nearest, Obedience, People, Report
from ttikit.evaluate.settings import ALL, FAST, FULL, Plan, Setting, grid

if TYPE_CHECKING:
    from ttikit.data.vocabulary import Ids
    from ttikit.evaluate.reference import Reference
    from ttikit.export.reference import FloatModel

CAPTION_SEED = 1
SHOWN = 4  # seeds of each prompt on the sheet


class Looks(Protocol):
    """What an evaluation needs of a judge (`ttikit.evaluate.classifier.Judge`)."""

    clear: list[str]
    thresholds: NDArray[np.float32]

    def look(self, pictures: Pictures) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return probabilities (N, A) and features (N, D)."""

    def present(self, probabilities: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return which attributes are there (N, A)."""


@dataclass
class Sheets:
    """Pictures to look at. Grids are (rows, columns, 64, 64, 3)."""

    grids: dict[str, Pictures] = field(default_factory=dict)
    failed: list[tuple[NDArray[np.uint8], str]] = field(default_factory=list)


class Evaluation:
    """The parts of an evaluation, each of which adds its figures to `report`."""

    def __init__(
        self,
        artist: Artist,
        judge: Looks,
        expectations: Sequence[Expectation],
        plan: Plan,
        report: Report,
    ) -> None:
        self.artist, self.judge, self.plan, self.report = artist, judge, plan, report
        self.expectations = list(expectations)
        self.prompts = [one.prompt for one in expectations]
        self.sheets = Sheets()
        self._features: dict[Setting, NDArray[np.float32]] = {}
        self._drawn: dict[Setting, Pictures] = {}

    def follow(self) -> None:
        """Draw all prompts at all settings, and see how they follow the prompt."""
        for setting in (FULL, FAST, *(one for one in ALL if one not in (FULL, FAST))):
            seeds = self.plan.seeds_of(setting)
            jobs = grid(setting, self.prompts, seeds)
            pictures = self.artist.pictures(jobs, f"{len(jobs)} pictures, {setting}")
            self._drawn[setting] = pictures.reshape(len(self.prompts), seeds, 64, 64, 3)
            found, self._features[setting] = obedience(self.judge, self.expectations, pictures)
            self.report.obedience[setting] = found

    def truth(self, plain: Pictures, decoded: Pictures) -> None:
        """Judge renders of the demands (prompts × seeds), plain and after the autoencoder.

        Also compares the distance of two seeds with that of two renders. Comes after `follow`.
        """
        self.report.plain_truth, _ = obedience(self.judge, self.expectations, plain)
        self.report.truth, features = obedience(self.judge, self.expectations, decoded)
        groups = len(self.prompts)
        seeds = measures.pair_distances(self._features[FULL], groups)
        if len(seeds):
            self.report.people = People(
                seeds=float(seeds.mean()),
                nearest=float(seeds.min()),
                renders=float(measures.pair_distances(features, groups).mean()),
                strangers=float(measures.stranger_distances(features).mean()),
            )

    def frechet(self, reference: Reference, settings: Sequence[Setting]) -> None:
        """Draw captions of held-out people and measure how far the whole set is from renders."""
        jobs = captions(reference.held_out.labels, self.plan.frechet)
        values = {}
        for setting in settings:
            some = [setting.job(prompt, seed) for prompt, seed in jobs]
            pictures = self.artist.pictures(some, f"{len(some)} captions, {setting}")
            values[setting] = reference.distance(self.judge.look(pictures)[1])
        self.report.frechet = Frechet(
            len(jobs),
            len(reference.held_out),
            values,
            reference.floor(len(jobs)),
            reference.baseline(len(jobs)),
        )

    def int8(self, source: FloatModel, forms: Mapping[str, Ids], prompts: Sequence[str]) -> None:
        """Compare the firmware with the float model, stage by stage."""
        jobs = [FULL.job(prompts[seed % len(prompts)], seed) for seed in range(self.plan.int8)]
        drawn = self.artist.stages(jobs, "int8 against float")
        self.report.precision = precision.measure(source, forms, jobs, drawn)

    def neighbours(self, reference: Reference, judge: Any) -> None:
        """Look for the training pictures nearest to some of the drawn ones. After `follow`."""
        from ttikit.evaluate.neighbours import find_neighbours

        count = min(self.plan.neighbours, len(self.prompts))
        chosen = np.linspace(0, len(self.prompts) - 1, count).astype(int)
        drawn = self._drawn[FULL][chosen, 0]
        groups = {"drawn": drawn, "held-out": np.array(reference.held_out.images[:count])}
        train = reference.train
        found = find_neighbours(groups, train.shards, reference.training_features, judge)
        ours, real = found["drawn"], found["held-out"]
        self.report.nearest = Nearest(
            _numbers(ours.by_pixels.distance),
            _numbers(ours.by_features.distance),
            _numbers(real.by_pixels.distance),
            _numbers(real.by_features.distance),
            len(train),
        )
        rows = [drawn]
        for near in (ours.by_pixels, ours.by_features):
            pictures = [np.array(train.images[int(i)]) for i in near.index]
            for i in np.flatnonzero(near.mirrored):
                pictures[i] = pictures[i][:, ::-1]
            rows.append(np.stack(pictures))
        self.sheets.grids["neighbours"] = _wrapped(np.stack(rows), min(16, count))

    def collect(self, steps: Sequence[Setting], guidances: Sequence[Setting]) -> None:
        """Choose the pictures of the sheets. Comes after `follow`."""
        full = self._drawn[FULL]
        grids = self.sheets.grids
        grids["prompts"] = _four_blocks(full[:, : min(SHOWN, full.shape[1])])
        chosen = np.linspace(0, len(full) - 1, min(8, len(full))).astype(int)
        for name, settings in (("steps", steps), ("guidance", guidances)):
            grids[name] = np.stack([self._drawn[one][chosen, 0] for one in settings])
        grids["seeds"] = full[chosen[::2]]
        flat = full.reshape(-1, 64, 64, 3)
        for failure in self.report.full.failures[:32]:
            number = self.prompts.index(failure.prompt) + 1
            text = f"{number}: " + ", ".join(one.label for one in failure.missing)
            self.sheets.failed.append((flat[failure.index], text))


def obedience(
    judge: Looks, expectations: Sequence[Expectation], pictures: Pictures
) -> tuple[Obedience, NDArray[np.float32]]:
    """How pictures (prompts × seeds) follow the prompts, and their features (N, D)."""
    probabilities, features = judge.look(pictures)
    seen = judge.present(probabilities)
    margins = probabilities - judge.thresholds
    failed = measures.failures(expectations, seen, judge.clear, margins)
    share = measures.Share(len(failed), len(seen))
    return Obedience(measures.presence(expectations, seen), share, tuple(failed)), features


def captions(labels: NDArray[np.uint8], count: int) -> list[tuple[str, int]]:
    """Return a Russian caption and a seed for each of the first `count` rows of labels (N, A)."""
    from ttikit.data.attributes import ATTRIBUTES
    from ttikit.data.captions import caption

    out = []
    for i, row in enumerate(labels[:count]):
        person = dict(zip(ATTRIBUTES, map(int, row), strict=True))
        out.append((caption(person, np.random.default_rng([CAPTION_SEED, i]), 0.0), i))
    return out


def _numbers(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _four_blocks(pictures: Pictures) -> Pictures:
    """(48, seeds, …) → (12, 4 × seeds, …): prompts in reading order, the seeds side by side."""
    count, seeds = pictures.shape[:2]
    rows = -(-count // 4)
    padded = np.full((rows * 4, *pictures.shape[1:]), 255, np.uint8)
    padded[:count] = pictures
    return padded.reshape(rows, 4 * seeds, 64, 64, 3)


def _wrapped(rows: Pictures, columns: int) -> Pictures:
    """(R, n, …) → (R × ceil(n / columns), columns, …), the R rows of a part below each other."""
    kinds, count = rows.shape[:2]
    parts = -(-count // columns)
    padded = np.full((kinds, parts * columns, 64, 64, 3), 255, np.uint8)
    padded[:, :count] = rows
    split = padded.reshape(kinds, parts, columns, 64, 64, 3).swapaxes(0, 1)
    return split.reshape(kinds * parts, columns, 64, 64, 3)
