"""Compiled kernels for hair and beard: growing strands over the skull and drawing them."""

from math import acos, atan2, floor, pi, sin, sqrt
from typing import NamedTuple

import numba as nb
import numpy as np

from ttikit.data.noise import JIT, smoothstep, value_noise
from ttikit.data.raster import Light, lit_share_fast

CROP, SIDE_PART, BACK, CENTRE_PART, UP, AFRO, KNOT, BEARD, MOUSTACHE_HAIR = range(9)
"""Ways to comb; `HairStyle.comb` holds one of them."""

_BEARD_START = 7

Vector = tuple[float, float, float]


class HairStyle(NamedTuple):
    """Shape of a head of hair. Lengths are in decimetres.

    comb: direction the hair is led in; top, side, back: lengths; part: x of the parting;
    gravity: pull at the tips; wave, wave_rate: amplitude and turns a unit; frizz: random bends;
    volume: thickness of the hair above the skull; stiffness: how fast a strand turns;
    curl: random displacement; spread: variation of the length; bangs: whether the front falls
    over the forehead, down to bangs_y; seed: moves the noise.
    """

    comb: int
    top: float
    side: float
    back: float
    part: float = 0.0
    gravity: float = 0.0
    wave: float = 0.0
    wave_rate: float = 0.0
    frizz: float = 0.0
    volume: float = 0.02
    stiffness: float = 0.35
    curl: float = 0.0
    spread: float = 0.12
    bangs: bool = False
    bangs_y: float = 7.75
    seed: float = 0.0


class Strands(NamedTuple):
    """Grown strands in the person's space.

    points (N, S, 3); layer (N,): 0 at the skull to 1 outside; chance (N, 4): random numbers.
    """

    points: np.ndarray
    layer: np.ndarray
    chance: np.ndarray


class Fibre(NamedTuple):
    """How a group of strands reflects light; colours are linear RGB (3,).

    width in pixels of the supersampled picture; depth_shade: how dark the inner layers are;
    gloss, coloured_gloss: strengths of the two highlights; salt: share of white strands.
    """

    root: np.ndarray
    tip: np.ndarray
    salt_colour: np.ndarray
    salt: float
    width: float
    depth_shade: float
    gloss: float
    coloured_gloss: float


@nb.njit(**JIT)
def radius_at(radius: np.ndarray, dx: float, dy: float, dz: float) -> float:
    """Skull radius in the unit direction (dx, dy, dz), bilinear in the map (polar, azimuth)."""
    rows, columns = radius.shape
    polar = acos(min(1.0, max(-1.0, dy))) / pi * rows - 0.5
    azimuth = atan2(dx, dz) / (2 * pi) * columns
    if azimuth < 0:
        azimuth += columns
    i = floor(polar)
    j = floor(azimuth)
    fi = polar - i
    fj = azimuth - j
    i0 = min(max(i, 0), rows - 1)
    i1 = min(max(i + 1, 0), rows - 1)
    j0 = j % columns
    j1 = (j + 1) % columns
    upper = radius[i0, j0] * (1 - fj) + radius[i0, j1] * fj
    lower = radius[i1, j0] * (1 - fj) + radius[i1, j1] * fj
    return upper * (1 - fi) + lower * fi


