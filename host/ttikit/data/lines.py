"""Compiled kernels for thin things: tubes (frames, hoops, chains) and lenses."""

from math import exp, sqrt

import numba as nb
import numpy as np

from ttikit.data.noise import JIT
from ttikit.data.raster import Light


@nb.njit(**JIT)
def draw_tube(
    screen: np.ndarray,
    radius: float,
    closed: bool,
    colour: np.ndarray,
    gloss: float,
    bias: float,
    light: Light,
    depth: np.ndarray,
    image: np.ndarray,
    alpha: np.ndarray,
) -> None:
    """Draw a polyline (N, 3) of round cross-section, `radius` pixels, `bias` nearer."""
    height, width = depth.shape
    n = screen.shape[0]
    d = light.direction
    for i in range(n if closed else n - 1):
        j = (i + 1) % n
        x0 = screen[i, 0]
        y0 = screen[i, 1]
        x1 = screen[j, 0]
        y1 = screen[j, 1]
        dx = x1 - x0
        dy = y1 - y0
        square = dx * dx + dy * dy + 1e-9
        top = max(0, int(min(y0, y1) - radius - 1))
        bottom = min(height - 1, int(max(y0, y1) + radius + 1))
        left = max(0, int(min(x0, x1) - radius - 1))
        right = min(width - 1, int(max(x0, x1) + radius + 1))
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                t = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square))
                ex = x - (x0 + t * dx)
                ey = y - (y0 + t * dy)
                if ex * ex + ey * ey > radius * radius:
                    continue
                z = screen[i, 2] * (1 - t) + screen[j, 2] * t + bias
                if z <= depth[y, x]:
                    continue
                nx = ex / radius
                ny = -ey / radius
                nz = sqrt(max(0.0, 1 - nx * nx - ny * ny))
                diffuse = 0.35 + 0.4 * max(0.0, nx * d[0] + ny * d[1] + nz * d[2])
                half = max(0.0, (nx * d[0] + ny * d[1] + nz * (d[2] + 1)) / 1.7)
                shine = gloss * half**18
                depth[y, x] = z
                alpha[y, x] = 1.0
                for ch in range(3):
                    lit = light.key[ch] * diffuse + light.sky[ch] * 0.8
                    image[y, x, ch] = colour[ch] * lit + shine * light.key[ch]


@nb.njit(**JIT)
def _inside(polygon: np.ndarray, x: float, y: float) -> bool:
    inside = False
    j = len(polygon) - 1
    for i in range(len(polygon)):
        xi = polygon[i, 0]
        yi = polygon[i, 1]
        xj = polygon[j, 0]
        yj = polygon[j, 1]
        if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi + 1e-12) + xi:
            inside = not inside
        j = i
    return inside


@nb.njit(**JIT)
def draw_lens(
    polygon: np.ndarray,
    tint: np.ndarray,
    upper: float,
    lower: float,
    glare_at: float,
    glare: float,
    light: Light,
    depth: np.ndarray,
    image: np.ndarray,
    alpha: np.ndarray,
) -> None:
    """Tint a screen polygon (N, 3), opacity `upper` to `lower`, with a slanted stripe of glare."""
    height, width = depth.shape
    left = polygon[:, 0].min()
    right = polygon[:, 0].max()
    top = polygon[:, 1].min()
    bottom = polygon[:, 1].max()
    z = polygon[:, 2].mean()
    for y in range(max(0, int(top)), min(height - 1, int(bottom) + 1) + 1):
        for x in range(max(0, int(left)), min(width - 1, int(right) + 1) + 1):
            if z <= depth[y, x] - 0.02 or not _inside(polygon, x, y):
                continue
            t = (y - top) / (bottom - top + 1e-9)
            opacity = upper * (1 - t) + lower * t
            place = ((x - left) / (right - left + 1e-9) - t * 0.4 - glare_at) / 0.13
            stripe = glare * exp(-place * place)
            for ch in range(3):
                seen = image[y, x, ch] * (1 - opacity) + tint[ch] * opacity
                image[y, x, ch] = seen + stripe * light.key[ch]
            if alpha[y, x] == 0.0:
                alpha[y, x] = max(opacity, 0.05)
