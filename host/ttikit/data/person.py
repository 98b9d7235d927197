"""From attributes to the shape of one person's head: weights of the blend shapes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ttikit.data.asset import Head
from ttikit.data.attributes import Attributes
from ttikit.data.raster import blend_targets

_OPPOSITES = (
    ("incr", "decr"),
    ("up", "down"),
    ("in", "out"),
    ("concave", "convex"),
    ("forward", "backward"),
    ("uncompress", "compress"),
)
_ORIGINS = ("caucasian", "asian", "african")
_HEAD_SHAPES = ("round", "square", "rectangular", "diamond", "triangular", "invertedtriangular")


@dataclass(frozen=True)
class Shape:
    """A person's head.

    vertices (V, 3); age: 0 young to 0.95 old; origin (3,): shares of the three macro shapes.
    """

    vertices: np.ndarray
    age: float
    origin: np.ndarray


class _Weights:
    """Collects target weights by name."""

    def __init__(self, head: Head) -> None:
        self.index = head.targets
        self.values = np.zeros(len(self.index))

    def add(self, name: str, value: float) -> None:
        """Add `value` to a target; unknown names are errors (KeyError)."""
        self.values[self.index[name]] += value

    def both_sides(self, name: str, value: float) -> None:
        self.add(name + "Left", value)
        self.add(name + "Right", value)


def _variation(base: str) -> float:
    """Standard deviation of a random detail, by its name."""
    if base.startswith("neck/") or "age" in base:
        return 0.08
    if base.startswith(("forehead/", "head/")):
        return 0.10
    if "trans" in base or "measure" in base:
        return 0.12
    if "double" in base or "scale" in base:
        return 0.14
    return 0.22


@dataclass(frozen=True)
class _Details:
    """Two-sided details: deviation (N,), targets for plus and minus (N,); asymmetries (M,)."""

    deviation: np.ndarray
    plus: np.ndarray
    minus: np.ndarray
    asymmetric: np.ndarray


@lru_cache(maxsize=1)
def _details(head: Head) -> _Details:
    deviation, plus, minus = [], [], []
    for name, number in head.targets.items():
        if "/" not in name or name.startswith(("fu/", "asym/")):
            continue
        for one, opposite in _OPPOSITES:
            other = head.targets.get(name[: -len(one)] + opposite)
            if name.endswith("-" + one) and other is not None:
                deviation.append(_variation(name))
                plus.append(number)
                minus.append(other)
    uneven = [number for name, number in head.targets.items() if name.startswith("asym/")]
    return _Details(np.array(deviation), np.array(plus), np.array(minus), np.array(uneven))


def build_shape(head: Head, person: Attributes, rng: np.random.Generator) -> Shape:
    """Draw a head that has the person's attributes and is random in everything else."""
    weights = _Weights(head)
    age = float(
        np.clip(rng.normal(0.08, 0.08) if person["Young"] else rng.normal(0.85, 0.1), 0, 1)
    )
    origin = _origin(person, rng)
    _macros(weights, person, age, origin, rng)
    _random_details(weights, head, person, rng)
    _face_shape(weights, person, rng)
    _features(weights, person, rng)
    _expression(weights, person, rng)
    active = np.flatnonzero(np.abs(weights.values) > 1e-3)
    vertices = blend_targets(
        head.rest,
        head.target_starts,
        head.target_vertices,
        head.target_deltas,
        active,
        weights.values[active],
    )
    vertices += head.rest[head.cranium].mean(0) - vertices[head.cranium].mean(0)
    return Shape(vertices, age, origin)


def _origin(person: Attributes, rng: np.random.Generator) -> np.ndarray:
    share = rng.dirichlet([0.9, 0.45, 0.3])
    if person["Dark_Skin"]:
        share = np.array([0.05, 0.05, 0.9]) * 0.7 + share * 0.3
    elif person["Pale_Skin"] or person["Blond_Hair"] or person["Red_Hair"]:
        share = np.array([0.9, 0.05, 0.05]) * 0.7 + share * 0.3
    share = share**1.6
    return share / share.sum()


def _macros(
    weights: _Weights, person: Attributes, age: float, origin: np.ndarray, rng: np.random.Generator
) -> None:
    """Sex, age, origin, weight and muscle: products of the macro targets."""
    male = float(np.clip((0.95 if person["Male"] else 0.04) + rng.normal() * 0.04, 0, 1))
    heavy = rng.normal(0.88, 0.08) if person["Chubby"] else rng.normal(0.36, 0.12)
    heavy = float(np.clip(heavy, 0.05, 1))
    muscle = float(np.clip(rng.normal(0.3, 0.2), 0, 1))
    builds = {"minweight": max(0.0, 1 - 2 * heavy), "maxweight": max(0.0, 2 * heavy - 1)}
    builds["averageweight"] = 1 - sum(builds.values())
    tones = {"averagemuscle": 1 - muscle, "maxmuscle": muscle}
    for sex, sex_share in (("female", 1 - male), ("male", male)):
        for years, age_share in (("young", 1 - age), ("old", age)):
            share = sex_share * age_share
            for name, part in zip(_ORIGINS, origin, strict=True):
                weights.add(f"{name}-{sex}-{years}", part * share)
            for tone, tone_share in tones.items():
                for build, build_share in builds.items():
                    name = f"universal-{sex}-{years}-{tone}-{build}"
                    # the average body is the rest shape itself and has no target
                    if name in weights.index:
                        weights.add(name, share * tone_share * build_share)


