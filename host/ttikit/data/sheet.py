"""Contact sheets: many pictures in one, each with its attributes or a caption below it."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ttikit.data.attributes import ATTRIBUTES
from ttikit.data.dataset import SIZE, FaceDataset, render_one
from ttikit.errors import TtiError
from ttikit.files import write_atomically

_ZOOM = 3
_LINES = 4
_LINE_HEIGHT = 11
_GAP = 6
_QUIET = {"No_Beard", "Brown_Eyes", "Straight_Hair"}


def find_pictures(
    count: int, seed: int, wanted: Sequence[str], data: Path | None
) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Pictures and their attributes, all wanted ones among them, drawn or from a data set.

    A name with "!" before it must be absent. Raises TtiError for unknown names.
    """
    dataset = FaceDataset(data) if data else None
    names = dataset.attributes if dataset else ATTRIBUTES
    unknown = [name for name in wanted if name.removeprefix("!") not in names]
    if unknown:
        raise TtiError(f"{unknown[0]!r} is no attribute: use names from {', '.join(names)}")
    rules = [(names.index(name.removeprefix("!")), not name.startswith("!")) for name in wanted]
    source = _stored(dataset) if dataset else _drawn(seed, rules)
    found = 0
    for image, labels in source:
        if all(labels[column] == value for column, value in rules):
            yield image, [name for name, label in zip(names, labels, strict=True) if label == 1]
            found += 1
            if found == count:
                return


def _stored(dataset: FaceDataset) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    position = 0
    for shard in dataset.shards:
        for image in shard:
            yield image, dataset.labels[position]
            position += 1


def _drawn(seed: int, rules: list[tuple[int, bool]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    from ttikit.data.attributes import labels_array, sample_attributes
    from ttikit.data.dataset import picture_rng

    tried_in_vain = 0
    for index in range(2**31):
        labels = labels_array(sample_attributes(picture_rng(seed, "train", index)))
        if any(labels[column] != value for column, value in rules):
            tried_in_vain += 1
            if tried_in_vain > 50_000:
                raise TtiError("no person has all these attributes: ask for fewer")
            continue
        tried_in_vain = 0
        yield render_one(seed, "train", index)


def _text(names: Sequence[str]) -> list[str]:
    lines, line = [], ""
    for name in names:
        if name in _QUIET:
            continue
        if len(line) + len(name) > 31:
            lines.append(line)
            line = ""
        line = f"{line} {name}".strip()
    return [*lines, line][:_LINES]


def write_sheet(
    pictures: Sequence[tuple[np.ndarray, Sequence[str]]], columns: int, path: Path
) -> None:
    """Write a PNG with the pictures in rows, three times enlarged, and their attributes."""
    if not pictures:
        raise TtiError("no picture has these attributes: ask for fewer")
    side = SIZE * _ZOOM
    cell = side + _GAP, side + _LINES * _LINE_HEIGHT + _GAP
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (min(columns, len(pictures)) * cell[0], rows * cell[1]), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=10)
    for i, (picture, names) in enumerate(pictures):
        left, top = i % columns * cell[0], i // columns * cell[1]
        big = Image.fromarray(picture).resize((side, side), Image.Resampling.NEAREST)
        sheet.paste(big, (left, top))
        for row, line in enumerate(_text(names)):
            draw.text((left + 2, top + side + row * _LINE_HEIGHT), line, "black", font)
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    write_atomically(path, buffer.getvalue())
