"""Glasses, earrings and necklaces: drawn as tubes and lenses over the shaded head."""

from dataclasses import dataclass

import numpy as np

from ttikit.data import palette
from ttikit.data.asset import Head
from ttikit.data.attributes import Attributes
from ttikit.data.lines import draw_lens, draw_tube
from ttikit.data.raster import Camera, Light, project_points
from ttikit.data.scene import Pose
from ttikit.data.worn import front_profile


@dataclass(frozen=True)
class Canvas:
    """The picture being drawn; `unit` is the size of one final pixel (of 64) in its pixels."""

    image: np.ndarray
    alpha: np.ndarray
    depth: np.ndarray
    pose: Pose
    camera: Camera
    light: Light
    unit: float

    def project(self, points: np.ndarray) -> np.ndarray:
        """Points (N, 3) of the person to the screen."""
        return project_points(np.ascontiguousarray(self.pose(points)), self.camera)

    def tube(
        self,
        screen: np.ndarray,
        radius: float,
        closed: bool,
        colour: np.ndarray,
        gloss: float,
        bias: float,
    ) -> None:
        """`draw_tube` on this canvas."""
        target = self.light, self.depth, self.image, self.alpha
        draw_tube(screen, float(radius), closed, colour, gloss, bias, *target)

    def lens(
        self,
        screen: np.ndarray,
        tint: np.ndarray,
        upper: float,
        lower: float,
        glare_at: float,
        glare: float,
    ) -> None:
        """`draw_lens` on this canvas."""
        target = self.light, self.depth, self.image, self.alpha
        draw_lens(screen, tint, upper, lower, glare_at, glare, *target)


_LENS_SHAPES = {
    # half width, half height, exponent of the superellipse
    "rectangle": (0.255, 0.155, 0.45),
    "round": (0.225, 0.215, 1.0),
    "oval": (0.25, 0.17, 1.0),
    "aviator": (0.27, 0.215, 0.8),
}


def draw_accessories(
    person: Attributes,
    head: Head,
    vertices: np.ndarray,
    eyes: np.ndarray,
    canvas: Canvas,
    rng: np.random.Generator,
) -> None:
    """Draw what the person wears. vertices (V, 3), eyes (2, 3): left and right, unposed."""
    if person["Eyeglasses"]:
        _glasses(person, head, vertices, eyes, canvas, rng)
    if person["Wearing_Earrings"]:
        _earrings(head, vertices, canvas, rng)
    if person["Wearing_Necklace"]:
        _necklace(head, vertices, canvas, rng)


def _glasses(
    person: Attributes,
    head: Head,
    vertices: np.ndarray,
    eyes: np.ndarray,
    canvas: Canvas,
    rng: np.random.Generator,
) -> None:
    between = rng.uniform
    name = str(rng.choice(list(_LENS_SHAPES)))
    half_width, half_height, exponent = _LENS_SHAPES[name]
    half_width *= between(0.97, 1.12)
    half_height *= between(0.97, 1.15)
    colour = palette.pick(rng, palette.FRAME)
    radius = between(0.42, 0.72) * canvas.unit
    rest = head.rest
    bridge = (abs(rest[:, 0]) < 0.03) & (abs(rest[:, 1] - 7.22) < 0.08) & (rest[:, 2] > 1.3)
    front = vertices[bridge, 2].max() + 0.04
    angle = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    x = np.sign(np.cos(angle)) * abs(np.cos(angle)) ** exponent * half_width
    y = np.sign(np.sin(angle)) * abs(np.sin(angle)) ** exponent * half_height
    if name == "aviator":
        y = np.where(y < 0, y * 1.1, y * 0.85)
    frames = []
    for side, eye in zip((1, -1), eyes, strict=True):
        across = eye[0] + side * 0.03 + x
        rim = np.stack([across, eye[1] - 0.03 + y, front - 0.24 * across**2], 1)
        lens = canvas.project(rim)
        if person["Sunglasses"]:
            tint = colour * 0.2 + 0.006
            canvas.lens(lens, tint, between(0.92, 0.98), between(0.8, 0.95), 0.4, between(0, 0.2))
        else:
            tint = canvas.light.sky * (0.8, 0.85, 0.9)
            canvas.lens(lens, tint, 0.03, 0.03, between(0.2, 0.8), between(0, 0.15))
        frames.append((lens, True))
        outer = eye[0] + side * half_width
        temple = [
            [outer, eye[1] + 0.05, front - 0.24 * outer**2],
            [side * (abs(eye[0]) + 0.50), eye[1] + 0.04, 0.85],
            [side * (abs(eye[0]) + 0.56), eye[1] - 0.02, 0.4],
        ]
        frames.append((canvas.project(np.array(temple)), False))
    inner = eyes[0, 0] - half_width + 0.03
    low, high = eyes[0, 1] + 0.02, eyes[0, 1] + 0.055
    arc = [[-inner, low, front - 0.01], [0, high, front + 0.02], [inner, low, front - 0.01]]
    frames.append((canvas.project(np.array(arc)), False))
    for line, closed in frames:
        canvas.tube(line, radius, closed, colour, 0.12, 0.02)


def _earrings(head: Head, vertices: np.ndarray, canvas: Canvas, rng: np.random.Generator) -> None:
    colour = palette.pick(rng, palette.JEWEL)
    kind = str(rng.choice(["stud", "hoop", "drop"], p=[0.2, 0.4, 0.4]))
    turn = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    for side in (1, -1):
        near = ((head.rest - [side * 0.78, 6.86, 0.56]) ** 2).sum(1)
        lobe = vertices[np.argmin(near)] + [side * 0.04, -0.02, 0.03]
        if kind == "hoop":
            size = rng.uniform(0.16, 0.2)
            ring = np.stack(
                [
                    np.full(16, 0.05 * side),
                    size * np.cos(turn) - size,
                    size * np.sin(turn) * 0.8 + 0.02,
                ],
                1,
            )
            canvas.tube(canvas.project(lobe + ring), 0.6 * canvas.unit, True, colour, 1.2, 0.12)
        elif kind == "drop":
            drop = np.array([[0, -0.05, 0], [0.01, -0.22, 0], [0.02, -0.36, 0]])
            canvas.tube(canvas.project(lobe + drop), 1.0 * canvas.unit, False, colour, 1.2, 0.12)
        else:
            stud = np.array([[0, 0, 0], [0, -0.02, 0]])
            canvas.tube(canvas.project(lobe + stud), 1.3 * canvas.unit, False, colour, 1.5, 0.12)


def _necklace(head: Head, vertices: np.ndarray, canvas: Canvas, rng: np.random.Generator) -> None:
    colour = palette.pick(rng, palette.JEWEL)
    t = np.linspace(-1, 1, 25)
    drop = rng.uniform(0.10, 0.30)
    height = 5.86 - (1 - t * t) * drop
    depth = front_profile(head, vertices, height) - 0.55 * t * t
    chain = np.stack([t * 0.52, height, depth + 0.07], 1)
    if rng.random() < 0.4:
        canvas.tube(canvas.project(chain), 0.6 * canvas.unit, False, colour, 1.0, 0.08)
        return
    for bead in canvas.project(chain):
        pair = np.stack([bead, bead + (0.01, 0, 0)])
        canvas.tube(pair, 0.8 * canvas.unit, False, colour, 1.0, 0.08)
