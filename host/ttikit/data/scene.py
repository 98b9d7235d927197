"""Pose, light, camera and background of one picture."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter, zoom

from ttikit.data.attributes import Attributes
from ttikit.data.raster import Camera, Light, turn_points

_NECK_PIVOT = np.array([0.0, 6.3, 0.15])
SHADOW_TEXELS = 128


@dataclass(frozen=True)
class Pose:
    """Turns the head (and a little of the body) about the neck. Angles in radians."""

    yaw: float
    pitch: float
    head: np.ndarray
    body: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) of the person to the world; between neck and chest the two blend."""
        flat = np.ascontiguousarray(points.reshape(-1, 3), np.float64)
        return turn_points(flat, self.head, self.body, _NECK_PIVOT).reshape(points.shape)


def _rotation(yaw: float, pitch: float, roll: float) -> np.ndarray:
    cy, sy = np.cos(yaw), np.sin(yaw)
    cp, sp = np.cos(pitch), np.sin(pitch)
    cr, sr = np.cos(roll), np.sin(roll)
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    return about_z @ about_x @ about_y


def choose_pose(rng: np.random.Generator) -> Pose:
    """A head that mostly faces the camera, like aligned portraits."""
    yaw = float(np.clip(rng.normal(0, 0.22), -0.6, 0.6))
    pitch = float(np.clip(rng.normal(0, 0.08), -0.2, 0.2))
    roll = float(rng.normal(0, 0.05))
    body = _rotation(yaw * 0.25 + rng.normal(0, 0.12), 0, rng.normal(0, 0.03))
    return Pose(yaw, pitch, _rotation(yaw, pitch, roll), body)


def choose_light(rng: np.random.Generator) -> Light:
    """A key light from the front or the side, warm or cold, with light from the sky."""
    azimuth, height = float(np.clip(rng.normal(0, 0.65), -1.4, 1.4)), rng.uniform(0.15, 1.0)
    direction = np.array(
        [np.sin(azimuth) * np.cos(height), np.sin(height), np.cos(azimuth) * np.cos(height)]
    )
    warmth = rng.normal(0, 0.06)
    key = np.array([1 + warmth, 1, 1 - warmth]) * rng.uniform(0.75, 1.1)
    sky = np.array([1 - warmth * 0.6, 1, 1 + warmth * 0.8]) * rng.uniform(0.38, 0.66)
    right = np.cross([0, 1, 0.01], direction)
    right /= np.linalg.norm(right)
    up = np.cross(direction, right)
    centre = np.array([0, 7.1, 0.4])
    middle = float(centre @ right), float(centre @ up)
    scale = SHADOW_TEXELS / 4.6
    ground = sky * (0.62, 0.55, 0.5)
    return Light(direction, right, up, *middle, scale, SHADOW_TEXELS, key, sky, ground)


def choose_camera(
    person: Attributes,
    left_eye: np.ndarray,
    right_eye: np.ndarray,
    yaw: float,
    pixels: int,
    rng: np.random.Generator,
) -> Camera:
    """Frame the face like an aligned portrait.

    left_eye, right_eye (3,) in the world; pixels: side of the supersampled picture. Measured in
    64 pixels the eyes are 13 pixels apart and lie 31 pixels below the upper edge; ties and
    necklaces move the frame down, hats move it up.
    """
    unit = pixels / 64
    apart = rng.uniform(12.5, 13.5)
    eye_row = rng.uniform(30.0, 32.0)
    if person["Wearing_Hat"]:
        eye_row += 2.5
        apart -= 1.0
    elif person["Wearing_Necktie"]:
        eye_row -= 4.5
        apart -= 1.4
    elif person["Wearing_Necklace"]:
        eye_row -= 3.0
        apart -= 0.8
    distance = rng.uniform(11, 18)
    middle = (left_eye + right_eye) / 2
    focal = apart * unit / np.linalg.norm(left_eye - right_eye) * distance
    centre_x = pixels / 2 + (rng.normal(0, 0.5) - np.sin(yaw) * 1.5) * unit
    return Camera(
        float(focal),
        float(centre_x),
        float(eye_row * unit),
        float(distance),
        float(middle[2]),
        float(middle[0]),
        float(middle[1]),
    )


def _colour(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    tint = np.clip(rng.normal(0, 0.25, 3) + 1, 0.5, 1.5)
    return tint * np.exp(rng.uniform(np.log(low), np.log(high)))


def background(rng: np.random.Generator, size: int) -> np.ndarray:
    """A gradient, a blurred scene or blurred boxes: linear RGB (size, size, 3)."""
    kind = rng.random()
    if kind < 0.4:
        return _gradient(rng, size)
    if kind < 0.8:
        return _bokeh(rng, size)
    return _boxes(rng, size)


def _gradient(rng: np.random.Generator, size: int) -> np.ndarray:
    y, x = np.mgrid[0:size, 0:size] / size
    first = _colour(rng, 0.03, 0.8)
    second = (first + _colour(rng, 0.03, 0.8)) / 2
    angle = rng.uniform(0, 2 * np.pi)
    t = np.clip(0.5 + (x - 0.5) * np.cos(angle) + (y - 0.5) * np.sin(angle), 0, 1)[..., None]
    vignette = 1 - rng.uniform(0, 0.5) * ((x - 0.5) ** 2 + (y - 0.4) ** 2)[..., None] * 2
    return (first * (1 - t) + second * t) * vignette


def _bokeh(rng: np.random.Generator, size: int) -> np.ndarray:
    cells = int(rng.integers(3, 8))
    grid = _colour(rng, 0.03, 0.5) * np.exp(rng.normal(0, 0.5, (cells, cells, 1)))
    grid = grid * np.clip(1 + rng.normal(0, 0.2, (cells, cells, 3)), 0.3, 2)
    big = np.stack([zoom(grid[..., c], size / cells, order=1)[:size, :size] for c in range(3)], -1)
    blur = size / rng.uniform(10, 24)
    return gaussian_filter(big, (blur, blur, 0))


def _boxes(rng: np.random.Generator, size: int) -> np.ndarray:
    y, x = np.mgrid[0:size, 0:size] / size
    out = np.tile(_colour(rng, 0.03, 0.5), (size, size, 1))
    for _ in range(int(rng.integers(2, 6))):
        left, width = rng.uniform(-0.2, 1), rng.uniform(0.1, 0.5)
        top, height = rng.uniform(-0.2, 1), rng.uniform(0.2, 0.9)
        box = (x > left) & (x < left + width) & (y > top) & (y < top + height)
        out[box] = out[box] * 0.3 + 0.7 * _colour(rng, 0.03, 0.8)
    blur = size / rng.uniform(18, 40)
    return gaussian_filter(out, (blur, blur, 0))
