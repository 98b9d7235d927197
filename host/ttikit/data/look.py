"""Parameters of one person's surface, as the shading kernels read them."""

from typing import NamedTuple

import numpy as np


class Look(NamedTuple):
    """Skin, make-up, eyes and painted hair. Strengths lie in 0..1, colours are linear RGB (3,).

    Heights and widths are in units of the unmodified head (see `ttikit.data.regions`).
    """

    skin: np.ndarray
    redness: float
    blush: float
    eye_bags: float
    wrinkles: float
    freckles: float
    shine: float
    shine_exponent: float
    # make-up and lips
    lip_colour: np.ndarray
    lip_strength: float
    lip_gloss: float
    eyeshadow_colour: np.ndarray
    eyeshadow: float
    eyeliner: float
    # hair painted on the skin below the strands
    hair_colour: np.ndarray
    scalp: float
    receding: float
    hairline_low: float
    beard_colour: np.ndarray
    stubble_moustache: float
    stubble_chin: float
    stubble_jaw: float
    stubble_sideburns: float
    # eyebrows
    brow_colour: np.ndarray
    brow_inner: float
    brow_outer: float
    brow_height: float
    brow_arch: float
    brow_slope: float
    brow_thickness: float
    brow_strength: float
    # eyes; angles in radians
    iris_colour: np.ndarray
    gaze_x: float
    gaze_y: float
    iris_angle: float
    pupil_angle: float
    seed: float


class Garment(NamedTuple):
    """What the body wears; everything below the neckline is cloth.

    The neckline's height at (x, z) is neck + neck_side * |x| + neck_back * max(0, 0.55 - z);
    v_depth > 0 opens a V from there down to that height. stripe_x, stripe_y: stripes a unit.
    """

    neck: float
    neck_side: float
    neck_back: float
    sleeve: float
    v_depth: float
    v_slope: float
    shirt_below: bool
    stripes: float
    stripe_x: float
    stripe_y: float
    colour: np.ndarray
    second_colour: np.ndarray
    shirt_colour: np.ndarray
