"""From attributes to looks: skin, make-up, brows, eyes, hair style and clothes."""

from dataclasses import dataclass

import numpy as np

from ttikit.data import palette, strands
from ttikit.data.attributes import HAIR_COLOURS, Attributes
from ttikit.data.look import Garment, Look
from ttikit.data.person import Shape
from ttikit.data.strands import HairStyle


@dataclass(frozen=True)
class Colours:
    """Colours that several parts share: linear RGB (3,); melanin in 0..0.95."""

    melanin: float
    skin: np.ndarray
    hair: np.ndarray
    beard: np.ndarray
    brow: np.ndarray
    hair_name: str


def choose_colours(person: Attributes, shape: Shape, rng: np.random.Generator) -> Colours:
    """Skin and hair colours of a person. Bald people get a colour for brows and beard."""
    if person["Pale_Skin"]:
        melanin = 0.0
        skin = np.array([0.92, 0.74, 0.67]) * rng.uniform(0.97, 1.03)
    else:
        if person["Dark_Skin"]:
            melanin = rng.uniform(0.66, 0.92)
        else:
            mean = float(shape.origin @ (0.05, 0.2, 0.4)) + 0.03
            melanin = float(np.clip(mean + rng.normal() * 0.06, 0.02, 0.42))
        skin = palette.skin_tone(melanin) * (1 + rng.normal(0, 0.03, 3))
    names = [name for name in HAIR_COLOURS if person[name]]
    fallback = (
        "Gray_Hair" if not person["Young"] else ("Brown_Hair", "Black_Hair")[rng.integers(2)]
    )
    name = names[0] if names else fallback
    hair = palette.pick(rng, palette.HAIR[name]) * rng.uniform(0.85, 1.15)
    if name == "Gray_Hair":
        beard, brow = hair * rng.uniform(0.75, 1.1), hair * 0.35
    elif name == "Blond_Hair":
        beard, brow = hair * (0.62, 0.56, 0.50), hair * (0.40, 0.34, 0.28)
    else:
        beard, brow = hair * 0.8, hair * 0.75
    brow = np.minimum(brow, palette.linear("6a4a32"))
    return Colours(float(melanin), skin, hair, beard, brow, name)


def beard_density(person: Attributes) -> np.ndarray:
    """Density (4,) of strands in the beard zones."""
    density = np.zeros(4)
    if person["Full_Beard"]:
        density[:] = 1
    if person["Mustache"]:
        density[0] = 1
    if person["Goatee"]:
        density[1] = 1
    if person["Sideburns"]:
        density[3] = 1
    return density


def choose_look(
    person: Attributes,
    shape: Shape,
    colours: Colours,
    yaw: float,
    pitch: float,
    rng: np.random.Generator,
) -> Look:
    """All parameters of the surface. yaw and pitch (radians): the eyes look back at the camera."""
    between = rng.uniform
    male, made_up = person["Male"], person["Heavy_Makeup"]
    melanin = colours.melanin
    redness = between(0.2, 0.6) * (1 - 0.6 * melanin)
    blush = 0.25 * made_up
    if person["Rosy_Cheeks"]:
        redness += 0.35
        blush = between(0.65, 0.85)
    if person["Pale_Skin"]:
        redness *= 0.35
    lips = _lips(person, colours, rng)
    stubble = _stubble(person, rng)
    iris = next(name for name in palette.IRIS if person[name])
    return Look(
        skin=colours.skin,
        redness=redness,
        blush=blush,
        eye_bags=between(0.8, 1.0) if person["Bags_Under_Eyes"] else between(0, 0.15),
        wrinkles=0.0 if person["Young"] else between(0.75, 1.0) - 0.15 * (1 - male),
        freckles=between(0.7, 1.0) if person["Freckles"] else 0.0,
        shine=between(0.03, 0.10),
        shine_exponent=between(10, 26),
        lip_colour=lips[0],
        lip_strength=lips[1],
        lip_gloss=lips[2],
        eyeshadow_colour=palette.pick(rng, palette.EYESHADOW),
        eyeshadow=between(0.7, 1.0) if made_up else 0.0,
        eyeliner=between(0.8, 1.0) if made_up else (0.05 if male else between(0.35, 0.65)),
        hair_colour=colours.hair,
        scalp=between(0, 0.12) if person["Bald"] else 0.9,
        receding=between(0.35, 0.55) if person["Receding_Hairline"] else -0.05 * (1 - male),
        hairline_low=rng.normal(0, 0.4),
        beard_colour=colours.beard,
        stubble_moustache=stubble[0],
        stubble_chin=stubble[1],
        stubble_jaw=stubble[2],
        stubble_sideburns=stubble[3],
        brow_colour=colours.brow,
        iris_colour=palette.pick(rng, palette.IRIS[iris]) * 1.25,
        gaze_x=float(np.clip(rng.normal(0, 0.08) - 0.7 * np.sin(yaw), -0.45, 0.45)),
        gaze_y=float(np.clip(rng.normal(0, 0.04) + 0.5 * pitch, -0.25, 0.25)),
        iris_angle=between(0.54, 0.60),
        pupil_angle=between(0.18, 0.24),
        seed=between(0, 50),
        **_brows(person, rng),
    )


