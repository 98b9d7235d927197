"""The nearest known picture, by pixels and by features: is a generated face a copy?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from ttikit.errors import TtiError
from ttikit.evaluate.classifier import Judge, Numbers
from ttikit.training.autoencoder import Pictures

CHUNK = 500  # known pictures that are compared at a time


@dataclass(frozen=True)
class Neighbours:
    """The nearest of the known pictures for each of n pictures.

    ``index`` (n,): which known picture; ``distance`` (n,) float64: root mean square over pixels
    (0 to 255) or Euclidean distance of features; ``mirrored`` (n,): its mirror image is meant.
    """

    index: NDArray[np.int64]
    distance: NDArray[np.float64]
    mirrored: NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """Neighbours of one group of pictures."""

    by_pixels: Neighbours
    by_features: Neighbours


def find_neighbours(
    groups: Mapping[str, Pictures],
    known: Sequence[Pictures],
    known_features: tuple[Numbers, Numbers],
    judge: Judge,
    note: str = "looking for copies",
) -> dict[str, Found]:
    """The nearest known pictures for several groups of pictures; mirror images count as well.

    groups: name → uint8 (n, 64, 64, 3), for example generated pictures and, as a yardstick,
    held-out renders. known: parts (N_i, 64, 64, 3) such as `FaceDataset.shards`, numbered
    through. known_features: theirs and their mirror images', each (N, D), such as
    `Reference.training_features`. Raises `TtiError` if something is empty or does not match.
    """
    total = sum(map(len, known))
    if total == 0 or not all(len(part) == total for part in known_features):
        raise TtiError("known pictures and their features must match, and be at least one")
    if not groups or not all(map(len, groups.values())):
        raise TtiError("there are no pictures whose neighbours could be looked for")
    wanted = np.concatenate(list(groups.values()))
    pixels, features = _Nearest(_flat(wanted)), _Nearest(judge.features(wanted))
    with Progress(transient=True) as bar:
        task = bar.add_task(note, total=total)
        for first, part in _chunks(known):
            rows = slice(first, first + len(part))
            for mirrored in (False, True):
                pixels.compare(_flat(part[:, :, ::-1] if mirrored else part), first, mirrored)
                features.compare(known_features[mirrored][rows], first, mirrored)
            bar.update(task, advance=len(part))
    size = float(np.sqrt(np.prod(wanted.shape[1:])))  # root of the sum → root of the mean
    return {
        name: Found(pixels.result(rows, size), features.result(rows, 1.0))
        for name, rows in _rows(groups)
    }


class _Nearest:
    """Keeps the nearest vector seen so far for each of the wanted ones (n, D)."""

    def __init__(self, wanted: NDArray[np.float32]) -> None:
        self.wanted = wanted
        self.index = np.full(len(wanted), -1, np.int64)
        self.square = np.full(len(wanted), np.inf)
        self.mirrored = np.zeros(len(wanted), np.bool_)

    def compare(self, seen: NDArray[np.float32], first: int, mirrored: bool) -> None:
        """Take in vectors (m, D); the first of them has the number ``first``."""
        best = _squares(self.wanted, seen).argmin(1)
        # The expanded square loses digits where two vectors are nearly equal: once more, exactly.
        gap = self.wanted.astype(np.float64) - seen[best]
        square = (gap * gap).sum(1)
        nearer = square < self.square
        self.index[nearer] = first + best[nearer]
        self.square[nearer] = square[nearer]
        self.mirrored[nearer] = mirrored

    def result(self, rows: slice, size: float) -> Neighbours:
        """Neighbours of some of the wanted vectors, distances divided by ``size``."""
        distance = np.sqrt(self.square[rows]) / size
        return Neighbours(self.index[rows], distance, self.mirrored[rows])


def _squares(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """|a_i − b_j|² (n, m) as |b_j|² − 2·a_i·b_j: |a_i|² does not change which j is nearest."""
    squares: NDArray[np.float32] = (b * b).sum(1) - 2 * (a @ b.T)
    return squares


def _flat(pictures: Pictures) -> NDArray[np.float32]:
    # Centred: the squares stay small, and float32 keeps their digits.
    return pictures.reshape(len(pictures), -1).astype(np.float32) - np.float32(127.5)


def _chunks(known: Sequence[Pictures]) -> Iterator[tuple[int, Pictures]]:
    """(number of the first picture, pictures in memory) in order."""
    first = 0
    for part in known:
        for start in range(0, len(part), CHUNK):
            chunk = np.array(part[start : start + CHUNK])
            yield first + start, chunk
        first += len(part)


def _rows(groups: Mapping[str, Pictures]) -> Iterator[tuple[str, slice]]:
    first = 0
    for name, part in groups.items():
        yield name, slice(first, first + len(part))
        first += len(part)
