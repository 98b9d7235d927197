"""Compiled kernels for the colour of skin, brows, eyes and cloth at one surface point.

All take the point (x, y, z) on the unmodified head, u = |x|, and return linear RGB.
"""

from math import acos, atan2, exp, sin, sqrt

import numba as nb
import numpy as np

from ttikit.data.look import Garment, Look
from ttikit.data.noise import JIT, smoothstep, value_noise
from ttikit.data.regions import beard_zones, hairline

Colour = tuple[float, float, float]


@nb.njit(**JIT)
def blend(colour: Colour, target: np.ndarray, share: float, gain: float = 1.0) -> Colour:
    """Move `colour` towards `gain` times `target` by `share`."""
    keep = 1 - share
    share *= gain
    return (
        colour[0] * keep + target[0] * share,
        colour[1] * keep + target[1] * share,
        colour[2] * keep + target[2] * share,
    )


@nb.njit(**JIT)
def darken(colour: Colour, red: float, green: float, blue: float) -> Colour:
    """Take away a share of each channel."""
    return colour[0] * (1 - red), colour[1] * (1 - green), colour[2] * (1 - blue)


@nb.njit(**JIT)
def _spot(dx: float, dy: float) -> float:
    return exp(-(dx * dx + dy * dy))


@nb.njit(**JIT)
def paint_blood(
    colour: Colour, look: Look, x: float, y: float, z: float, ear: float, n1: float, n2: float
) -> Colour:
    """Redness of cheeks, nose and ears, blush, and the darker eye sockets and bags."""
    u = abs(x)
    cheek = _spot((u - 0.45) / 0.26, (y - 6.98) / 0.20) * smoothstep(0.7, 1.0, z)
    nose = _spot(x / 0.16, (y - 6.9) / 0.14) * exp(-(((z - 1.62) / 0.2) ** 2))
    red = look.redness * (cheek + 0.7 * nose + 0.35 * ear) * (1 + 0.35 * n2) + 0.04 * n1
    colour = darken(colour, 0.06 * red, 0.42 * red, 0.36 * red)
    blush = look.blush * _spot((u - 0.50) / 0.22, (y - 6.98 - (u - 0.5) * 0.5) / 0.14)
    blush *= smoothstep(0.6, 1.0, z)
    colour = darken(colour, -0.02 * blush, 0.45 * blush, 0.38 * blush)
    socket = _spot((u - 0.31) / 0.25, (y - 7.29) / 0.16) * smoothstep(0.9, 1.2, z)
    colour = darken(colour, 0.08 * socket, 0.13 * socket, 0.11 * socket)
    bag = look.eye_bags * _spot((u - 0.29) / 0.18, (y - 7.12) / 0.06) * smoothstep(1.0, 1.2, z)
    return darken(colour, 0.42 * bag, 0.48 * bag, 0.38 * bag)


@nb.njit(**JIT)
def paint_eye_makeup(
    colour: Colour, look: Look, x: float, y: float, z: float, lid: float
) -> Colour:
    """Eye shadow above the eye, and the dark line of lashes on the lids."""
    u = abs(x)
    shadow = look.eyeshadow * _spot((u - 0.33) / 0.23, (y - 7.385) / 0.08)
    shadow = min(0.9, shadow * smoothstep(1.0, 1.2, z))
    colour = blend(colour, look.eyeshadow_colour, shadow)
    line = lid * (0.35 + 0.6 * look.eyeliner) * smoothstep(7.27, 7.31, y)
    line = min(0.9, line + lid * (0.15 + 0.35 * look.eyeliner))
    return darken(colour, line, line, line * 0.98)