def _lips(
    person: Attributes, colours: Colours, rng: np.random.Generator
) -> tuple[np.ndarray, float, float]:
    """Colour, strength and gloss of the lips."""
    if person["Wearing_Lipstick"]:
        colour = palette.pick(rng, palette.LIPSTICK) * (1 - 0.3 * colours.melanin)
        return colour, rng.uniform(0.88, 0.97), rng.uniform(0.1, 0.4)
    tint = (0.82, 0.50, 0.50) if colours.melanin < 0.5 else (0.85, 0.62, 0.62)
    if not person["Male"]:
        tint = (tint[0], tint[1] - 0.10, tint[2] - 0.08)
    return colours.skin * tint, 0.75, 0.12


def _stubble(person: Attributes, rng: np.random.Generator) -> np.ndarray:
    """Paint below the beard (4,): a shadow alone, or the ground of the strands."""
    stubble = np.zeros(4)
    if person["5_o_Clock_Shadow"]:
        stubble[:] = rng.uniform(0.38, 0.55)
    return np.maximum(stubble, beard_density(person) * 0.75)


def _brows(person: Attributes, rng: np.random.Generator) -> dict[str, float]:
    between = rng.uniform
    arched = person["Arched_Eyebrows"]
    if person["Bushy_Eyebrows"]:
        thickness, strength = between(0.072, 0.09), 0.95
    elif person["Male"]:
        thickness, strength = between(0.040, 0.052), between(0.65, 0.85)
    else:
        thickness, strength = between(0.028, 0.040), between(0.65, 0.85)
    return {
        "brow_inner": between(0.09, 0.13),
        "brow_outer": between(0.52, 0.60),
        "brow_height": between(7.44, 7.475) - 0.02 * person["Male"],
        "brow_arch": between(0.12, 0.16) if arched else between(0.02, 0.06),
        "brow_slope": -0.07 if arched else between(-0.05, 0.0),
        "brow_thickness": thickness,
        "brow_strength": strength,
    }


def choose_hair(person: Attributes, shape: Shape, rng: np.random.Generator) -> HairStyle | None:
    """The cut, by sex, length and waves. Bald people have a wreath of short hair or None."""
    between = rng.uniform
    seed = between(0, 99)
    if person["Bald"]:
        wreath = rng.random() < (0.2 if person["Young"] else 0.5)
        return HairStyle(strands.CROP, 0.0, 0.1, 0.12, seed=seed) if wreath else None
    if person["Long_Hair"]:
        style = _long_cut(rng)
    elif person["Male"]:
        style = _short_cut(person, shape, rng)
    else:
        style = _bob(rng)
    if person["Wavy_Hair"]:
        style = _wave(style, person, rng)
    if person["Bangs"]:
        style = style._replace(bangs=True, bangs_y=between(7.62, 7.76))
    if person["Wearing_Hat"]:
        style = style._replace(volume=min(style.volume, 0.05))
    return style._replace(seed=seed)


def _long_cut(rng: np.random.Generator) -> HairStyle:
    length = rng.uniform(2.3, 3.4)
    comb = (strands.SIDE_PART, strands.CENTRE_PART)[rng.integers(2)]
    part = rng.choice([-0.3, 0.3]) * rng.uniform(0.5, 1)
    return HairStyle(
        comb,
        top=length + 0.4,
        side=length,
        back=length,
        part=part if comb == strands.SIDE_PART else rng.uniform(-0.05, 0.05),
        gravity=0.35,
        frizz=0.0,
        volume=rng.uniform(0.10, 0.26),
        stiffness=0.42,
    )


def _bob(rng: np.random.Generator) -> HairStyle:
    """A woman's hair that ends above the shoulder, or is tied in a knot."""
    comb = (strands.SIDE_PART, strands.CENTRE_PART, strands.KNOT)[rng.choice(3, p=[0.4, 0.3, 0.3])]
    if comb == strands.KNOT:
        return HairStyle(comb, 2.6, 2.6, 2.6, gravity=0.3, volume=0.05, stiffness=0.7)
    length = rng.uniform(0.75, 1.15)
    return HairStyle(
        comb,
        top=length + 0.3,
        side=length,
        back=length * 0.8,
        part=rng.choice([-0.3, 0.3, 0.0]) * rng.uniform(0.5, 1),
        gravity=0.3,
        volume=rng.uniform(0.10, 0.22),
        stiffness=0.45,
    )


def _lengths(rng: np.random.Generator) -> tuple[float, float, float]:
    top, side, back = rng.uniform(0.12, 0.45, 3)
    return float(top), float(side), float(back)


