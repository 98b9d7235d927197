"""The compiled kernel that turns visible surface points into light."""

from math import exp, sin, sqrt
from typing import NamedTuple

import numba as nb
import numpy as np

from ttikit.data.asset import BODY, KNIT, LEFT_EYE, RIGHT_EYE, SILK, TEETH, TONGUE
from ttikit.data.look import Garment, Look
from ttikit.data.noise import JIT, smoothstep, value_noise
from ttikit.data.raster import Light, lit_share
from ttikit.data.skin import (
    blend,
    cloth_colour,
    darken,
    eye_colour,
    is_clothed,
    neckline,
    paint_age,
    paint_blood,
    paint_eye_makeup,
    paint_hair,
    paint_mouth,
    wrinkle_depth,
)

_EYE_X, _EYE_Y, _EYE_Z, _EYE_RADIUS = 0.3078, 7.2841, 1.2453, 0.146


Vector = tuple[float, float, float]


@nb.njit(**JIT)
def _mix(values: np.ndarray, a: int, b: int, c: int, w0: float, w1: float, column: int) -> float:
    """One column of per-vertex values at a point of the triangle (a, b, c)."""
    w2 = 1 - w0 - w1
    return values[a, column] * w0 + values[b, column] * w1 + values[c, column] * w2


@nb.njit(**JIT)
def _mix3(values: np.ndarray, a: int, b: int, c: int, w0: float, w1: float) -> Vector:
    return (
        _mix(values, a, b, c, w0, w1, 0),
        _mix(values, a, b, c, w0, w1, 1),
        _mix(values, a, b, c, w0, w1, 2),
    )


class Surface(NamedTuple):
    """What the light needs to know of a point.

    colour: linear RGB; normal: not normalised; sky: open share; gloss, exponent: highlight;
    wrap: how far light bleeds past the terminator; softness: share of light in full shadow.
    """

    colour: Vector
    normal: Vector
    sky: float
    gloss: float
    exponent: float
    wrap: float
    softness: float


@nb.njit(**JIT)
def _light_point(
    surface: Surface, point: Vector, light: Light, shadows: np.ndarray, out: np.ndarray
) -> None:
    """Diffuse light with a soft terminator (`wrap`, red more than blue), gloss and rim light."""
    nx, ny, nz = surface.normal
    length = sqrt(nx * nx + ny * ny + nz * nz) + 1e-9
    nx /= length
    ny /= length
    nz /= length
    d = light.direction
    facing = nx * d[0] + ny * d[1] + nz * d[2]
    px, py, pz = point
    lit = lit_share(shadows, px + nx * 0.03, py + ny * 0.03, pz + nz * 0.03, light, 0.05)
    lit = surface.softness + (1 - surface.softness) * lit
    hx = d[0]
    hy = d[1]
    hz = d[2] + 1.0
    half = (nx * hx + ny * hy + nz * hz) / (sqrt(hx * hx + hy * hy + hz * hz) + 1e-9)
    fresnel = (1 - max(0.0, nz)) ** 4
    shine = (
        surface.gloss * max(0.0, half) ** surface.exponent * (surface.exponent + 8) / 25.0 * lit
    )
    shine += surface.gloss * 0.5 * fresnel * surface.sky
    up = 0.5 + 0.5 * ny
    ambient = surface.sky * surface.sky * 0.4 + surface.sky * 0.6
    for ch in range(3):
        w = surface.wrap * (1.0, 0.5, 0.375)[ch]
        direct = light.key[ch] * max(0.0, (facing + w) / (1 + w)) * lit
        indirect = (light.sky[ch] * up + light.ground[ch] * (1 - up)) * ambient
        out[ch] = surface.colour[ch] * (direct + indirect) + shine * light.key[ch]


@nb.njit(**JIT)
def _skin(
    spot: Vector,
    normal: Vector,
    sky: float,
    ear: float,
    lid: float,
    lip: float,
    inner: float,
    look: Look,
    zones: np.ndarray,
) -> Surface:
    """Skin at a spot of the unmodified head; ear, lid, lip, inner: the masks there."""
    x, y, z = spot
    nx, ny, nz = normal
    seed = look.seed
    n1 = value_noise(x * 5 + seed, y * 5, z * 5)
    n2 = value_noise(x * 17, y * 17 + seed, z * 17)
    n3 = value_noise(x * 45 + seed, y * 45, z * 45)
    f = 1 + 0.05 * n1 + 0.04 * n2 + 0.03 * n3
    colour = (look.skin[0] * f, look.skin[1] * f, look.skin[2] * f)
    colour = paint_blood(colour, look, x, y, z, ear, n1, n2)
    colour = paint_eye_makeup(colour, look, x, y, z, lid)
    nostril = exp(-(((abs(x) - 0.085) / 0.045) ** 2 + ((y - 6.845) / 0.03) ** 2))
    nostril *= smoothstep(1.35, 1.45, z) * smoothstep(0.1, -0.5, ny)
    colour = darken(colour, 0.75 * nostril, 0.8 * nostril, 0.8 * nostril)
    wrinkle = 0.0
    if look.wrinkles > 0.02 and z > 0.5:
        wrinkle = wrinkle_depth(look, x, y, n1)
        ny += 0.35 * wrinkle
    colour = paint_age(colour, look, x, y, z, wrinkle)
    colour = paint_mouth(colour, look, x, y, lip, inner)
    colour = paint_hair(colour, look, x, y, z, ear, max(lip, inner), n2, n3, zones)
    middle = exp(-((x / 0.25) ** 2)) * smoothstep(6.8, 7.6, y)
    gloss = look.shine * (1 + 0.6 * n1) * (0.6 + 0.9 * middle)
    exponent = look.shine_exponent
    if lip > 0.3:
        gloss += look.lip_gloss * lip
        exponent = 35.0
    if inner > 0.3:
        gloss = 0.05
    normal = (nx + 0.04 * n3, ny + 0.04 * n2, nz)
    return Surface(colour, normal, sky * (1 - 0.7 * inner), gloss, exponent, 0.32, 0.0)


