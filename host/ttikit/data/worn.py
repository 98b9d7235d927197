"""Things worn that are meshes: hats, collars, neckties. All in the person's space."""

from dataclasses import dataclass

import numpy as np

from ttikit.data import palette
from ttikit.data.asset import BODY, CLOTH, KNIT, SILK, SKULL_CENTRE, Head
from ttikit.data.attributes import Attributes
from ttikit.data.look import Garment
from ttikit.data.strands import radius_many

_AROUND = 40


@dataclass(frozen=True)
class Part:
    """A worn mesh: vertices (N, 3), triangles (T, 3), one material, one linear RGB colour."""

    vertices: np.ndarray
    triangles: np.ndarray
    material: int
    colour: np.ndarray


@dataclass(frozen=True)
class Hat:
    """A hat: its parts and the cap within which it presses the hair flat.

    Hair whose root lies nearer than `angle` (radians, seen from the skull's centre) to `axis`
    is hidden.
    """

    parts: list[Part]
    axis: np.ndarray
    angle: float


def grid_triangles(rows: int, columns: int, closed: bool) -> np.ndarray:
    """Triangles (T, 3) of a grid of vertices; `closed` joins the last column to the first."""
    row, column = np.mgrid[0 : rows - 1, 0 : columns if closed else columns - 1]
    a = (row * columns + column).ravel()
    b = (row * columns + (column + 1) % columns).ravel()
    c, d = a + columns, b + columns
    return np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)]).astype(np.int32)


def _grid_part(grid: np.ndarray, closed: bool, material: int, colour: np.ndarray) -> Part:
    rows, columns, _ = grid.shape
    return Part(grid.reshape(-1, 3), grid_triangles(rows, columns, closed), material, colour)


def _ramp(low: float, high: float, x: np.ndarray) -> np.ndarray:
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def make_hat(radius: np.ndarray, rng: np.random.Generator) -> Hat:
    """A beanie, a cap or a hat with a brim, fitted to the skull's radius map (24, 40)."""
    kind = str(rng.choice(["beanie", "cap", "brim"], p=[0.35, 0.35, 0.30]))
    colour = palette.pick(rng, palette.CLOTH)
    reach, tilt, gap = {
        "beanie": (rng.uniform(1.42, 1.52), -0.16, 0.10),
        "cap": (rng.uniform(1.36, 1.44), -0.10, 0.10),
        "brim": (rng.uniform(1.32, 1.42), -0.14, 0.12),
    }[kind]
    polar = np.linspace(0.001, reach, 14)
    azimuth = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
    p, a = np.meshgrid(polar, azimuth, indexing="ij")
    direction = np.stack([np.sin(p) * np.sin(a), np.cos(p), np.sin(p) * np.cos(a)], -1)
    cos_tilt, sin_tilt = np.cos(tilt), np.sin(tilt)
    turn = np.array([[1, 0, 0], [0, cos_tilt, -sin_tilt], [0, sin_tilt, cos_tilt]])
    direction = direction @ turn.T
    skull = radius_many(radius, direction.reshape(-1, 3)).reshape(p.shape)
    skull = np.maximum(skull, skull.mean(1, keepdims=True) * 0.92)
    height = np.cos(p)
    puff = {"beanie": 0.12 * height, "cap": 0.10 * height, "brim": 0.10 + 0.18 * height**2}[kind]
    crown = SKULL_CENTRE + direction * (skull + gap + puff)[..., None]
    parts = [_grid_part(crown, True, KNIT if kind == "beanie" else CLOTH, colour)]
    if kind == "beanie":
        parts.append(_turn_up(crown[-1], colour))
    elif kind == "cap":
        parts.append(_visor(crown[-1], azimuth, colour))
    else:
        parts.extend(_brim(crown, colour, rng))
    return Hat(parts, turn @ np.array([0.0, 1.0, 0.0]), reach)


def _turn_up(edge: np.ndarray, colour: np.ndarray) -> Part:
    outwards = edge - SKULL_CENTRE
    outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
    lower = edge + outwards * 0.05 + [0, -0.02, 0]
    upper = edge + outwards * 0.06 + [0, 0.30, 0]
    return _grid_part(np.stack([lower, upper]), True, KNIT, colour * 0.85)


def _level(edge: np.ndarray) -> np.ndarray:
    outwards = edge - SKULL_CENTRE
    outwards[:, 1] = 0
    return outwards / np.linalg.norm(outwards, axis=1, keepdims=True)