def _short_cut(person: Attributes, shape: Shape, rng: np.random.Generator) -> HairStyle:
    between = rng.uniform
    if shape.origin[2] > 0.55 and person["Wavy_Hair"] and rng.random() < 0.7:
        return HairStyle(strands.AFRO, *_lengths(rng), curl=0.05)
    kinds = ("buzz", "crop", "side", "back", "up")
    kind = "crop" if person["Bangs"] else kinds[rng.choice(5, p=[0.12, 0.24, 0.30, 0.22, 0.12])]
    part = rng.choice([-0.35, 0.35]) * between(0.6, 1.1)
    if kind == "buzz":
        return HairStyle(strands.CROP, between(0.05, 0.12), 0.04, 0.05, part, stiffness=0.3)
    if kind == "crop":
        lengths = (between(0.3, 0.75), between(0.08, 0.25), between(0.1, 0.3))
        return HairStyle(strands.CROP, *lengths, part, 0.2, volume=between(0.05, 0.13))
    if kind == "up":
        lengths = (between(0.25, 0.45), between(0.06, 0.15), between(0.08, 0.15))
        return HairStyle(strands.UP, *lengths, part, 0.2, volume=0.05, stiffness=0.3)
    comb = strands.SIDE_PART if kind == "side" else strands.BACK
    lengths = (between(0.45, 0.9), between(0.08, 0.35), between(0.15, 0.4))
    return HairStyle(comb, *lengths, part, 0.2, volume=between(0.08, 0.22), stiffness=0.4)


def _wave(style: HairStyle, person: Attributes, rng: np.random.Generator) -> HairStyle:
    """Waves wide enough to show in 64 pixels (about ten pixels a turn), or short curls."""
    between = rng.uniform
    if person["Long_Hair"]:
        return style._replace(
            wave=between(0.09, 0.15), wave_rate=between(1.2, 2.0), frizz=0.05, curl=0.02
        )
    if not person["Male"]:
        return style._replace(
            wave=between(0.07, 0.11), wave_rate=between(1.6, 2.4), frizz=0.06, curl=0.03
        )
    return style._replace(
        wave=between(0.03, 0.06),
        wave_rate=between(2.5, 3.5),
        frizz=0.14,
        curl=max(style.curl, between(0.05, 0.08)),
        volume=style.volume + 0.05,
    )


def choose_garment(person: Attributes, rng: np.random.Generator) -> tuple[str, Garment]:
    """The kind of top ("tee", "v", "shirt", "suit", "turtle" or "straps") and its parameters."""
    between = rng.uniform
    kinds = ("tee", "v", "shirt", "suit", "turtle", "straps")
    shares = (
        (0.32, 0.10, 0.26, 0.22, 0.10, 0) if person["Male"] else (0.3, 0.25, 0.1, 0.07, 0.08, 0.2)
    )
    kind = str(rng.choice(kinds, p=shares))
    if person["Wearing_Necktie"]:
        kind = str(rng.choice(["suit", "shirt"], p=[0.75, 0.25]))
    if person["Wearing_Necklace"] and kind in ("turtle", "suit", "shirt"):
        kind = "v"
    shirt = palette.pick(rng, palette.SHIRT)
    colour, second = palette.pick(rng, palette.CLOTH), palette.pick(rng, palette.CLOTH)
    if kind == "suit":
        colour = palette.pick(rng, palette.SUIT)
    if kind == "shirt" and (person["Wearing_Necktie"] or rng.random() < 0.5):
        colour = shirt
    garment = Garment(
        5.50, 0.0, 0.25, between(0.72, 0.95), 0.0, 0.0, False, 0.0, 0.0, 0.0, colour, second, shirt
    )
    if kind == "tee":
        garment = garment._replace(neck=between(5.52, 5.64), neck_side=0.10)
    elif kind == "v":
        depth, slope = between(4.6, 5.2), between(1.1, 1.8)
        garment = garment._replace(
            neck=5.66, neck_side=0.05, neck_back=0.2, v_depth=depth, v_slope=slope
        )
    elif kind == "shirt":
        garment = garment._replace(neck=5.90)
    elif kind == "suit":
        garment = garment._replace(
            neck=5.90, v_depth=4.5, v_slope=between(2.2, 3.0), shirt_below=True
        )
    elif kind == "turtle":
        garment = garment._replace(neck=between(5.95, 6.05), neck_back=0.2)
    else:
        garment = garment._replace(neck=between(4.7, 5.1), sleeve=9.0)
    if kind in ("tee", "shirt", "v") and rng.random() < 0.22:
        rate = between(3, 6)
        across = rng.random() < 0.5
        garment = garment._replace(
            stripes=between(0.4, 1),
            stripe_x=0.0 if across else rate,
            stripe_y=rate if across else 0.0,
        )
    return kind, garment
