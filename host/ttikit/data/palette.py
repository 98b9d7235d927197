"""Colours, as linear RGB."""

import numpy as np

Palette = tuple[str, ...]

HAIR: dict[str, Palette] = {
    "Black_Hair": ("16120f", "1c1816", "120f0e"),
    "Brown_Hair": ("523521", "64432f", "74503a", "472d1c"),
    "Blond_Hair": ("d2ac68", "e4c584", "c59c58", "ecd49c"),
    "Gray_Hair": ("9a9996", "b9b8b5", "d8d7d4", "c6c5c3"),
    "Red_Hair": ("9a3d16", "b04a1a", "8a3212"),
}
IRIS: dict[str, Palette] = {
    "Brown_Eyes": ("4a2a14", "5b3418", "3a2010"),
    "Blue_Eyes": ("4d86c4", "6a9fd6", "3f78b8"),
    "Green_Eyes": ("4f8a4a", "6c9a55", "5a8f62"),
}
CLOTH: Palette = (
    "1e2430",
    "2f3b52",
    "7a1f26",
    "e8e6e1",
    "3c3c3c",
    "101010",
    "5b7f9c",
    "8c6b4f",
    "355e3b",
    "b9a28a",
    "c94f4f",
    "e0c8c8",
    "6a4a7a",
    "d9d9d9",
    "f2f2f2",
    "22456b",
    "a03050",
    "e8b04a",
)
SUIT: Palette = ("15181f", "22262e", "2b3140", "3a3a3c", "101010", "4a4238")
SHIRT: Palette = ("f4f4f4", "f4f4f4", "c8d6e8", "e8d8d8")
TIE: Palette = ("8a1020", "20305a", "202020", "6a2060", "305030", "a07a20", "a82020", "2a5a8a")
LIPSTICK: Palette = ("b0142a", "c8233f", "961430", "b83050", "d83a60", "a82424")
EYESHADOW: Palette = ("3b2a35", "4a3a34", "2a2a30", "5a3a3a", "5a4468", "35495a")
FRAME: Palette = ("141414", "141414", "101018", "101010", "3a2010", "501820", "182848", "b08a40")
JEWEL: Palette = ("d8ac50", "e0e0e8", "f0f0f4", "b01830", "2050b0")


def linear(code: str) -> np.ndarray:
    """sRGB hexadecimal RRGGBB to linear RGB (3,) (IEC 61966-2-1)."""
    value = np.array([int(code[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)


def pick(rng: np.random.Generator, palette: Palette) -> np.ndarray:
    """A random colour of a palette, linear RGB (3,)."""
    return linear(palette[int(rng.integers(len(palette)))])


def skin_tone(melanin: float) -> np.ndarray:
    """Linear RGB (3,) of skin; melanin 0 (fair) to 0.95 (very dark), blended in logarithms."""
    fair, olive, dark = np.log([[0.80, 0.50, 0.385], [0.40, 0.215, 0.135], [0.085, 0.040, 0.024]])
    if melanin < 0.5:
        return np.exp(fair + (olive - fair) * melanin / 0.5)
    return np.exp(olive + (dark - olive) * (melanin - 0.5) / 0.5)


def to_srgb(value: np.ndarray) -> np.ndarray:
    """Linear light in [0, 1] to sRGB in [0, 1] (IEC 61966-2-1)."""
    curve = 1.055 * np.maximum(value, 1e-8) ** (1 / 2.4) - 0.055
    return np.where(value < 0.0031308, 12.92 * value, curve)
