"""Compiled geometry kernels: blend shapes, projection, z-buffer, normals and the shadow map.

World space: +x is the viewer's right, +y up, +z towards the camera, in decimetres.
Screen space: x right, y down in pixels; the third column keeps the world's z for the z-buffer.
"""

from math import floor, sqrt
from typing import NamedTuple

import numba as nb
import numpy as np

from ttikit.data.noise import JIT, smoothstep

FAR = -1e9
"""Depth of an empty pixel; larger z is nearer to the camera."""


class Light(NamedTuple):
    """The key light with the frame of its shadow map.

    direction, right, up: unit vectors (3,) in world space; direction points to the light.
    origin_x, origin_y: centre of the map along right and up; scale: texels a unit.
    key, sky, ground: linear RGB of the key light and of the light from above and below.
    """

    direction: np.ndarray
    right: np.ndarray
    up: np.ndarray
    origin_x: float
    origin_y: float
    scale: float
    texels: int
    key: np.ndarray
    sky: np.ndarray
    ground: np.ndarray


class Camera(NamedTuple):
    """Perspective camera on the z axis: `focal` pixels, `distance` from the plane `plane_z`.

    (eye_x, eye_y) in world space lands on pixel (centre_x, centre_y).
    """

    focal: float
    centre_x: float
    centre_y: float
    distance: float
    plane_z: float
    eye_x: float
    eye_y: float


