"""Where hair and beard grow, in the coordinates of the unmodified head.

The head looks along +z, +y is up, +x is the person's left. One unit is a decimetre:
the eyes lie at (+-0.308, 7.28, 1.25), the chin at y = 6.17, the crown at y = 8.49.
"""

import numba as nb
import numpy as np

from ttikit.data.noise import JIT, smoothstep

MOUSTACHE, CHIN, JAW, SIDEBURN = range(4)
"""Beard zones; `beard_zones` writes one density for each."""


@nb.njit(**JIT)
def hairline(x: float, y: float, z: float, receding: float, low: float) -> float:
    """Signed distance behind the hairline: above 0 grows hair.

    `receding` (0 to 0.6) moves temples and forehead back; `low` varies the forehead's height.
    """
    u = abs(x)
    if y > 7.33:
        if y < 7.75:
            line = 0.97 + (y - 7.33) * 0.26
        elif y < 7.95:
            line = 1.08 + (y - 7.75) * 0.75
        else:
            line = 1.23 + (y - 7.95) * 2.2
        line += low * 0.12 * smoothstep(7.6, 7.9, y)
        line -= receding * (0.55 * smoothstep(0.12, 0.42, u) + 0.22) * smoothstep(7.55, 7.85, y)
        return line - z
    if y > 6.98:
        if z > 0.62:
            return 0.90 - z
        return 0.40 - z
    if y > 6.35:
        return min(0.30 - z, (y - 6.42) * 2)
    return -1.0


@nb.njit(**JIT)
def beard_zones(x: float, y: float, z: float, out: np.ndarray) -> None:
    """Write the densities (0 to 1) of moustache, chin, jaw and sideburns into `out` (4,)."""
    u = abs(x)
    out[0] = (
        smoothstep(6.685, 6.72, y)
        * smoothstep(6.845, 6.81, y)
        * smoothstep(0.36, 0.27, u)
        * smoothstep(1.1, 1.25, z)
        * (0.55 + 0.45 * smoothstep(0.0, 0.05, u))
    )
    chin = (
        smoothstep(6.53, 6.47, y)
        * smoothstep(0.31, 0.22, u)
        * smoothstep(6.02, 6.15, y)
        * smoothstep(0.75, 1.0, z)
    )
    mouth_corner = (
        smoothstep(0.27, 0.31, u)
        * smoothstep(0.40, 0.34, u)
        * smoothstep(6.40, 6.5, y)
        * smoothstep(6.76, 6.68, y)
        * smoothstep(1.0, 1.15, z)
    )
    out[1] = max(chin, mouth_corner * 0.8)
    cheek_line = 6.56 + max(u - 0.33, 0.0) * 1.25
    jaw = (
        smoothstep(cheek_line + 0.05, cheek_line - 0.06, y)
        * smoothstep(0.24, 0.34, u)
        * smoothstep(0.40, 0.55, z)
        * smoothstep(5.98, 6.14, y)
    )
    throat = smoothstep(6.30, 6.22, y) * smoothstep(5.98, 6.12, y) * smoothstep(0.55, 0.8, z)
    out[2] = max(jaw, throat)
    out[3] = (
        smoothstep(0.60, 0.66, u)
        * smoothstep(6.72, 6.85, y)
        * smoothstep(7.45, 7.35, y)
        * smoothstep(0.66, 0.72, z)
        * smoothstep(1.02, 0.93, z)
    )


@nb.njit(**JIT)
def hairline_many(points: np.ndarray, receding: float, low: float) -> np.ndarray:
    """`hairline` for points (N, 3)."""
    out = np.empty(len(points))
    for i in range(len(points)):
        out[i] = hairline(points[i, 0], points[i, 1], points[i, 2], receding, low)
    return out


@nb.njit(**JIT)
def beard_zones_many(points: np.ndarray) -> np.ndarray:
    """`beard_zones` for points (N, 3), as (N, 4)."""
    out = np.zeros((len(points), 4))
    for i in range(len(points)):
        beard_zones(points[i, 0], points[i, 1], points[i, 2], out[i])
    return out
