"""How well a classifier does: accuracy, balanced accuracy, area under the curve, thresholds.

Labels are 0, 1 or `UNKNOWN`; pictures whose label is unknown do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ttikit.data.attributes import UNKNOWN

ACCURACY = 0.97  # what an attribute needs to be clear: share of right answers …
BALANCED = 0.95  # … and mean of the shares among the pictures with it and without it
PASSED = 0.95  # both, after the autoencoder, which takes away a little of some attributes

SLACK = 0.002  # what a threshold may be worse than the best

RULE = (
    f"an attribute is clear if at least {ACCURACY:.0%} of the answers on held-out renders are "
    f"right and at least {BALANCED:.0%} in the mean of pictures with it and without it, and both "
    f"are at least {PASSED:.0%} on the same renders after the autoencoder"
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

    scores, labels = _known(scores, labels)
    positive = labels.astype(bool)
    count = int(positive.sum())
    pairs = count * (len(labels) - count)
    if pairs == 0:
        return 0.5
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / pairs)


def best_threshold(scores: NDArray[np.floating], labels: NDArray[np.uint8]) -> float:
    """Threshold with the best mean of accuracy and balanced accuracy, `SLACK` apart.

    The middle of all thresholds that are nearly as good as the best: with few pictures of a kind
    the very best one is chance. scores (N,) in (0, 1), labels (N,). 0.5 if all are the same.
    """
    scores, labels = _known(scores, labels)
    positive = labels.astype(bool)
    if positive.all() or not positive.any():
        return 0.5
    share = float(positive.mean())
    with_it, without = np.sort(scores[positive]), np.sort(scores[~positive])
    cuts = np.unique(scores)
    hits = 1 - np.searchsorted(with_it, cuts) / len(with_it)  # score >= cut
    rejected = np.searchsorted(without, cuts) / len(without)
    right = share * hits + (1 - share) * rejected
    value = (right + (hits + rejected) / 2) / 2
    good = np.flatnonzero(value >= value.max() - SLACK)
    # Down to the score before: every threshold between two scores divides the pictures alike.
    low, high = cuts[max(0, good[0] - 1)], cuts[good[-1]]
    return float(1 / (1 + np.exp(-(_logit(low) + _logit(high)) / 2)))


def _logit(share: float) -> float:
    share = min(max(float(share), 1e-6), 1 - 1e-6)
    return float(np.log(share / (1 - share)))


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
    """Figures of every attribute; probabilities and labels (N, A), limits (A,).

    Zeros for an attribute that no picture knows.
    """
    out: dict[str, Figures] = {}
    for i, name in enumerate(attributes):
        scores, known = _known(probabilities[:, i], labels[:, i])
        truth = known.astype(bool)
        right = (scores >= limits[i]) == truth
        # Without pictures of one kind the other kind stands for both.
        sides = [float(right[side].mean()) for side in (truth, ~truth) if side.any()]
        count = max(1, len(truth))
        out[name] = {
            "share": round(float(truth.sum()) / count, 4),
            "accuracy": round(float(right.sum()) / count, 4),
            "balanced": round(sum(sides) / max(1, len(sides)), 4),
            "auc": round(auc(scores, known), 4),
        }
    return out


def _known(
    scores: NDArray[np.floating], labels: NDArray[np.uint8]
) -> tuple[NDArray[np.floating], NDArray[np.uint8]]:
    known = labels != UNKNOWN
    return scores[known], labels[known]


def is_clear(renders: Figures, passed: Figures) -> bool:
    """Whether an attribute is measured soundly, by `RULE`; passed: after the autoencoder."""
    return (
        renders["accuracy"] >= ACCURACY
        and renders["balanced"] >= BALANCED
        and min(passed["accuracy"], passed["balanced"]) >= PASSED
    )
