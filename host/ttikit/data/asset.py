"""The head that every picture is made from: one mesh with blend shapes, in `assets/head.npz`.

The file is built by `ttikit.data.asset_build` from public-domain (CC0) data; see
`assets/LICENSE-head.md`.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ttikit.data import regions
from ttikit.errors import TtiError

HEAD_FILE = Path(__file__).parent / "assets" / "head.npz"

BODY, LEFT_EYE, RIGHT_EYE, TEETH, TONGUE, CLOTH, KNIT, SILK = range(8)
"""Materials of triangles. The first five are in the file, the others are worn."""

LIPS, EARS, EYELIDS, INNER_MOUTH, FACE = range(5)
"""Columns of `Head.masks`."""

SKULL_CENTRE = np.array([0.0, 7.45, 0.35])
"""Point from which the skull's radius is measured."""


@dataclass(frozen=True)
class RootPool:
    """Points on the head's surface from which strands grow.

    triangle (N,): index into `Head.triangles`; weights (N, 3): barycentric;
    points (N, 3): place on the unmodified head; density (N, 4): beard zones, else zeros.
    """

    triangle: np.ndarray
    weights: np.ndarray
    points: np.ndarray
    density: np.ndarray


@dataclass(frozen=True, eq=False)
class Head:
    """Mesh, masks and blend shapes, ready for the kernels.

    rest (V, 3): vertices in decimetres; triangles (T, 3); material (T,); masks (V, 5);
    occlusion (V,): share of open sky; targets: name to number; target_starts, target_vertices,
    target_deltas: the sparse blend shapes; skull_triangles, skull_weights (24, 40, 3): the
    surface point seen from `SKULL_CENTRE` in each direction.
    """

    rest: np.ndarray
    triangles: np.ndarray
    material: np.ndarray
    masks: np.ndarray
    occlusion: np.ndarray
    targets: dict[str, int]
    target_starts: np.ndarray
    target_vertices: np.ndarray
    target_deltas: np.ndarray
    skull_triangles: np.ndarray
    skull_weights: np.ndarray
    cranium: np.ndarray
    scalp_roots: RootPool
    beard_roots: RootPool

    def surface(self, values: np.ndarray, triangle: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Per-vertex values (V, 3) at points (N,) given by triangle and barycentrics: (N, 3)."""
        corners = values[self.triangles[triangle]]
        return (corners * weights[:, :, None]).sum(1)

    def skull_radius(self, vertices: np.ndarray) -> np.ndarray:
        """Radius map (24, 40) of a person's skull; 0 where no surface was found."""
        points = np.einsum("ptkc,ptk->ptc", vertices[self.skull_triangles], self.skull_weights)
        radius = np.linalg.norm(points - SKULL_CENTRE, axis=-1)
        radius[self.skull_weights.sum(-1) < 0.5] = 0
        return radius


def _scatter(
    rest: np.ndarray,
    triangles: np.ndarray,
    usable: np.ndarray,
    count: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spread `count` points evenly over the triangles `usable`."""
    a, b, c = (rest[triangles[usable, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    triangle = usable[rng.choice(len(usable), count, p=area / area.sum())]
    uv = rng.random((count, 2))
    outside = uv.sum(1) > 1
    uv[outside] = 1 - uv[outside]
    weights = np.stack([1 - uv.sum(1), uv[:, 0], uv[:, 1]], 1)
    points = np.einsum("nkc,nk->nc", rest[triangles[triangle]], weights)
    return triangle, weights, points


def _root_pools(
    rest: np.ndarray, triangles: np.ndarray, material: np.ndarray, masks: np.ndarray
) -> tuple[RootPool, RootPool]:
    """Scalp and beard roots; the same on every machine."""
    rng = np.random.default_rng(1)
    body = np.where(material == BODY)[0]
    corners = triangles[body]
    usable = body[
        (masks[corners][:, :, EARS].max(1) < 0.3)
        & (masks[corners][:, :, INNER_MOUTH].max(1) < 0.3)
        & (rest[corners][:, :, 1].min(1) > 5.9)
    ]
    triangle, weights, points = _scatter(rest, triangles, usable, 60_000, rng)
    keep = np.where(regions.hairline_many(points, -0.15, 0.5) > 0)[0][:14_000]
    none = np.zeros((len(keep), 4))
    scalp = RootPool(triangle[keep], weights[keep], points[keep], none)
    triangle, weights, points = _scatter(rest, triangles, usable, 120_000, rng)
    front = np.where((points[:, 1] < 7.5) & (points[:, 2] > 0.3))[0]
    density = regions.beard_zones_many(points[front])
    chosen = density.max(1) > 0.3
    keep = front[chosen]
    beard = RootPool(triangle[keep], weights[keep], points[keep], density[chosen])
    return scalp, beard


@lru_cache(maxsize=1)
def load_head() -> Head:
    """Read the head file and prepare it; cached for the process."""
    try:
        with np.load(HEAD_FILE) as file:
            data = {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError) as error:
        raise TtiError(f"cannot read {HEAD_FILE} ({error}): reinstall ttikit") from error
    rest = data["rest"].astype(np.float64)
    triangles = np.ascontiguousarray(data["triangles"])
    material = data["material"].astype(np.int32)
    masks = data["masks"].astype(np.float64)
    deltas = data["deltas"].astype(np.float32)
    target, vertex = np.nonzero(np.abs(deltas).max(2) > 0)
    cranium = np.where(
        (rest[:, 1] > 7.3)
        & (abs(rest[:, 0]) < 1.2)
        & (masks[:, EARS] < 0.3)
        & (masks[:, INNER_MOUTH] < 0.3)
    )[0]
    scalp, beard = _root_pools(rest, triangles, material, masks)
    return Head(
        rest=rest,
        triangles=triangles,
        material=material,
        masks=masks,
        occlusion=data["occlusion"].astype(np.float64),
        targets={str(name): i for i, name in enumerate(data["target_names"])},
        target_starts=np.searchsorted(target, np.arange(len(deltas) + 1)),
        target_vertices=vertex.astype(np.int64),
        target_deltas=np.ascontiguousarray(deltas[target, vertex], np.float64),
        skull_triangles=data["skull_triangles"],
        skull_weights=data["skull_weights"].astype(np.float64),
        cranium=cranium,
        scalp_roots=scalp,
        beard_roots=beard,
    )
