"""How well a classifier does: accuracy, balanced accuracy, area under the curve, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

ACCURACY = 0.97  # what an attribute needs to be clear: share of right answers …
BALANCED = 0.95  # … and mean of the shares among the pictures with it and without it

RULE = (
    f"an attribute is clear if, on the held-out renders and on the same renders after the "
    f"autoencoder, at least {ACCURACY:.0%} of the answers are right, and at least {BALANCED:.0%} "
    f"in the mean of pictures with and without it"
)


class Figures(TypedDict):
    """How often a classifier is right about one attribute; shares from 0 to 1."""

    share: float  # of pictures that have the attribute
    accuracy: float
    balanced: float
    auc: float


def auc(scores: NDArray[np.floating], labels: NDArray[np.uint8]) -> float:
    """Area under the ROC curve: how likely a picture with the label scores above one without.

    Mann-Whitney's U over the number of pairs, equal scores counting one half (Hanley & McNeil
    1982). scores, labels (N,). 0.5 if a kind is missing.
    """
    from scipy.stats import rankdata

    positive = labels.astype(bool)
    count = int(positive.sum())
    pairs = count * (len(labels) - count)
    if pairs == 0:
        return 0.5
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / pairs)


def best_threshold(scores: NDArray[np.floating], labels: NDArray[np.uint8]) -> float:
    """Threshold with the highest balanced accuracy; the middle of the best range.

    scores (N,) in [0, 1], labels (N,). 0.5 if all labels are the same.
    """
    positive = labels.astype(bool)
    if positive.all() or not positive.any():
        return 0.5
    cuts = np.unique(scores)
    if len(cuts) < 2:
        return 0.5
    with_it, without = np.sort(scores[positive]), np.sort(scores[~positive])
    hits = 1 - np.searchsorted(with_it, cuts) / len(with_it)  # score >= cut
    rejected = np.searchsorted(without, cuts) / len(without)
    balanced = (hits + rejected) / 2
    best = int(balanced.argmax())
    # Any threshold between the score before and the best cut divides the pictures alike.
    below = cuts[best - 1] if best else 0.0
    return float((below + cuts[best]) / 2)


def thresholds(
    probabilities: NDArray[np.floating], labels: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """`best_threshold` of each column; both (N, A)."""
    columns = range(labels.shape[1])
    values = [best_threshold(probabilities[:, i], labels[:, i]) for i in columns]
    return np.array(values, np.float32)


def figures(
    probabilities: NDArray[np.floating],
    labels: NDArray[np.uint8],
    limits: NDArray[np.floating],
    attributes: Sequence[str],
) -> dict[str, Figures]:
    """Figures of every attribute; probabilities and labels (N, A), limits (A,)."""
    out: dict[str, Figures] = {}
    for i, name in enumerate(attributes):
        truth = labels[:, i].astype(bool)
        right = (probabilities[:, i] >= limits[i]) == truth
        # Without pictures of one kind the other kind stands for both.
        sides = [float(right[side].mean()) for side in (truth, ~truth) if side.any()]
        out[name] = {
            "share": round(float(truth.mean()), 4),
            "accuracy": round(float(right.mean()), 4),
            "balanced": round(sum(sides) / len(sides), 4),
            "auc": round(auc(probabilities[:, i], labels[:, i]), 4),
        }
    return out


def is_clear(*found: Figures) -> bool:
    """Whether an attribute is measured soundly in all of these circumstances."""
    return all(f["accuracy"] >= ACCURACY and f["balanced"] >= BALANCED for f in found)
