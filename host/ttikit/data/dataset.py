"""A data set on disk: rendered in shards by several processes, read back checked.

A folder holds `dataset.json` and, for each shard, two arrays that NumPy can map into memory:
`train-images-00000.npy` (N, 64, 64, 3) uint8 RGB and `train-labels-00000.npy` (N, A) uint8 with a
0, 1 or 255 (unknown) for each of the A attributes named in `dataset.json`; the same for
`held-out`. Shards appear one after the other and are complete as soon as `dataset.json` lists
them, so training can start while the rest is made. Picture i of a split depends on the seed and on
i only.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ttikit.data.attributes import labels_array, sample_attributes
from ttikit.data.shards import (
    MANIFEST,
    SIZE,
    Manifest,
    Progress,
    Work,
    digest,
    fill,
    open_manifest,
    shard_key,
    stem,
)
from ttikit.errors import TtiError

__all__ = ["MANIFEST", "SIZE", "SPLITS", "FaceDataset", "Manifest", "render_dataset", "render_one"]

SPLITS = ("train", "held-out")


def picture_rng(seed: int, split: str, index: int) -> np.random.Generator:
    """The generator that alone decides picture `index` of a split."""
    return np.random.default_rng([seed, SPLITS.index(split), index])


def render_one(seed: int, split: str, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Picture (64, 64, 3) uint8 and labels (A,) uint8 with number `index` of a split."""
    from ttikit.data.render import render_picture

    rng = picture_rng(seed, split, index)
    person = sample_attributes(rng)
    return render_picture(person, rng, SIZE), labels_array(person)


def _render(seed: int, split: str, which: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    images, labels = zip(*[render_one(seed, split, i) for i in which], strict=True)
    return np.stack(images), np.stack(labels)


def render_dataset(
    root: Path,
    train: int,
    held_out: int,
    seed: int,
    workers: int,
    progress: Progress = lambda done, total: None,
) -> Manifest:
    """Draw what is missing of a data set in `root`; stopping it at any moment loses one shard.

    train, held_out: numbers of pictures. progress(done, total) is called after every few
    pictures. Raises TtiError for impossible numbers and for a folder with another data set.
    """
    from ttikit.data.render import RENDERER_VERSION

    if train < 1 or held_out < 0 or workers < 1:
        raise TtiError("--train and --workers must be at least 1, --held-out at least 0")
    if not 0 <= seed < 2**32:
        raise TtiError("--seed must be between 0 and 4294967295")
    counts = {"train": train, "held-out": held_out}
    manifest = open_manifest(root, Manifest(seed, counts, RENDERER_VERSION))

    def work(split: str, start: int, stop: int) -> Work:
        return partial(_render, seed, split, range(start, stop))

    fill(root, manifest, work, workers, progress)
    return manifest


class FaceDataset:
    """Pictures and labels of one split, as far as they are drawn.

    images: (N, 64, 64, 3) uint8 RGB; labels: (N, A) uint8; attributes: the A names; data: what
    trained models keep of it (`ttikit.data.domain.domain_of`).
    `verify` compares every file with its SHA-256 in `dataset.json`. Raises TtiError, in one
    sentence, if a file is missing or damaged or if no shard is complete yet.
    """

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", verify: bool = True
    ) -> None:
        if split not in SPLITS:
            raise TtiError(f"unknown split {split!r}: use one of {', '.join(SPLITS)}")
        self.root = Path(root)
        self.split = split
        manifest = Manifest.read(self.root)
        self.attributes = tuple(manifest.attributes)
        self.command = manifest.command
        self.data = {"source": manifest.command, "domain": manifest.domain}
        numbers = sorted(
            int(key.rsplit("-", 1)[1]) for key in manifest.shards if key.startswith(split)
        )
        if not numbers:
            raise TtiError(
                f"{self.root} has no complete shard of {split!r} yet: "
                f"wait for `ttikit data {self.command}`, or run it"
            )
        self.shards: list[np.ndarray] = []
        labels = []
        for number in numbers:
            record = manifest.shards[shard_key(split, number)]
            count = record["count"]
            pictures = (count, SIZE, SIZE, 3)
            self.shards.append(self._load("images", number, record, pictures, verify))
            names = (count, len(self.attributes))
            labels.append(self._load("labels", number, record, names, verify))
        self.labels = np.concatenate(labels)
        self._images: np.ndarray | None = None

    def _load(
        self, kind: str, number: int, record: dict[str, Any], shape: tuple[int, ...], verify: bool
    ) -> np.ndarray:
        path = self.root / stem(self.split, kind, number)
        advice = f"run `ttikit data {self.command}` again with the same options to make it anew"
        if not path.exists():
            raise TtiError(f"{path} is missing: {advice}")
        if verify and digest(path) != record[kind]:
            raise TtiError(f"{path} is damaged (its SHA-256 differs): {advice}")
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise TtiError(f"{path} is damaged ({error}): {advice}") from error
        if array.shape != shape or array.dtype != np.uint8:
            raise TtiError(
                f"{path} holds {array.dtype} {array.shape}, not uint8 {shape}: {advice}"
            )
        return array

    @property
    def images(self) -> np.ndarray:
        """All pictures in one array in memory, (N, 64, 64, 3); `shards` are the mapped parts."""
        if self._images is None:
            self._images = np.concatenate(self.shards)
        return self._images

    def __len__(self) -> int:
        return len(self.labels)