@nb.njit(**JIT)
def radius_many(radius: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """`radius_at` for unit directions (N, 3)."""
    out = np.empty(len(directions))
    for i in range(len(directions)):
        out[i] = radius_at(radius, directions[i, 0], directions[i, 1], directions[i, 2])
    return out


@nb.njit(**JIT)
def _unit(x: float, y: float, z: float) -> Vector:
    length = sqrt(x * x + y * y + z * z) + 1e-9
    return x / length, y / length, z / length


@nb.njit(**JIT)
def _combed(
    style: HairStyle, root: Vector, place: Vector, outward: Vector, grown: float, chance: float
) -> Vector:
    """Direction (x, y, z) in which the comb leads; not normalised."""
    cx, cy, cz = root
    px, py, pz = place
    rx, ry, rz = outward
    side = 1.0 if cx > style.part else -1.0
    comb = style.comb
    if comb == CROP:
        if cz < 0.4 or cy < 7.7:
            return 0.0, -1.0, 0.15
        return cx * 0.15, -0.15, 1.0
    if comb in (SIDE_PART, CENTRE_PART):
        if cy < 7.75:
            return 0.25 * side, -1.0, -0.25
        w = smoothstep(0.0, min(0.75, 0.6 * style.top), grown)
        front = smoothstep(0.75, 1.25, cz)
        back = (0.35 + 0.75 * front) * (1 - w) + (
            0.06 + 0.22 * front * smoothstep(0.7, 0.9, pz)
        ) * w
        return side * (1 - w), -0.20 * (1 - w) - w, -back
    if comb == BACK:
        if cy < 7.6:
            return 0.0, -0.6, -0.8
        rise = 0.25 * (1 - smoothstep(0.2, 0.9, grown)) - 0.5 * smoothstep(0.3, 1.0, grown)
        return 0.15 * cx, rise, -1.0
    if comb == UP:
        if cy < 7.9:
            return 0.15 * rx, -1.0, -0.35
        return rx + 0.3 * (chance - 0.5), ry + 0.55, rz + 0.15
    if comb == AFRO:
        return rx, ry, rz
    if comb == BEARD:
        return cx * 0.5, -1.0, 0.28
    if comb == MOUSTACHE_HAIR:
        return side, -0.75, 0.25
    return _unit(-px, 7.75 - py, -0.75 - pz)  # KNOT


@nb.njit(**JIT)
def grow(
    roots: np.ndarray,
    normals: np.ndarray,
    canonical: np.ndarray,
    chance: np.ndarray,
    radius: np.ndarray,
    centre: np.ndarray,
    style: HairStyle,
    segments: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Grow strands from `roots` (N, 3): points (N, segments, 3) and layer (N,).

    A strand follows the comb, slides over the skull instead of entering it, and bends by waves,
    frizz and curl. `canonical` (N, 3) is the root on the unmodified head; `chance` (N, 4).
    """
    n = roots.shape[0]
    out = np.empty((n, segments, 3))
    layer = np.empty(n)
    parted = style.comb == SIDE_PART or style.comb == CENTRE_PART
    follows_skull = style.comb != AFRO
    for i in range(n):
        cx = canonical[i, 0]
        cy = canonical[i, 1]
        cz = canonical[i, 2]
        top = smoothstep(7.85, 8.15, cy)
        behind = smoothstep(0.55, 0.0, cz)
        length = style.top * top
        length += (1 - top) * (style.side * (1 - behind) + style.back * behind)
        length *= 1 + style.spread * (chance[i, 0] - 0.5) * 2
        layer[i] = chance[i, 1]
        fringe = style.bangs and cz > 0.72 and cy > 7.80 and abs(cx) < 0.58
        lift = 0.06 if fringe else style.volume
        lift = 0.015 + lift * layer[i] * (0.35 + 0.45 * smoothstep(7.4, 8.1, cy))
        if parted:
            lift *= 0.6 + 0.4 * smoothstep(0.0, 0.4, abs(cx - style.part))
        px = roots[i, 0]
        py = roots[i, 1]
        pz = roots[i, 2]
        vx = normals[i, 0]
        vy = normals[i, 1]
        vz = normals[i, 2]
        out[i, 0, 0] = px
        out[i, 0, 1] = py
        out[i, 0, 2] = pz
        phase = 2.5 * value_noise(cx * 1.5 + style.seed, cy * 1.5, cz * 1.5) + 0.5 * chance[i, 2]
        stop = style.bangs_y + 0.12 * (chance[i, 2] - 0.5) - 0.25 * abs(cx)
        grown = 0.0
        ended = False
        for s in range(1, segments):
            t = s / (segments - 1.0)
            step = length / (segments - 1) * (0.35 + 1.3 * t)
            ox = px - centre[0]
            oy = py - centre[1]
            oz = pz - centre[2]
            r = sqrt(ox * ox + oy * oy + oz * oz) + 1e-9
            rx = ox / r
            ry = oy / r
            rz = oz / r
            if fringe:
                if pz > 1.30 or py < 7.95:
                    tx, ty, tz = cx * 0.35 - 0.3 * style.part, -1.0, 0.05
                else:
                    tx, ty, tz = cx * 0.35 - 0.3 * style.part, -0.55, 0.75
            else:
                tx, ty, tz = _combed(
                    style, (cx, cy, cz), (px, py, pz), (rx, ry, rz), grown, chance[i, 2]
                )
                if style.comb == KNOT and (px * px + (7.75 - py) ** 2 + (0.75 + pz) ** 2) < 0.04:
                    ended = True
            ty -= style.gravity * t
            if follows_skull and (style.comb != UP or cy < 7.9) and py > 6.2:
                surface = radius_at(radius, rx, ry, rz) + lift + 0.03
                q = tx * rx + ty * ry + tz * rz
                if r < surface + 0.05 and q < 0:
                    tx -= q * rx
                    ty -= q * ry
                    tz -= q * rz
                elif r > surface + 0.12 and style.comb < _BEARD_START:
                    tx -= 0.55 * rx
                    tz -= 0.55 * rz
            tx, ty, tz = _unit(tx, ty, tz)
            k = max(style.stiffness, 0.75) if s == 1 else style.stiffness
            vx = vx * (1 - k) + tx * k
            vy = vy * (1 - k) + ty * k
            vz = vz * (1 - k) + tz * k
            if style.frizz > 0.02:
                vx += style.frizz * value_noise(px * 7 + i * 0.37, py * 7, pz * 7)
                vy += style.frizz * value_noise(py * 7 + i * 0.11, pz * 7, px * 7)
                vz += style.frizz * value_noise(pz * 7 + i * 0.23, px * 7, py * 7)
            vx, vy, vz = _unit(vx, vy, vz)
            if not ended:
                px += vx * step
                py += vy * step
                pz += vz * step
                if fringe and py < stop:
                    py = stop
                    ended = True
            grown += step
            ox = px - centre[0]
            oy = py - centre[1]
            oz = pz - centre[2]
            r = sqrt(ox * ox + oy * oy + oz * oz) + 1e-9
            rx = ox / r
            ry = oy / r
            rz = oz / r
            if py > 6.15:
                surface = radius_at(radius, rx, ry, rz)
                surface += lift * smoothstep(0.0, 0.25, grown) + 0.01
                if r < surface:
                    px = centre[0] + rx * surface
                    py = centre[1] + ry * surface
                    pz = centre[2] + rz * surface
            out[i, s, 0] = px
            out[i, s, 1] = py
            out[i, s, 2] = pz
            if style.wave > 0:
                swing = style.wave * smoothstep(0.15, 0.6, grown)
                angle = 6.2832 * style.wave_rate * grown + phase
                across = swing * sin(angle)
                outwards = 0.6 * swing * sin(angle * 1.1 + 1.6)
                out[i, s, 0] += across * (vy * rz - vz * ry) + outwards * rx
                out[i, s, 1] += across * (vz * rx - vx * rz) + outwards * ry
                out[i, s, 2] += across * (vx * ry - vy * rx) + outwards * rz
            if style.curl > 0:
                c = style.curl * smoothstep(0.05, 0.3, grown)
                out[i, s, 0] += c * value_noise(i * 1.7, s * 0.9, 1.0)
                out[i, s, 1] += c * value_noise(i * 1.7, s * 0.9, 5.0)
                out[i, s, 2] += c * value_noise(i * 1.7, s * 0.9, 9.0)
    return out, layer


@nb.njit(**JIT)
def draw_strands(
    screen: np.ndarray,
    world: np.ndarray,
    layer: np.ndarray,
    chance: np.ndarray,
    fibre: Fibre,
    centre: np.ndarray,
    light: Light,
    shadows: np.ndarray,
    depth: np.ndarray,
    image: np.ndarray,
    alpha: np.ndarray,
) -> None:
    """Draw strands as one or two pixels wide lines into the z-buffered picture.

    screen, world (N, S, 3); layer (N,); chance (N, 4); centre (3,): of the skull in the world.
    The highlights follow the tangent, as on a thin cylinder (Kajiya and Kay, 1989).
    """
    height, width = depth.shape
    n, points, _ = screen.shape
    d = light.direction
    for i in range(n):
        tone = 0.75 + 0.5 * chance[i, 2]
        white = chance[i, 3] < fibre.salt
        ambient_share = (1 - fibre.depth_shade) + fibre.depth_shade * layer[i]
        for s in range(points - 1):
            x0 = screen[i, s, 0]
            y0 = screen[i, s, 1]
            x1 = screen[i, s + 1, 0]
            y1 = screen[i, s + 1, 1]
            span = max(abs(x1 - x0), abs(y1 - y0))
            if span < 1e-6:
                continue
            if max(x0, x1) < -2 or max(y0, y1) < -2 or min(x0, x1) > width or min(y0, y1) > height:
                continue
            z0 = screen[i, s, 2] + 0.02
            z1 = screen[i, s + 1, 2] + 0.02
            # most inner strands lie wholly behind what is drawn: look at three points first
            steps = int(span) + 1
            seen = False
            for f in (0.05, 0.5, 0.95):
                ix = int(x0 + (x1 - x0) * f + 0.5)
                iy = int(y0 + (y1 - y0) * f + 0.5)
                inside = 0 <= ix < width and 0 <= iy < height
                if inside and z0 + (z1 - z0) * f > depth[iy, ix]:
                    seen = True
            if not seen:
                continue
            mx = world[i, s, 0]
            my = world[i, s, 1]
            mz = world[i, s, 2]
            tx, ty, tz = _unit(
                world[i, s + 1, 0] - mx, world[i, s + 1, 1] - my, world[i, s + 1, 2] - mz
            )
            rx, ry, rz = _unit(mx - centre[0], (my - centre[1]) * 0.6, mz - centre[2])
            along_light = tx * d[0] + ty * d[1] + tz * d[2]
            across_light = sqrt(max(0.0, 1 - along_light * along_light))
            across_view = sqrt(max(0.0, 1 - tz * tz))
            wrap = max(0.0, 0.30 + 0.70 * (rx * d[0] + ry * d[1] + rz * d[2]))
            lit = 0.25 + 0.75 * lit_share_fast(shadows, mx, my, mz, light, 0.10)
            shine = max(0.0, across_light * across_view - along_light * tz) ** 16
            t = s / (points - 1.0)
            up = 0.55 + 0.45 * ry
            direct = across_light * wrap * lit * 1.15
            sharp = fibre.gloss * shine * shine * wrap * lit
            broad = fibre.coloured_gloss * shine * wrap * lit
            red = green = blue = 0.0
            for ch in range(3):
                base = fibre.root[ch] * (1 - t) + fibre.tip[ch] * t
                if white:
                    base = fibre.salt_colour[ch]
                base *= tone
                value = base * (light.key[ch] * direct + light.sky[ch] * up * 0.9)
                value += light.key[ch] * (sharp + broad * (0.3 + base))
                value *= ambient_share
                if ch == 0:
                    red = value
                elif ch == 1:
                    green = value
                else:
                    blue = value
            wide = int(fibre.width * (1 - 0.5 * t))
            for k in range(steps):
                f = k / steps
                z = z0 + (z1 - z0) * f
                iy = int(y0 + (y1 - y0) * f + 0.5)
                ix = int(x0 + (x1 - x0) * f + 0.5)
                for jx in range(ix, ix + wide + 1):
                    if 0 <= jx < width and 0 <= iy < height and z > depth[iy, jx]:
                        depth[iy, jx] = z
                        image[iy, jx, 0] = red
                        image[iy, jx, 1] = green
                        image[iy, jx, 2] = blue
                        alpha[iy, jx] = 1.0
