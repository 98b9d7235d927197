"""Which strands a person grows: scalp hair and beard, from the roots to the fibres."""

from dataclasses import dataclass

import numpy as np

from ttikit.data import strands
from ttikit.data.asset import SKULL_CENTRE, Head, RootPool
from ttikit.data.attributes import Attributes
from ttikit.data.look import Look
from ttikit.data.regions import hairline_many
from ttikit.data.strands import Fibre, HairStyle, Strands
from ttikit.data.styling import Colours, beard_density
from ttikit.data.worn import Hat

_SCALP_STRANDS = 3000
_BEARD_STRANDS = 5000
_SHOWN_BEHIND = 0.35
_WHITE = np.array([0.2, 0.2, 0.2])


@dataclass(frozen=True)
class Tuft:
    """Strands that share one kind of fibre."""

    strands: Strands
    fibre: Fibre


@dataclass(frozen=True)
class _Skin:
    """Where strands start: the person's surface and the radius map of the skull."""

    head: Head
    vertices: np.ndarray
    normals: np.ndarray
    radius: np.ndarray

    def grow(
        self,
        pool: RootPool,
        chosen: np.ndarray,
        style: HairStyle,
        segments: int,
        rng: np.random.Generator,
    ) -> Strands:
        triangle, weights = pool.triangle[chosen], pool.weights[chosen]
        chance = rng.random((len(chosen), 4))
        points, layer = strands.grow(
            self.head.surface(self.vertices, triangle, weights),
            self.head.surface(self.normals, triangle, weights),
            pool.points[chosen],
            chance,
            self.radius,
            SKULL_CENTRE,
            style,
            segments,
        )
        return Strands(points, layer, chance)


def grow_all(
    person: Attributes,
    head: Head,
    vertices: np.ndarray,
    normals: np.ndarray,
    radius: np.ndarray,
    look: Look,
    colours: Colours,
    style: HairStyle | None,
    hat: Hat | None,
    unit: float,
    rng: np.random.Generator,
) -> list[Tuft]:
    """All strands of a person; `unit` is one final pixel (of 64) in supersampled pixels."""
    skin = _Skin(head, vertices, normals, radius)
    tufts = []
    if style is not None:
        tufts.append(_scalp(person, skin, look, colours, style, hat, unit, rng))
    density = beard_density(person)
    if density.max() > 0:
        tufts += _beard(person, skin, colours, density, unit, rng)
    return tufts


def _scalp(
    person: Attributes,
    skin: _Skin,
    look: Look,
    colours: Colours,
    style: HairStyle,
    hat: Hat | None,
    unit: float,
    rng: np.random.Generator,
) -> Tuft:
    pool = skin.head.scalp_roots
    chosen = rng.integers(0, len(pool.triangle), _SCALP_STRANDS)
    points = pool.points[chosen]
    behind = hairline_many(points, look.receding, look.hairline_low)
    grows = behind + rng.normal(0, 0.025, len(points)) > 0
    if hat is not None:
        surface = skin.head.surface(skin.vertices, pool.triangle[chosen], pool.weights[chosen])
        direction = surface - SKULL_CENTRE
        cosine = direction @ hat.axis / np.linalg.norm(direction, axis=1)
        grows &= np.arccos(np.clip(cosine, -1, 1)) > hat.angle - 0.10
    if person["Bald"]:
        grows &= points[:, 1] < 7.72
    # the back of the head hardly shows: most of its strands would be drawn for nothing
    grows &= (points[:, 2] > 0.15) | (rng.random(len(points)) < _SHOWN_BEHIND)
    grown = skin.grow(pool, chosen[grows], style, 13 if person["Long_Hair"] else 9, rng)
    lighter = 1.0 if person["Black_Hair"] else rng.uniform(1.0, 1.4)
    tip = colours.hair * lighter
    gloss = (0.05, 0.15) if person["Black_Hair"] else (0.10, 0.25)
    fibre = Fibre(colours.hair, tip, _WHITE, 0.0, 0.75 * unit, 0.55, *gloss)
    return Tuft(grown, fibre)


def _beard(
    person: Attributes,
    skin: _Skin,
    colours: Colours,
    density: np.ndarray,
    unit: float,
    rng: np.random.Generator,
) -> list[Tuft]:
    pool = skin.head.beard_roots
    chosen = rng.integers(0, len(pool.triangle), _BEARD_STRANDS)
    weighted = pool.density[chosen] * density
    grows = weighted.max(1) > rng.random(len(chosen)) * 0.9 + 0.1
    chosen, zone = chosen[grows], weighted[grows].argmax(1)
    length = rng.uniform(0.08, 0.16) if rng.random() < 0.6 else rng.uniform(0.2, 0.5)
    salt = 0.12 if not person["Young"] and colours.hair_name != "Gray_Hair" else 0.0
    fibre = Fibre(colours.beard, colours.beard * 1.15, _WHITE, salt, 0.45 * unit, 0.35, 0.03, 0.1)
    kinds = (
        (strands.MOUSTACHE_HAIR, zone == 0, rng.uniform(0.08, 0.16)),
        (strands.BEARD, (zone == 1) | (zone == 2), length),
        (strands.BEARD, zone == 3, 0.08),
    )
    tufts = []
    for comb, members, long in kinds:
        if members.sum() < 5:
            continue
        style = HairStyle(
            comb, long, long, long, frizz=0.10, volume=0.03, spread=0.3, curl=0.01, seed=7
        )
        tufts.append(Tuft(skin.grow(pool, chosen[members], style, 6, rng), fibre))
    return tufts
