"""Figures from what the judge saw: presence of attributes, failures, distances of people.

Everything here is arithmetic on arrays; who drew the pictures does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ttikit.data.attributes import INDEX
from ttikit.evaluate.expectations import GENDER, GLASSES, Demand, Expectation
from ttikit.evaluate.settings import PRESENCE, PRESENCE_SURE

Seen = NDArray[np.bool_]  # (pictures, attributes)
Features = NDArray[np.float32]  # (pictures, D)


@dataclass(frozen=True)
class Share:
    """`met` of `count` pictures."""

    met: int = 0
    count: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.met + other.met, self.count + other.count)

    @property
    def value(self) -> float:
        """0 to 1; NaN if nothing was counted."""
        return self.met / self.count if self.count else float("nan")


@dataclass
class Presence:
    """How often each demand is met: in prompts of common combinations, and in rare ones."""

    common: dict[Demand, Share] = field(default_factory=dict)
    rare: dict[Demand, Share] = field(default_factory=dict)

    def of(self, demand: Demand) -> Share:
        """Return the share over all prompts that demand it."""
        return self.common.get(demand, Share()) + self.rare.get(demand, Share())

    def demands(self) -> list[Demand]:
        """Return all demands, in the order in which they were met first."""
        return list(dict.fromkeys([*self.common, *self.rare]))

    def overall(self, demands: Collection[Demand] | None = None) -> Share:
        """Return the share over all demands, or over the given ones."""
        kept = self.demands() if demands is None else demands
        return sum((self.of(demand) for demand in kept), Share())


def blocks(expectations: Sequence[Expectation], seen: Seen) -> Iterator[tuple[Expectation, Seen]]:
    """Pair each expectation with its pictures; `seen` holds equally many of each, in order."""
    each, rest = divmod(len(seen), len(expectations))
    if rest:
        raise ValueError(f"{len(seen)} pictures do not divide by {len(expectations)} prompts")
    for i, one in enumerate(expectations):
        yield one, seen[i * each : (i + 1) * each]


def presence(expectations: Sequence[Expectation], seen: Seen) -> Presence:
    """Count how often each demand is met in pictures `seen` (prompts × seeds, A)."""
    out = Presence()
    for one, part in blocks(expectations, seen):
        group = out.rare if one.rare else out.common
        for demand in one.demands:
            share = Share(int(demand.met(part).sum()), len(part))
            group[demand] = group.get(demand, Share()) + share
    return out


@dataclass(frozen=True)
class Failure:
    """A picture in which something is missing; `index` counts prompts × seeds."""

    index: int
    prompt: str
    seed: int
    missing: tuple[Demand, ...]
    severity: float  # sum of how far the judge was from its thresholds, for sorting


def failures(
    expectations: Sequence[Expectation],
    seen: Seen,
    clear: Collection[str],
    margins: NDArray[np.float32],
) -> list[Failure]:
    """Return the pictures that lack the prompted gender, age, glasses or clear attributes.

    margins (pictures, A): how far the judge's probability lies from its threshold. Worst first.
    """
    found = []
    each = len(seen) // len(expectations)
    for i, (one, part) in enumerate(blocks(expectations, seen)):
        demands = one.judged(clear)
        met = np.array([demand.met(part) for demand in demands])
        for seed in range(each):
            index = i * each + seed
            lacking = tuple(
                demand for demand, ok in zip(demands, met[:, seed], strict=True) if not ok
            )
            if lacking:
                severity = sum(_margin(demand, margins[index]) for demand in lacking)
                found.append(Failure(index, one.prompt, seed, lacking, severity))
    return sorted(found, key=lambda one: (-one.severity, one.index))


def _margin(demand: Demand, margins: NDArray[np.float32]) -> float:
    return float(max(abs(margins[INDEX[name]]) for name in demand.names))


def limit_of(demand: Demand) -> float:
    """Return the share of pictures that must meet it: more for gender and glasses."""
    sure = {GENDER, *GLASSES}
    return PRESENCE_SURE if sure.issuperset(demand.names) else PRESENCE


def pair_distances(features: Features, groups: int) -> NDArray[np.float64]:
    """Euclidean distances of all pairs inside each of `groups` equal, consecutive groups."""
    each = len(features) // groups
    if each < 2:
        return np.empty(0)
    pairs = np.array(list(combinations(range(each), 2)))
    split = features[: groups * each].astype(np.float64).reshape(groups, each, -1)
    gaps = split[:, pairs[:, 0]] - split[:, pairs[:, 1]]
    return np.sqrt((gaps**2).sum(axis=-1)).ravel()


def stranger_distances(features: Features, pairs: int = 4096, seed: int = 0) -> NDArray:
    """Euclidean distances of random pairs of different rows: how far two people are apart."""
    rng = np.random.default_rng(seed)
    first = rng.integers(len(features), size=pairs)
    second = (first + rng.integers(1, len(features), size=pairs)) % len(features)
    gaps = features[first].astype(np.float64) - features[second]
    return np.sqrt((gaps**2).sum(axis=-1))
