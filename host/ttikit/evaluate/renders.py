"""Renders of what each prompt demands: the judge's own errors, measured on the truth."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ttikit.errors import TtiError
from ttikit.evaluate.expectations import Expectation, written
from ttikit.evaluate.progress import progress

SEED = 20_000  # far from the seeds that data sets use
TRIES = 400_000  # people drawn in vain before a demand counts as impossible


def renders(expectations: Sequence[Expectation], seeds: int, cache: Path) -> NDArray[np.uint8]:
    """Render `seeds` people per expectation whose labels meet it: (prompts × seeds, 64, 64, 3).

    They are of no data set. Kept in `cache`. Raises TtiError for demands that nobody meets.
    """
    from ttikit.data.render import RENDERER_VERSION
    from ttikit.evaluate.reference_pictures import read_array, write_array

    key = zlib.crc32(f"{RENDERER_VERSION} {seeds} {written(expectations)}".encode())
    path = cache / f"renders-{key:08x}.npy"
    count = len(expectations) * seeds
    kept = read_array(path, count, (64, 64, 3), np.uint8)
    if kept is None:
        with progress("renders of the prompts", count) as advance:
            pictures = []
            for i, one in enumerate(expectations):
                for seed in range(seeds):
                    pictures.append(_render(one, [SEED, i, seed]))
                    advance()
        kept = np.stack(pictures)
        write_array(path, kept)
    return kept


def _render(expectation: Expectation, seed: list[int]) -> NDArray[np.uint8]:
    from ttikit.data.attributes import sample_attributes
    from ttikit.data.render import render_picture

    rng = np.random.default_rng(seed)
    for _ in range(TRIES):
        person = sample_attributes(rng)
        if expectation.met_by(person):
            return render_picture(person, rng)
    raise TtiError(f"nobody is what «{expectation.prompt}» demands: demand less")