@nb.njit(**JIT)
def wrinkle_depth(look: Look, x: float, y: float, n1: float) -> float:
    """Depth (0 to 1) of folds: forehead, crow's feet, below the eyes, beside the nose, neck.

    Their spacing is wide, at least three pixels of a 64-pixel picture, or they would vanish.
    """
    u = abs(x)
    forehead = smoothstep(7.55, 7.65, y) * smoothstep(8.05, 7.9, y) * smoothstep(0.62, 0.4, u)
    bend = 1.2 * value_noise(x * 3, 2.0, look.seed) + 2 * x * x
    depth = forehead * max(0.0, sin(y * 38 + bend)) ** 2 * 1.2
    corner = _spot((u - 0.60) / 0.10, (y - 7.25) / 0.14)
    depth += corner * max(0.0, sin(atan2(y - 7.27, u - 0.44) * 8 + look.seed)) ** 2 * 1.1
    depth += _spot((u - 0.3) / 0.2, (y - 7.09) / 0.05) * 0.75
    fold = abs(u - (0.20 + (6.87 - y) * 0.50))
    depth += exp(-((fold / 0.032) ** 2)) * smoothstep(6.42, 6.55, y) * smoothstep(6.94, 6.86, y)
    marionette = exp(-(((u - 0.30) / 0.03) ** 2)) * smoothstep(6.28, 6.36, y)
    depth += marionette * smoothstep(6.56, 6.48, y) * 0.8
    neck = smoothstep(6.2, 6.1, y) * smoothstep(5.4, 5.6, y)
    depth += neck * max(0.0, sin(y * 30 + x * 5 + 2 * n1)) ** 3 * 0.6
    return min(1.0, depth * look.wrinkles)


@nb.njit(**JIT)
def paint_age(colour: Colour, look: Look, x: float, y: float, z: float, wrinkle: float) -> Colour:
    """Wrinkles, age spots and freckles."""
    u = abs(x)
    if look.wrinkles > 0.02:
        colour = darken(colour, 0.36 * wrinkle, 0.44 * wrinkle, 0.46 * wrinkle)
        spots = smoothstep(0.5, 0.7, value_noise(x * 7 + look.seed * 3, y * 7, z * 7))
        spots *= look.wrinkles
        colour = darken(colour, 0.12 * spots, 0.2 * spots, 0.25 * spots)
    if look.freckles > 0:
        dots = smoothstep(0.15, 0.45, value_noise(x * 12 + look.seed, y * 12, z * 12))
        dots *= look.freckles * _spot(u / 0.6, (y - 6.98) / 0.26)
        colour = darken(colour, 0.22 * dots, 0.44 * dots, 0.56 * dots)
    return colour


@nb.njit(**JIT)
def paint_mouth(
    colour: Colour, look: Look, x: float, y: float, lip: float, inner: float
) -> Colour:
    """Lips with their fine texture, and the dark inside of the mouth."""
    if lip > 0:
        k = lip * look.lip_strength
        texture = 1 + 0.10 * value_noise(x * 40, y * 8, 0.0)
        if abs(y - 6.605) < 0.02:
            texture *= 0.7
        colour = blend(colour, look.lip_colour, k, texture)
    if inner > 0:
        colour = darken(colour, inner, inner, inner)
        colour = (colour[0] + 0.16 * inner, colour[1] + 0.035 * inner, colour[2] + 0.03 * inner)
    return colour


@nb.njit(**JIT)
def brow_share(look: Look, x: float, y: float, z: float, n3: float) -> float:
    """How much of the eyebrow's colour covers this point."""
    u = abs(x)
    if y < 7.3 or y > 7.8 or u < 0.05 or u > 0.64 or z < 1.0:
        return 0.0
    t = (u - look.brow_inner) / (look.brow_outer - look.brow_inner)
    if t < -0.08 or t > 1.05:
        return 0.0
    along = max(t, 0.0)
    middle = look.brow_height + look.brow_arch * sin(min(along, 1.0) * 2.2) + look.brow_slope * t
    half = look.brow_thickness * (1 - 0.6 * along**1.5)
    share = smoothstep(1.25, 0.55, abs(y - middle) / half)
    share *= smoothstep(-0.08, 0.05, t) * smoothstep(1.05, 0.9, t)
    return min(0.95, share * look.brow_strength * (0.8 + 0.35 * n3))