@nb.njit(**JIT)
def _clothed(garment: Garment, spot: Vector, normal: Vector, sky: float, seed: float) -> Surface:
    """Cloth with folds."""
    x, y, z = spot
    fold = value_noise(x * 2.2 + 5, y * 2.5 + seed * 0.3, 3.0) * 0.25
    normal = (normal[0] + fold, normal[1] + 0.6 * fold, normal[2])
    colour = cloth_colour(garment, x, y, z, seed)
    return Surface(colour, normal, 0.45 + 0.55 * sky, 0.0, 20.0, 0.0, 0.0)


@nb.njit(**JIT)
def _eye(kind: int, spot: Vector, normal: Vector, look: Look) -> Surface:
    centre = _EYE_X if kind == LEFT_EYE else -_EYE_X
    dx = (spot[0] - centre) / _EYE_RADIUS
    dy = (spot[1] - _EYE_Y) / _EYE_RADIUS
    dz = (spot[2] - _EYE_Z) / _EYE_RADIUS
    length = sqrt(dx * dx + dy * dy + dz * dz) + 1e-9
    colour = eye_colour(look, dx / length, dy / length, dz / length)
    return Surface(colour, normal, 0.85, 0.16, 60.0, 0.0, 0.45)


@nb.njit(**JIT)
def _other(
    kind: int, spot: Vector, normal: Vector, sky: float, worn: np.ndarray, seed: float
) -> Surface:
    """Teeth, tongue and everything worn; seen from both sides."""
    x, y, z = spot
    if normal[2] < 0:
        normal = (-normal[0], -normal[1], -normal[2])
    if kind == TEETH:
        f = 1 - 0.35 * smoothstep(0.16, 0.32, abs(x))
        return Surface((0.92 * f, 0.89 * f, 0.82 * f), normal, 0.9, 0.25, 40.0, 0.0, 0.45)
    if kind == TONGUE:
        return Surface((0.42, 0.14, 0.13), normal, 0.5, 0.2, 20.0, 0.0, 0.0)
    f = 1 + 0.10 * value_noise(x * 9 + seed, y * 9, z * 9)
    f += 0.06 * value_noise(x * 30, y * 30, z * 30)
    if kind == KNIT:
        f *= 0.85 + 0.25 * sin(x * 36)
    silk = kind == SILK
    colour = blend((0.0, 0.0, 0.0), worn, f)
    return Surface(colour, normal, sky, 0.15 if silk else 0.0, 25.0 if silk else 20.0, 0.0, 0.0)


@nb.njit(**JIT)
def shade_surface(
    index: np.ndarray,
    weights: np.ndarray,
    triangles: np.ndarray,
    material: np.ndarray,
    normals: np.ndarray,
    canonical: np.ndarray,
    world: np.ndarray,
    masks: np.ndarray,
    occlusion: np.ndarray,
    worn_colour: np.ndarray,
    look: Look,
    garment: Garment,
    light: Light,
    shadows: np.ndarray,
    image: np.ndarray,
    alpha: np.ndarray,
) -> None:
    """Fill `image` (H, W, 3) linear and `alpha` (H, W) where `index` holds a triangle
    and nothing is drawn yet.
    """
    zones = np.zeros(4)
    for row in range(index.shape[0]):
        for column in range(index.shape[1]):
            t = index[row, column]
            if t < 0 or alpha[row, column] > 0:
                continue
            a = triangles[t, 0]
            b = triangles[t, 1]
            c = triangles[t, 2]
            w0 = weights[row, column, 0]
            w1 = weights[row, column, 1]
            normal = _mix3(normals, a, b, c, w0, w1)
            spot = _mix3(canonical, a, b, c, w0, w1)
            sky = occlusion[a] * w0 + occlusion[b] * w1 + occlusion[c] * (1 - w0 - w1)
            kind = material[t]
            if kind == LEFT_EYE or kind == RIGHT_EYE:
                surface = _eye(kind, spot, normal, look)
            elif kind != BODY:
                surface = _other(kind, spot, normal, sky, worn_colour[a], look.seed)
            elif is_clothed(garment, spot[0], spot[1], spot[2]):
                surface = _clothed(garment, spot, normal, sky, look.seed)
            elif garment.shirt_below and spot[1] < neckline(garment, spot[0], spot[2]) + 0.02:
                s = garment.shirt_colour
                shirt = (s[0], s[1], s[2])
                surface = Surface(shirt, normal, 0.4 + 0.6 * sky, 0.0, 20.0, 0.0, 0.0)
            else:
                ear = _mix(masks, a, b, c, w0, w1, 1)
                lid = _mix(masks, a, b, c, w0, w1, 2)
                lip = smoothstep(0.2, 0.8, _mix(masks, a, b, c, w0, w1, 0))
                inner = smoothstep(0.3, 0.8, _mix(masks, a, b, c, w0, w1, 3))
                surface = _skin(spot, normal, sky, ear, lid, lip, inner, look, zones)
            point = _mix3(world, a, b, c, w0, w1)
            _light_point(surface, point, light, shadows, image[row, column])
            alpha[row, column] = 1.0
