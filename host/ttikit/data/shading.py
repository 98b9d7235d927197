"""The compiled kernel that turns visible surface points into light."""

from math import exp, sin, sqrt

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


@nb.njit(**JIT)
def _mix(values, a, b, c, w0, w1, column):
    w2 = 1 - w0 - w1
    return values[a, column] * w0 + values[b, column] * w1 + values[c, column] * w2


@nb.njit(**JIT)
def _light_point(
    colour, normal, point, occlusion, gloss, exponent, wrap, softness, light, shadows, out
):
    """Diffuse light with a soft terminator (`wrap`, red more than blue), gloss and rim light."""
    nx, ny, nz = normal
    length = sqrt(nx * nx + ny * ny + nz * nz) + 1e-9
    nx /= length
    ny /= length
    nz /= length
    d = light.direction
    facing = nx * d[0] + ny * d[1] + nz * d[2]
    px, py, pz = point
    lit = lit_share(shadows, px + nx * 0.03, py + ny * 0.03, pz + nz * 0.03, light, 0.05)
    lit = softness + (1 - softness) * lit
    hx = d[0]
    hy = d[1]
    hz = d[2] + 1.0
    half = (nx * hx + ny * hy + nz * hz) / (sqrt(hx * hx + hy * hy + hz * hz) + 1e-9)
    fresnel = (1 - max(0.0, nz)) ** 4
    shine = gloss * max(0.0, half) ** exponent * (exponent + 8) / 25.0 * lit
    shine += gloss * 0.5 * fresnel * occlusion
    up = 0.5 + 0.5 * ny
    ambient = occlusion * occlusion * 0.4 + occlusion * 0.6
    for ch in range(3):
        w = wrap * (1.0, 0.5, 0.375)[ch]
        direct = light.key[ch] * max(0.0, (facing + w) / (1 + w)) * lit
        indirect = (light.sky[ch] * up + light.ground[ch] * (1 - up)) * ambient
        out[ch] = colour[ch] * (direct + indirect) + shine * light.key[ch]


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
    seed = look.seed
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
            nx = _mix(normals, a, b, c, w0, w1, 0)
            ny = _mix(normals, a, b, c, w0, w1, 1)
            nz = _mix(normals, a, b, c, w0, w1, 2)
            x = _mix(canonical, a, b, c, w0, w1, 0)
            y = _mix(canonical, a, b, c, w0, w1, 1)
            z = _mix(canonical, a, b, c, w0, w1, 2)
            sky = occlusion[a] * w0 + occlusion[b] * w1 + occlusion[c] * (1 - w0 - w1)
            kind = material[t]
            gloss = 0.0
            exponent = 20.0
            wrap = 0.0
            softness = 0.0
            colour = (0.5, 0.5, 0.5)
            if kind == BODY:
                neck = neckline(garment, x, z)
                if is_clothed(garment, x, y, z):
                    colour = cloth_colour(garment, x, y, z, seed)
                    fold = value_noise(x * 2.2 + 5, y * 2.5 + seed * 0.3, 3.0) * 0.25
                    nx += fold
                    ny += 0.6 * fold
                    sky = 0.45 + 0.55 * sky
                elif garment.shirt_below and y < neck + 0.02:
                    s = garment.shirt_colour
                    colour = (s[0], s[1], s[2])
                    sky = 0.4 + 0.6 * sky
                else:
                    n1 = value_noise(x * 5 + seed, y * 5, z * 5)
                    n2 = value_noise(x * 17, y * 17 + seed, z * 17)
                    n3 = value_noise(x * 45 + seed, y * 45, z * 45)
                    ear = _mix(masks, a, b, c, w0, w1, 1)
                    lid = _mix(masks, a, b, c, w0, w1, 2)
                    lip = smoothstep(0.2, 0.8, _mix(masks, a, b, c, w0, w1, 0))
                    inner = smoothstep(0.3, 0.8, _mix(masks, a, b, c, w0, w1, 3))
                    f = 1 + 0.05 * n1 + 0.04 * n2 + 0.03 * n3
                    s = look.skin
                    colour = (s[0] * f, s[1] * f, s[2] * f)
                    colour = paint_blood(colour, look, x, y, z, ear, n1, n2)
                    colour = paint_eye_makeup(colour, look, x, y, z, lid)
                    u = abs(x)
                    nostril = exp(-(((u - 0.085) / 0.045) ** 2 + ((y - 6.845) / 0.03) ** 2))
                    nostril *= smoothstep(1.35, 1.45, z) * smoothstep(0.1, -0.5, ny)
                    colour = darken(colour, 0.75 * nostril, 0.8 * nostril, 0.8 * nostril)
                    wrinkle = 0.0
                    if look.wrinkles > 0.02 and z > 0.5:
                        wrinkle = wrinkle_depth(look, x, y, n1)
                        ny += 0.35 * wrinkle
                    colour = paint_age(colour, look, x, y, z, wrinkle)
                    colour = paint_mouth(colour, look, x, y, lip, inner)
                    sky *= 1 - 0.7 * inner
                    lipped = max(lip, inner)
                    colour = paint_hair(colour, look, x, y, z, ear, lipped, n2, n3, zones)
                    middle = exp(-((x / 0.25) ** 2)) * smoothstep(6.8, 7.6, y)
                    gloss = look.shine * (1 + 0.6 * n1) * (0.6 + 0.9 * middle)
                    exponent = look.shine_exponent
                    if lip > 0.3:
                        gloss += look.lip_gloss * lip
                        exponent = 35.0
                    if inner > 0.3:
                        gloss = 0.05
                    wrap = 0.32
                    nx += 0.04 * n3
                    ny += 0.04 * n2
            elif kind == LEFT_EYE or kind == RIGHT_EYE:
                centre = _EYE_X if kind == LEFT_EYE else -_EYE_X
                dx = (x - centre) / _EYE_RADIUS
                dy = (y - _EYE_Y) / _EYE_RADIUS
                dz = (z - _EYE_Z) / _EYE_RADIUS
                length = sqrt(dx * dx + dy * dy + dz * dz) + 1e-9
                colour = eye_colour(look, dx / length, dy / length, dz / length)
                sky = 0.85
                gloss = 0.16
                exponent = 60.0
                softness = 0.45
            elif kind == TEETH:
                f = 1 - 0.35 * smoothstep(0.16, 0.32, abs(x))
                colour = (0.92 * f, 0.89 * f, 0.82 * f)
                sky = 0.9
                gloss = 0.25
                exponent = 40.0
                softness = 0.45
            elif kind == TONGUE:
                colour = (0.42, 0.14, 0.13)
                sky = 0.5
                gloss = 0.2
            else:
                f = 1 + 0.10 * value_noise(x * 9 + seed, y * 9, z * 9)
                f += 0.06 * value_noise(x * 30, y * 30, z * 30)
                if kind == KNIT:
                    f *= 0.85 + 0.25 * sin(x * 36)
                if kind == SILK:
                    gloss = 0.15
                    exponent = 25.0
                colour = blend((0.0, 0.0, 0.0), worn_colour[a], f)
            if nz < 0 and kind >= TEETH:
                nx = -nx
                ny = -ny
                nz = -nz
            point = (
                _mix(world, a, b, c, w0, w1, 0),
                _mix(world, a, b, c, w0, w1, 1),
                _mix(world, a, b, c, w0, w1, 2),
            )
            _light_point(
                colour,
                (nx, ny, nz),
                point,
                sky,
                gloss,
                exponent,
                wrap,
                softness,
                light,
                shadows,
                image[row, column],
            )
            alpha[row, column] = 1.0