@nb.njit(**JIT)
def blend_targets(
    rest: np.ndarray,
    starts: np.ndarray,
    vertices: np.ndarray,
    deltas: np.ndarray,
    active: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Add sparse targets to `rest` (N, 3): target t owns rows starts[t]:starts[t+1]."""
    out = rest.copy()
    for a in range(len(active)):
        w = weights[a]
        for r in range(starts[active[a]], starts[active[a] + 1]):
            v = vertices[r]
            out[v, 0] += w * deltas[r, 0]
            out[v, 1] += w * deltas[r, 1]
            out[v, 2] += w * deltas[r, 2]
    return out


@nb.njit(**JIT)
def vertex_normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (N, 3), each the area-weighted mean of the triangles around a vertex."""
    out = np.zeros((len(points), 3))
    for t in range(triangles.shape[0]):
        a = triangles[t, 0]
        b = triangles[t, 1]
        c = triangles[t, 2]
        ux = points[b, 0] - points[a, 0]
        uy = points[b, 1] - points[a, 1]
        uz = points[b, 2] - points[a, 2]
        vx = points[c, 0] - points[a, 0]
        vy = points[c, 1] - points[a, 1]
        vz = points[c, 2] - points[a, 2]
        nx = uy * vz - uz * vy
        ny = uz * vx - ux * vz
        nz = ux * vy - uy * vx
        for q in (a, b, c):
            out[q, 0] += nx
            out[q, 1] += ny
            out[q, 2] += nz
    for i in range(len(points)):
        length = sqrt(out[i, 0] ** 2 + out[i, 1] ** 2 + out[i, 2] ** 2) + 1e-12
        out[i, 0] /= length
        out[i, 1] /= length
        out[i, 2] /= length
    return out


@nb.njit(**JIT)
def turn_points(
    points: np.ndarray, head: np.ndarray, body: np.ndarray, pivot: np.ndarray
) -> np.ndarray:
    """Turn points (N, 3) about `pivot`: by `head` above the neck, by `body` below, blended."""
    out = np.empty_like(points)
    turn = np.empty((3, 3))
    for i in range(len(points)):
        w = smoothstep(5.45, 6.5, points[i, 1])
        x = points[i, 0] - pivot[0]
        y = points[i, 1] - pivot[1]
        z = points[i, 2] - pivot[2]
        for r in range(3):
            for c in range(3):
                turn[r, c] = head[r, c] * w + body[r, c] * (1 - w)
            out[i, r] = turn[r, 0] * x + turn[r, 1] * y + turn[r, 2] * z + pivot[r]
    return out


@nb.njit(**JIT)
def project_points(points: np.ndarray, camera: Camera) -> np.ndarray:
    """World points (N, 3) to screen x, y and world z."""
    out = np.empty_like(points)
    for i in range(points.shape[0]):
        k = camera.focal / (camera.distance - (points[i, 2] - camera.plane_z))
        out[i, 0] = camera.centre_x + (points[i, 0] - camera.eye_x) * k
        out[i, 1] = camera.centre_y - (points[i, 1] - camera.eye_y) * k
        out[i, 2] = points[i, 2]
    return out


@nb.njit(**JIT)
def fill_triangles(
    screen: np.ndarray,
    triangles: np.ndarray,
    depth: np.ndarray,
    index: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Z-buffer all triangles: depth (H, W), triangle index (H, W), two barycentrics (H, W, 2)."""
    height, width = depth.shape
    for t in range(triangles.shape[0]):
        ia = triangles[t, 0]
        ib = triangles[t, 1]
        ic = triangles[t, 2]
        ax = screen[ia, 0]
        ay = screen[ia, 1]
        bx = screen[ib, 0]
        by = screen[ib, 1]
        cx = screen[ic, 0]
        cy = screen[ic, 1]
        left = min(ax, min(bx, cx))
        right = max(ax, max(bx, cx))
        top = min(ay, min(by, cy))
        bottom = max(ay, max(by, cy))
        if right < 0 or bottom < 0 or left > width - 1 or top > height - 1:
            continue
        area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy)
        if abs(area) < 1e-9:
            continue
        az = screen[ia, 2]
        bz = screen[ib, 2]
        cz = screen[ic, 2]
        for y in range(max(0, int(top)), min(height - 1, int(bottom) + 1) + 1):
            for x in range(max(0, int(left)), min(width - 1, int(right) + 1) + 1):
                w0 = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / area
                w1 = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / area
                w2 = 1 - w0 - w1
                if w0 >= -1e-5 and w1 >= -1e-5 and w2 >= -1e-5:
                    z = w0 * az + w1 * bz + w2 * cz
                    if z > depth[y, x]:
                        depth[y, x] = z
                        index[y, x] = t
                        weights[y, x, 0] = w0
                        weights[y, x, 1] = w1


@nb.njit(**JIT)
def shrink(image: np.ndarray, alpha: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Box-filter (H, W, 3) premultiplied by alpha, and alpha (H, W), by `step`; light <= 3."""
    height = image.shape[0] // step
    width = image.shape[1] // step
    out = np.zeros((height, width, 3))
    cover = np.zeros((height, width))
    share = 1.0 / (step * step)
    for y in range(height * step):
        for x in range(width * step):
            a = min(1.0, alpha[y, x]) * share
            if a > 0:
                cover[y // step, x // step] += a
                for ch in range(3):
                    out[y // step, x // step, ch] += min(3.0, image[y, x, ch]) * a
    return out, cover


@nb.njit(**JIT)
def light_space(points: np.ndarray, light: Light) -> np.ndarray:
    """World points (N, 3) to texel x, texel y and depth towards the light."""
    r = light.right
    u = light.up
    d = light.direction
    half = light.texels / 2
    out = np.empty((points.shape[0], 3))
    for i in range(points.shape[0]):
        x = points[i, 0]
        y = points[i, 1]
        z = points[i, 2]
        out[i, 0] = (x * r[0] + y * r[1] + z * r[2] - light.origin_x) * light.scale + half
        out[i, 1] = (x * u[0] + y * u[1] + z * u[2] - light.origin_y) * light.scale + half
        out[i, 2] = x * d[0] + y * d[1] + z * d[2]
    return out


@nb.njit(**JIT)
def shadow_map(
    points: np.ndarray, triangles: np.ndarray, strand_points: np.ndarray, light: Light
) -> np.ndarray:
    """Nearest depth to the light (texels, texels), from triangles and from points of strands."""
    n = light.texels
    out = np.full((n, n), FAR)
    index = np.empty((n, n), np.int32)
    weights = np.empty((n, n, 2))
    fill_triangles(light_space(points, light), triangles, out, index, weights)
    strands = light_space(strand_points, light)
    for i in range(strands.shape[0]):
        x = int(strands[i, 0])
        y = int(strands[i, 1])
        if 0 <= x < n and 0 <= y < n and strands[i, 2] - 0.03 > out[y, x]:
            out[y, x] = strands[i, 2] - 0.03
    return out


@nb.njit(**JIT)
def lit_share(
    shadows: np.ndarray, x: float, y: float, z: float, light: Light, bias: float
) -> float:
    """Share of the key light (0 to 1) that reaches a world point: 4x4 texels, tent filter."""
    r = light.right
    u = light.up
    d = light.direction
    n = light.texels
    fx = (x * r[0] + y * r[1] + z * r[2] - light.origin_x) * light.scale + n / 2
    fy = (x * u[0] + y * u[1] + z * u[2] - light.origin_y) * light.scale + n / 2
    depth = x * d[0] + y * d[1] + z * d[2] + bias
    i0 = floor(fx)
    j0 = floor(fy)
    if i0 < 1 or j0 < 1 or i0 > n - 3 or j0 > n - 3:
        return 1.0
    lit = 0.0
    total = 0.0
    for j in range(-1, 3):
        for i in range(-1, 3):
            k = (2.0 - abs(fx - i0 - i)) * (2.0 - abs(fy - j0 - j))
            if k > 0:
                total += k
                if shadows[j0 + j, i0 + i] < depth:
                    lit += k
    return lit / (total + 1e-9)


@nb.njit(**JIT)
def lit_share_fast(
    shadows: np.ndarray, x: float, y: float, z: float, light: Light, bias: float
) -> float:
    """Like `lit_share` with five texels, for hair."""
    r = light.right
    u = light.up
    d = light.direction
    n = light.texels
    i = int((x * r[0] + y * r[1] + z * r[2] - light.origin_x) * light.scale + n / 2)
    j = int((x * u[0] + y * u[1] + z * u[2] - light.origin_y) * light.scale + n / 2)
    if i < 1 or j < 1 or i >= n - 1 or j >= n - 1:
        return 1.0
    depth = x * d[0] + y * d[1] + z * d[2] + bias
    lit = 0.4 if shadows[j, i] < depth else 0.0
    for dj, di in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        if shadows[j + dj, i + di] < depth:
            lit += 0.15
    return lit