def _random_details(
    weights: _Weights, head: Head, person: Attributes, rng: np.random.Generator
) -> None:
    details = _details(head)
    value = np.clip(rng.normal(0, details.deviation), -0.6, 0.6)
    np.add.at(weights.values, np.where(value > 0, details.plus, details.minus), abs(value))
    weights.values[details.asymmetric] += abs(rng.normal(0, 0.06, len(details.asymmetric)))
    for shape in _HEAD_SHAPES:
        if rng.random() < 0.18 and not person["Oval_Face"]:
            weights.add(f"head/head-{shape}", rng.uniform(0.1, 0.5))


def _face_shape(weights: _Weights, person: Attributes, rng: np.random.Generator) -> None:
    between = rng.uniform
    if person["Oval_Face"]:
        weights.add("head/head-oval", between(0.7, 1.0))
    if person["Chubby"]:
        weights.add("head/head-fat-incr", between(0.6, 1.0))
        weights.add("cheek/cheek-volume-incr", between(0.6, 1.1))
    if person["Double_Chin"]:
        weights.add("neck/neck-double-incr", between(0.8, 1.2))
    if person["High_Cheekbones"]:
        weights.add("cheek/cheek-bones-incr", between(0.7, 1.1))
    if person["Male"]:
        weights.add("chin/chin-width-incr", between(0.1, 0.5))
        weights.add("chin/chin-bones-incr", between(0.1, 0.5))
        weights.add("eyebrows/eyebrows-trans-down", between(0.1, 0.4))
        weights.add("neck/neck-scale-horiz-incr", between(0.1, 0.4))
    else:
        weights.add("chin/chin-width-decr", between(0.2, 0.5))
        weights.add("chin/chin-bones-decr", between(0.2, 0.5))
        weights.add("eyes/eye-scale-incr", between(0.15, 0.35))
        weights.add("mouth/mouth-upperlip-volume-incr", between(0.1, 0.3))
        if not person["Big_Nose"]:
            weights.add("nose/nose-volume-decr", between(0.15, 0.45))
    if not person["Young"]:
        weights.add("head/head-age-incr", between(0.5, 0.9) - 0.25 * (1 - person["Male"]))
        weights.add("mouth/mouth-laugh-lines-in", between(0.5, 1.0))
        weights.add("eyes/eye-eyefold-down", between(0.2, 0.6))


def _features(weights: _Weights, person: Attributes, rng: np.random.Generator) -> None:
    between = rng.uniform
    if person["Big_Nose"]:
        for part in ("volume", "scale-horiz", "width2", "nostrils-width", "scale-depth"):
            weights.add(f"nose/nose-{part}-incr", between(0.6, 1.0))
    elif person["Pointy_Nose"]:
        for part in ("point-width-decr", "scale-depth-incr", "width2-decr", "width3-decr"):
            weights.add(f"nose/nose-{part}", between(0.7, 1.1))
    if person["Big_Lips"]:
        for part in ("lowerlip-height", "lowerlip-volume", "upperlip-height", "upperlip-volume"):
            weights.add(f"mouth/mouth-{part}-incr", between(0.5, 0.8))
    elif not person["Young"]:
        weights.add("mouth/mouth-upperlip-height-decr", between(0.2, 0.5))
    if person["Narrow_Eyes"]:
        for part in ("height1", "height2", "height3"):
            weights.add(f"eyes/eye-{part}-decr", between(0.5, 0.8))
        weights.both_sides("fu/eyeSquint", 0.5)
    else:
        weights.add("eyes/eye-height2-incr", between(0.3, 0.7))
        weights.add("eyes/eye-scale-incr", between(0.2, 0.5))
    if person["Bags_Under_Eyes"]:
        weights.add("eyes/eye-bag-incr", between(0.6, 1.0))


def _expression(weights: _Weights, person: Attributes, rng: np.random.Generator) -> None:
    between = rng.uniform
    if person["Smiling"]:
        _smile(weights, person["Mouth_Slightly_Open"], rng)
    elif person["Surprised"]:
        weights.add("fu/jawOpen", between(0.35, 0.6))
        weights.add("fu/mouthFunnel", between(0.2, 0.5))
        weights.add("fu/browInnerUp", between(0.7, 1.0))
        weights.both_sides("fu/eyeWide", between(0.7, 1.0))
        weights.both_sides("fu/browOuterUp", between(0.7, 1.0))
    elif person["Sad"]:
        weights.both_sides("fu/mouthFrown", between(0.8, 1.2))
        weights.add("fu/browInnerUp", between(0.8, 1.1))
        weights.add("fu/mouthShrugLower", between(0.2, 0.5))
    else:
        if person["Mouth_Slightly_Open"]:
            weights.add("fu/jawOpen", between(0.2, 0.4))
            weights.both_sides("fu/mouthUpperUp", between(0, 0.3))
            weights.both_sides("fu/mouthLowerDown", between(0, 0.3))
        if rng.random() < 0.15:
            weights.both_sides("fu/browDown", between(0.1, 0.6))
        if rng.random() < 0.10:
            weights.add("fu/mouthPucker", between(0.1, 0.4))
    if rng.random() < 0.2 and not person["Sad"]:
        weights.add("fu/browInnerUp", between(0.1, 0.4))
    weights.both_sides("fu/eyeBlink", between(0, 0.10))


def _smile(weights: _Weights, parted: int, rng: np.random.Generator) -> None:
    strength = rng.uniform(0.95, 1.25)
    weights.both_sides("fu/mouthSmile", strength * rng.uniform(0.95, 1.05))
    weights.both_sides("fu/cheekSquint", strength * 0.6)
    weights.both_sides("fu/mouthDimple", 0.3 * strength)
    weights.both_sides("fu/eyeSquint", 0.2 * strength)
    if parted:
        weights.add("fu/jawOpen", rng.uniform(0.14, 0.28))
        weights.both_sides("fu/mouthUpperUp", rng.uniform(0.55, 0.85))
        weights.both_sides("fu/mouthLowerDown", rng.uniform(0.35, 0.55))
