"""How often each picture is drawn: pictures with a rare attribute more often than the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 4.0  # how many times as often as a common picture the rarest one is drawn
TARGET = 0.12  # share of the pictures below which an attribute is rare
UNWANTED = ("Blurry",)  # rare, but nothing that more pictures should teach


def picture_weights(
    labels: NDArray[np.uint8], attributes: Sequence[str], most: float = MOST
) -> NDArray[np.float64]:
    """Weights (N,) from 1 to ``most`` for labels (N, attributes).

    An attribute that a share f of the pictures has weighs TARGET / f, within those bounds; a
    picture weighs as much as the rarest of its attributes. With 1 for ``most`` all weigh 1.
    """
    present = labels == 1
    share = present.mean(0, dtype=np.float64) if len(labels) else np.ones(labels.shape[1])
    weight = np.clip(TARGET / np.maximum(share, 1e-9), 1.0, max(most, 1.0))
    weight[[i for i, name in enumerate(attributes) if name in UNWANTED]] = 1.0
    return np.where(present, weight, 1.0).max(1, initial=1.0)


class Draw:
    """Draws pictures by index, evenly where ``weights`` are None or all the same."""

    def __init__(self, count: int, weights: NDArray[np.float64] | None = None) -> None:
        self.count = count
        self._limits: NDArray[np.float64] | None = None
        if weights is not None and np.ptp(weights) > 0:
            total = np.cumsum(weights)
            self._limits = total / total[-1]

    def __call__(self, rng: np.random.Generator, batch: int) -> NDArray[np.int64]:
        """Indices (batch,) below ``count``, with repetition."""
        if self._limits is None:
            return rng.integers(self.count, size=batch)
        return self._limits.searchsorted(rng.random(batch), side="right")