def _visor(edge: np.ndarray, azimuth: np.ndarray, colour: np.ndarray) -> Part:
    outwards = _level(edge)
    front = _ramp(0.25, 0.8, np.maximum(0, np.cos(azimuth)))[:, None]
    rows = []
    for k in np.linspace(0, 1, 6):
        drop = front * (0.10 * k + 0.18 * k * k) + front * np.abs(outwards[:, :1]) * 0.12 * k
        rows.append(edge + outwards * front * 0.85 * k - drop * [0, 1, 0])
    return _grid_part(np.stack(rows), True, CLOTH, colour)


def _brim(crown: np.ndarray, colour: np.ndarray, rng: np.random.Generator) -> list[Part]:
    edge = crown[-1]
    outwards = _level(edge)
    rows = []
    for k in np.linspace(0, 1, 6):
        rise = 0.20 * k * outwards[:, :1] ** 2 - 0.10 * k * outwards[:, 2:3]
        rows.append(edge + outwards * 0.55 * k + rise * [0, 1, 0])
    band = np.stack([edge + outwards * 0.015, crown[-3] + outwards * 0.03])
    band_colour = palette.pick(rng, palette.CLOTH) * 0.6
    return [
        _grid_part(np.stack(rows), True, CLOTH, colour * 0.85),
        _grid_part(band, True, CLOTH, band_colour),
    ]


def front_profile(head: Head, vertices: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """z (N,) of neck and chest in the middle, at the given heights."""
    rest = head.rest
    body = np.zeros(len(rest), bool)
    body[np.unique(head.triangles[head.material == BODY])] = True
    middle = body & (abs(rest[:, 0]) < 0.08) & (rest[:, 2] > 0.55) & (rest[:, 1] < 6.05)
    order = np.argsort(vertices[middle, 1])
    return np.interp(heights, vertices[middle, 1][order], vertices[middle, 2][order])


def make_collar(head: Head, vertices: np.ndarray, garment: Garment, open_neck: bool) -> list[Part]:
    """Two wings of a shirt's collar: strips around the neck that end in points at the front."""
    rest = head.rest
    ring = (abs(rest[:, 1] - 5.93) < 0.14) & (abs(rest[:, 0]) < 0.62) & (rest[:, 2] < 0.9)
    neck = vertices[ring]
    centre = np.array([0.0, (neck[:, 2].min() + neck[:, 2].max()) / 2])
    half_x = np.percentile(abs(neck[:, 0]), 70) + 0.07
    half_z = (neck[:, 2].max() - neck[:, 2].min()) / 2 + 0.09
    angle = np.linspace(0.16 if open_neck else 0.04, np.pi, 12)
    back = angle / np.pi
    point = np.exp(-(((angle - 0.55) / 0.35) ** 2))
    parts = []
    for side in (-1, 1):
        rows = []
        for k, grow in ((0.0, 0.0), (0.5, 0.05), (1.0, 0.13)):
            x = side * np.sin(angle) * (half_x + grow)
            z = centre[1] + np.cos(angle) * (half_z + grow + 0.06 * k * point)
            y = 5.93 + 0.16 * back - k * (0.17 + 0.20 * point)
            rows.append(np.stack([x, y, z], -1))
        grid = np.stack(rows)
        parts.append(_grid_part(grid, False, CLOTH, garment.shirt_colour * 0.97))
    return parts


def make_necktie(head: Head, vertices: np.ndarray, rng: np.random.Generator) -> Part:
    """A necktie: the knot between the collar's wings, widening down the chest."""
    heights = np.array([5.88, 5.80, 5.64, 5.58, 5.3, 4.9, 4.4])
    widths = np.array([0.10, 0.14, 0.10, 0.10, 0.17, 0.23, 0.27])
    ahead = np.array([0.10, 0.17, 0.16, 0.11, 0.12, 0.12, 0.12])
    z = np.maximum.accumulate(front_profile(head, vertices, heights)) + ahead
    left = np.stack([-widths, heights, z - 0.03], 1)
    middle = np.stack([np.zeros(7), heights, z], 1)
    right = np.stack([widths, heights, z - 0.03], 1)
    grid = np.stack([left, middle, right], 1)
    return _grid_part(grid, False, SILK, palette.pick(rng, palette.TIE))


def worn_parts(
    person: Attributes,
    kind: str,
    garment: Garment,
    head: Head,
    vertices: np.ndarray,
    rng: np.random.Generator,
) -> list[Part]:
    """Collar and tie of a person in the given kind of top."""
    parts: list[Part] = []
    if kind in ("shirt", "suit"):
        shirt = garment if kind == "suit" else garment._replace(shirt_colour=garment.colour)
        parts += make_collar(head, vertices, shirt, open_neck=not person["Wearing_Necktie"])
    if person["Wearing_Necktie"]:
        parts.append(make_necktie(head, vertices, rng))
    return parts
