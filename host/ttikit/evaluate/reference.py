"""What real pictures look like to the judge: the yardsticks for generated ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from rich.progress import Progress

from ttikit.data.dataset import FaceDataset
from ttikit.errors import TtiError
from ttikit.evaluate.classifier import Judge, Numbers
from ttikit.evaluate.frechet import Moments, distance, moments
from ttikit.evaluate.reference_pictures import (
    data_fingerprint,
    file_fingerprint,
    passed,
    read_array,
    write_array,
)
from ttikit.training.autoencoder import Pictures

AUTOENCODER = Path("models") / "float16" / "autoencoder.safetensors"


class Reference:
    """Features of a data set's renders, plain and after the autoencoder, and their distances.

    Everything is computed when it is first asked for and kept in ``cache``, keyed by data set,
    classifier and autoencoder. All Fréchet distances are against the whole held-out split, and
    come down with the number of pictures: compare them at equal counts.
    """

    def __init__(
        self, data: Path, judge: Judge, cache: Path, autoencoder: Path = AUTOENCODER
    ) -> None:
        """Open the folder ``data`` that `ttikit data render` wrote; TtiError if it has none."""
        self.judge, self.cache, self.autoencoder = judge, cache, autoencoder
        self.train = FaceDataset(data, "train")
        self.held_out = FaceDataset(data, "held-out")
        if list(self.train.attributes) != judge.attributes:
            raise TtiError(
                f"{data} has other attributes than the classifier: "
                f"train one on it with `ttikit train classifier`"
            )
        self._key = f"{data_fingerprint(data)}-{judge.fingerprint}"

    @cached_property
    def features(self) -> Numbers:
        """Features of the held-out renders, (H, D)."""
        return self._features("held-out", self.held_out.shards, len(self.held_out))

    @cached_property
    def moments(self) -> Moments:
        """Moments of the held-out renders."""
        return moments(self.features)

    @cached_property
    def training_features(self) -> tuple[Numbers, Numbers]:
        """Features of the training renders and of their mirror images, each (N, D)."""
        shards, count = self.train.shards, len(self.train)
        mirrored = [shard[:, :, ::-1] for shard in shards]
        return (
            self._features("train", shards, count),
            self._features("train-mirrored", mirrored, count),
        )

    def distance(self, features: Numbers) -> float:
        """Fréchet distance of features (n, D) to the held-out renders."""
        return distance(moments(features), self.moments)

    def floor(self, count: int) -> float:
        """Render–render: distance of ``count`` training renders, other people than the held-out.

        No generator can do better with as many pictures, but by chance. The first training
        renders only chose the judge's thresholds; it has not learnt them by heart.
        """
        _enough(self.train, count)
        renders = self.train.images[:count]
        return self.distance(self._features(f"train-{count}", [renders], count))

    def baseline(self, count: int) -> float:
        """Without a model: distance of ``count`` training renders after the autoencoder.

        What a generator would reach whose latents are as good as real ones.
        """
        return self.distance(self._passed(self.train, count))

    def paired(self, count: int) -> float:
        """Distance of the first ``count`` held-out renders after the autoencoder: the same people.

        Nearly all of it is the autoencoder's loss, as the chance of who is in the set cancels out
        if ``count`` is the whole split.
        """
        return self.distance(self._passed(self.held_out, count))

    def halves(self) -> float:
        """Distance of one half of the held-out renders to the other."""
        half = len(self.features) // 2
        return distance(moments(self.features[:half]), moments(self.features[half : 2 * half]))

    def _passed(self, data: FaceDataset, count: int) -> Numbers:
        """Features of the first ``count`` pictures of a split after the autoencoder."""
        _enough(data, count)
        pictures = passed(data, count, self.autoencoder, self.cache)
        key = f"passed-{data.split}-{count}-{file_fingerprint(self.autoencoder)}"
        return self._features(key, [pictures], count)

    def _features(self, key: str, shards: list[Pictures], count: int) -> Numbers:
        path = self._path(key)
        kept = read_array(path, count, (self.judge.width,), np.float32)
        if kept is None:
            kept = np.concatenate([*self._look(key, shards, count)])
            write_array(path, kept)
        return kept

    def _look(self, key: str, shards: list[Pictures], count: int) -> Iterator[Numbers]:
        with Progress(transient=True) as bar:
            task = bar.add_task(f"features of renders ({key})", total=count)
            for shard in shards:
                yield self.judge.features(shard)
                bar.update(task, advance=len(shard))

    def _path(self, key: str) -> Path:
        return self.cache / f"features-{key}-{self._key}.npy"


def _enough(data: FaceDataset, count: int) -> None:
    if count > len(data):
        raise TtiError(
            f"{count:,} pictures need as many renders, and the split {data.split!r} of "
            f"{data.root} has {len(data):,}; ask for fewer or render more"
        )
