"""Smooth noise and blending curves that the renderer's compiled kernels share."""

from math import floor

import numba as nb

JIT = {"cache": True, "fastmath": True, "nogil": True}


@nb.njit(**JIT)
def lattice_hash(i: int, j: int, k: int) -> float:
    """Repeatable random value in [0, 1] for one point of an integer lattice."""
    n = (i * 374761393 + j * 668265263 + k * 2147483647 + 1274126177) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((n ^ (n >> 16)) & 0xFFFF) / 65535.0


@nb.njit(**JIT)
def value_noise(x: float, y: float, z: float) -> float:
    """Value noise in [-1, 1]: lattice values blended by a cubic in each direction."""
    i = floor(x)
    j = floor(y)
    k = floor(z)
    x -= i
    y -= j
    z -= k
    x = x * x * (3 - 2 * x)
    y = y * y * (3 - 2 * y)
    z = z * z * (3 - 2 * z)
    a = lattice_hash(i, j, k) * (1 - x) + lattice_hash(i + 1, j, k) * x
    b = lattice_hash(i, j + 1, k) * (1 - x) + lattice_hash(i + 1, j + 1, k) * x
    c = lattice_hash(i, j, k + 1) * (1 - x) + lattice_hash(i + 1, j, k + 1) * x
    d = lattice_hash(i, j + 1, k + 1) * (1 - x) + lattice_hash(i + 1, j + 1, k + 1) * x
    return ((a * (1 - y) + b * y) * (1 - z) + (c * (1 - y) + d * y) * z) * 2 - 1


@nb.njit(**JIT)
def smoothstep(low: float, high: float, x: float) -> float:
    """Cubic ramp from 0 at `low` to 1 at `high`; `low` > `high` gives a falling ramp."""
    t = (x - low) / (high - low)
    if t < 0:
        t = 0.0
    if t > 1:
        t = 1.0
    return t * t * (3 - 2 * t)
