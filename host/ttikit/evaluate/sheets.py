"""Contact sheets of an evaluation: small PNGs of many pictures, in at most 256 colours each."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ttikit.files import write_atomically

SIDE = 64
GAP = 2
LINE = 11  # pixels of a line of text
FAILED_COLUMNS = 8
_CELL = 128  # width of a picture with its words


def write_png(path: Path, image: Image.Image, colours: int = 256) -> None:
    """Write `image` with a palette, atomically: a third of the bytes of true colour."""
    small = image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def grid_image(
    pictures: NDArray[np.uint8], rows: Sequence[str] = (), columns: Sequence[str] = ()
) -> Image.Image:
    """Pictures (R, C, 64, 64, 3) in a white grid; short Latin texts beside rows and above columns.

    The font is Pillow's own, which has no Cyrillic letters and is the same on every machine.
    """
    font = ImageFont.load_default(size=10)
    left = 6 + int(max((font.getlength(text) for text in rows), default=-6))
    top = LINE + 2 if columns else 0
    step = SIDE + GAP
    height, width = (pictures.shape[0] * step, pictures.shape[1] * step)
    image = Image.new("RGB", (left + width, top + height), "white")
    draw = ImageDraw.Draw(image)
    for c, text in enumerate(columns):
        draw.text((left + c * step + 2, 0), text, "black", font)
    for r, text in enumerate(rows):
        draw.text((2, top + r * step + SIDE // 2 - 6), text, "black", font)
    for r, row in enumerate(pictures):
        for c, picture in enumerate(row):
            image.paste(Image.fromarray(picture), (left + c * step, top + r * step))
    return image


def blocks_image(pictures: NDArray[np.uint8], seeds: int, count: int) -> Image.Image:
    """Like `grid_image`, each group of `seeds` columns with the number of its prompt above it."""
    font = ImageFont.load_default(size=10)
    step, block = SIDE + GAP, seeds * (SIDE + GAP) + 6
    line = SIDE + LINE + 4
    across = pictures.shape[1] // seeds
    image = Image.new("RGB", (across * block, pictures.shape[0] * line), "white")
    draw = ImageDraw.Draw(image)
    for number in range(count):
        r, b = divmod(number, across)
        draw.text((b * block + 1, r * line), str(number + 1), "black", font)
        for s in range(seeds):
            place = (b * block + s * step, r * line + LINE + 1)
            image.paste(Image.fromarray(pictures[r, b * seeds + s]), place)
    return image


def words_image(pictures: Sequence[tuple[NDArray[np.uint8], str]]) -> Image.Image:
    """Pictures with a few words below each, in rows of 8."""
    font = ImageFont.load_default(size=10)
    lines = [_lines(text, font) for _, text in pictures]
    height = SIDE + GAP + LINE * max(len(part) for part in lines) + 4
    columns = min(FAILED_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    image = Image.new("RGB", (columns * _CELL, rows * height), "white")
    draw = ImageDraw.Draw(image)
    for i, (picture, _) in enumerate(pictures):
        x, y = i % columns * _CELL, i // columns * height
        image.paste(Image.fromarray(picture), (x, y))
        for k, line in enumerate(lines[i]):
            draw.text((x, y + SIDE + GAP + k * LINE), line, "black", font)
    return image


def _lines(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> list[str]:
    """Break text into lines that fit a cell."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) < _CELL - 6:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