@nb.njit(**JIT)
def paint_hair(
    colour: Colour,
    look: Look,
    x: float,
    y: float,
    z: float,
    ear: float,
    lip: float,
    n2: float,
    n3: float,
    zones: np.ndarray,
) -> Colour:
    """Stubble, the tint of the scalp below the strands, and eyebrows."""
    stubble = max(look.stubble_moustache, look.stubble_chin)
    stubble = max(stubble, max(look.stubble_jaw, look.stubble_sideburns))
    if stubble > 0.01:
        beard_zones(x, y, z, zones)
        share = max(zones[0] * look.stubble_moustache, zones[1] * look.stubble_chin)
        share = max(share, max(zones[2] * look.stubble_jaw, zones[3] * look.stubble_sideburns))
        share = min(0.92, max(0.0, share * (1 - lip) * (0.85 + 0.4 * n3)))
        colour = blend(colour, look.beard_colour, share, 0.8)
    if look.scalp > 0:
        behind = hairline(x, y, z, look.receding, look.hairline_low)
        share = smoothstep(0.04 * n2, 0.24 + 0.05 * n2, behind) * look.scalp * (1 - ear)
        share = min(1.0, share * (0.9 + 0.25 * n3))
        colour = blend(colour, look.hair_colour, share, 0.7)
    return blend(colour, look.brow_colour, brow_share(look, x, y, z, n3))


@nb.njit(**JIT)
def eye_colour(look: Look, dx: float, dy: float, dz: float) -> Colour:
    """White, iris and pupil of an eyeball at the direction (dx, dy, dz) from its centre."""
    gz = sqrt(max(0.0, 1 - look.gaze_x**2 - look.gaze_y**2))
    cosine = dx * look.gaze_x + dy * look.gaze_y + dz * gz
    angle = acos(min(1.0, max(-1.0, cosine)))
    rim = smoothstep(0.9, 1.4, angle) * 0.25
    colour = (0.80, 0.76 * (1 - rim), 0.74 * (1 - rim))
    iris = smoothstep(look.iris_angle + 0.03, look.iris_angle - 0.03, angle)
    rays = 0.8 + 0.3 * value_noise(dx * 9 / (angle + 0.2), dy * 9 / (angle + 0.2), look.seed)
    limbus = 1 - 0.5 * smoothstep(look.iris_angle - 0.12, look.iris_angle, angle)
    colour = blend(colour, look.iris_colour, iris, rays * limbus)
    pupil = smoothstep(look.pupil_angle + 0.03, look.pupil_angle - 0.03, angle) * 0.97
    colour = darken(colour, pupil, pupil, pupil)
    lid_shade = smoothstep(0.05, 0.5, dy) * 0.45
    return darken(colour, lid_shade, lid_shade, lid_shade)


@nb.njit(**JIT)
def neckline(garment: Garment, x: float, z: float) -> float:
    """Height below which the body is covered."""
    return garment.neck + garment.neck_side * abs(x) + garment.neck_back * max(0.0, 0.55 - z)


@nb.njit(**JIT)
def is_clothed(garment: Garment, x: float, y: float, z: float) -> bool:
    """Whether the garment itself (not a shirt below it) covers this point."""
    u = abs(x)
    covered = y < neckline(garment, x, z) or (u > garment.sleeve and y < 6.05)
    if garment.v_depth > 0 and z > 0.2:
        covered = covered and not (y > garment.v_depth + u * garment.v_slope and u < 0.62)
    return covered


@nb.njit(**JIT)
def cloth_colour(garment: Garment, x: float, y: float, z: float, seed: float) -> Colour:
    """Cloth with its weave, stripes and the seam at the neckline."""
    f = 1 + 0.10 * value_noise(x * 3 + seed, y * 3, z * 3)
    f += 0.05 * value_noise(x * 14, y * 14, z * 14)
    c = garment.colour
    colour = (c[0] * f, c[1] * f, c[2] * f)
    if garment.stripes > 0:
        wave = 0.5 + 0.5 * sin((x * garment.stripe_x + y * garment.stripe_y) * 6.2832)
        if wave > 0.6:
            colour = blend(colour, garment.second_colour, garment.stripes)
    if garment.v_depth <= 0 and abs(y - neckline(garment, x, z)) < 0.05:
        colour = darken(colour, 0.2, 0.2, 0.2)
    return colour
