"""CelebA as it is distributed: aligned pictures of 178×218 and three lists.

Below the root lie `img_align_celeba/`, `list_attr_celeba.txt` and perhaps
`list_eval_partition.txt`, each there or in the folders `Img`, `Anno` and `Eval` of the archive
(Liu et al., Deep Learning Face Attributes in the Wild, 2015). Its licence allows non-commercial
research only.
"""

from pathlib import Path

import numpy as np

from ttikit.data.attributes import ATTRIBUTES, CELEBA_ATTRIBUTES, HAIR_COLOURS, INDEX, UNKNOWN
from ttikit.data.collect import Collection, check_files
from ttikit.data.pictures import Frame
from ttikit.errors import TtiError

LEFT_OUT = "Attractive"
"""The one of CelebA's 40 attributes that is no fact."""

_COLUMNS = {*CELEBA_ATTRIBUTES, LEFT_OUT}
_SIZE = (178, 218)
# Between the eyes of an aligned picture lie about 39 pixels, at row 111, left and right of column
# 88.5; our renders have 13 pixels between the eyes, 31 below the upper edge (docs/data.md).
_SIDE = 39 * 64 / 13
FRAME = Frame(_SIZE, 88.5 - _SIDE / 2, 111 - 31 / 64 * _SIDE, _SIDE)
_EVERY = 10


def read_celeba(root: Path, train: int | None = None, held_out: int | None = None) -> Collection:
    """The pictures and labels below `root`; train, held_out: use the first so many only.

    Held-out pictures are CelebA's validation and test pictures, or every tenth one where
    `list_eval_partition.txt` is missing. Raises TtiError if a list is missing or not as
    distributed, and if a picture is missing.
    """
    pictures = _find(root, "img_align_celeba", "Img")
    names, labels = _attributes(_find(root, "list_attr_celeba.txt", "Anno"))
    check_files(pictures, names)
    partition = _places(root, "list_eval_partition.txt", "Eval")
    if partition is None:
        aside = np.arange(len(names)) % _EVERY == _EVERY - 1
    else:
        aside = _partition(partition, names) != 0
    parts = []
    for chosen, count in ((~aside, train), (aside, held_out)):
        which = np.flatnonzero(chosen)[:count]
        parts.append(([names[i] for i in which], labels[which]))
    return Collection("celeba", pictures, ATTRIBUTES, parts[0], parts[1], FRAME)


def _places(root: Path, name: str, folder: str) -> Path | None:
    return next((p for p in (root / name, root / folder / name) if p.exists()), None)


def _find(root: Path, name: str, folder: str) -> Path:
    path = _places(root, name, folder)
    if path is None:
        raise TtiError(
            f"{root / name} is missing: --root is the folder of CelebA with img_align_celeba and "
            "list_attr_celeba.txt"
        )
    return path


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").splitlines()
    except (UnicodeDecodeError, OSError) as error:
        raise TtiError(f"{path} cannot be read ({error}): restore it from a copy") from None


def _attributes(path: Path) -> tuple[list[str], np.ndarray]:
    """File names and labels (N, 50) of the list: its count, a header, then 1 or -1 per column."""
    lines = _lines(path)
    columns = lines[1].split() if len(lines) > 1 else []
    if not lines or not lines[0].strip().isdigit():
        raise TtiError(f"{path} does not begin with the number of pictures: restore it")
    if len(columns) != len(_COLUMNS) or set(columns) != _COLUMNS:
        strange = sorted(set(columns) ^ _COLUMNS) or columns
        raise TtiError(f"{path} has other columns than CelebA's 40 ({strange[0]}): restore it")
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise TtiError(f"{path} lists {len(rows):,} pictures, not {int(lines[0]):,}: restore it")
    for number, row in enumerate(rows, start=3):
        if len(row) != 1 + len(columns) or not {"1", "-1"}.issuperset(row[1:]):
            raise TtiError(
                f"{path}, line {number}, is not a name and 40 times 1 or -1: restore it"
            )
    names = [row[0] for row in rows]
    if len(set(names)) != len(names):
        raise TtiError(f"{path} lists a picture twice: restore it")
    values = np.array([[value == "1" for value in row[1:]] for row in rows], np.uint8)
    return names, _our_labels(values.reshape(len(rows), len(columns)), columns)


def _our_labels(values: np.ndarray, columns: list[str]) -> np.ndarray:
    """Labels (N, 50): CelebA's own, what follows from them, and `UNKNOWN` for the rest."""
    labels = np.full((len(values), len(ATTRIBUTES)), UNKNOWN, np.uint8)

    def get(name: str) -> np.ndarray:
        return values[:, columns.index(name)] == 1

    for name in CELEBA_ATTRIBUTES:
        labels[:, INDEX[name]] = get(name)
    kinds = get("5_o_Clock_Shadow") | get("Goatee") | get("Mustache")
    hair = np.any([get(name) for name in HAIR_COLOURS if name in columns], axis=0)
    shaven = get("No_Beard")
    labels[~shaven & ~kinds & get("Male"), INDEX["Full_Beard"]] = 1
    for name, absent in {
        "Full_Beard": shaven,
        "Sunglasses": ~get("Eyeglasses"),
        "Red_Hair": hair,
        "Long_Hair": get("Bald"),
        "Dark_Skin": get("Pale_Skin"),
        "Sad": get("Smiling"),
    }.items():
        labels[absent, INDEX[name]] = 0
    return labels


def _partition(path: Path, names: list[str]) -> np.ndarray:
    """0 (train), 1 (validation) or 2 (test) of each picture."""
    rows = [line.split() for line in _lines(path) if line.strip()]
    if any(len(row) != 2 or row[1] not in ("0", "1", "2") for row in rows):
        raise TtiError(f"{path} does not hold a name and 0, 1 or 2 in each line: restore it")
    parts = {row[0]: int(row[1]) for row in rows}
    without = next((name for name in names if name not in parts), None)
    if without is not None:
        raise TtiError(f"{path} does not say where {without} belongs: restore it")
    return np.array([parts[name] for name in names], np.int64)
