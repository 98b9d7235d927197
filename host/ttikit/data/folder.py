"""A folder of pictures with a table of their attributes."""

import csv
import difflib
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ttikit.data.attributes import UNKNOWN
from ttikit.data.collect import Collection, check_files
from ttikit.data.domain import Domain
from ttikit.errors import TtiError

_VALUES = {"0": 0, "1": 1, "-1": UNKNOWN, "": UNKNOWN}


def read_folder(pictures: Path, table: Path, domain: Domain, held_out: float) -> Collection:
    """The pictures below `pictures` that the CSV file `table` lists, with labels of `domain`.

    The table's header is `file` and names of attributes; a row holds a path below `pictures` and
    0, 1 or, for unknown, -1 or nothing. Attributes without a column are unknown. held_out: share
    of the pictures that is kept aside, chosen by their names. Raises TtiError, with the line, for
    every fault.
    """
    if not 0 <= held_out < 1:
        raise TtiError(f"--held-out is a share from 0 to below 1, not {held_out}")
    if not pictures.is_dir():
        raise TtiError(f"{pictures} is no folder: --pictures is the folder of the pictures")
    names, labels = _read_table(table, domain.attributes)
    check_files(pictures, names)
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    aside = set(order[: int(held_out * len(names))])
    parts = []
    for wanted in (False, True):
        which = [i for i, name in enumerate(names) if (name in aside) == wanted]
        parts.append(([names[i] for i in which], labels[which]))
    return Collection(
        "folder", pictures, domain.attributes, parts[0], parts[1], domain=domain.text
    )


def _read_table(path: Path, attributes: Sequence[str]) -> tuple[list[str], np.ndarray]:
    rows = list(_rows(path))
    if not rows:
        raise TtiError(f"{path} is empty: its first line is file,ATTRIBUTE,ATTRIBUTE,...")
    header = [cell.strip() for cell in rows[0][1]]
    columns = _columns(path, header, attributes)
    names: dict[str, int] = {}
    labels = np.full((len(rows) - 1, len(attributes)), UNKNOWN, np.uint8)
    for i, (line, row) in enumerate(rows[1:]):
        cells = [cell.strip() for cell in row]
        if len(cells) != len(header):
            raise TtiError(f"{path}, line {line}, has {len(cells)} cells, not {len(header)}")
        name = _name(path, line, cells[0])
        if name in names:
            raise TtiError(f"{path}, line {line}: {name} stands in line {names[name]} already")
        names[name] = line
        for column, cell in zip(columns, cells[1:], strict=True):
            if cell not in _VALUES:
                raise TtiError(
                    f"{path}, line {line}: {attributes[column]} is {cell!r}, not 0, 1 or, for "
                    "unknown, -1 or nothing"
                )
            labels[i, column] = _VALUES[cell]
    return list(names), labels


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Rows that are not blank, each with the number of its last line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TtiError(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise TtiError(
            f"{path} is not UTF-8: in Excel, save it as “CSV UTF-8 (comma delimited)”"
        ) from None
    first = text.partition("\n")[0]
    # where the comma is the decimal mark, Excel writes semicolons
    separator = max(",", ";", "\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise TtiError(f"{path}, line {reader.line_num}, is no CSV ({error})") from None


def _columns(path: Path, header: list[str], attributes: Sequence[str]) -> list[int]:
    """Which attribute each column after the first stands for."""
    if header[0] != "file":
        raise TtiError(
            f"{path} must begin with a header whose first column is file, not {header[0]!r}"
        )
    for name in header[1:]:
        if name not in attributes:
            near = _nearest(name, attributes)
            hint = f"did you mean {near}" if near else f"use names from {', '.join(attributes)}"
            raise TtiError(f"{path}: {name!r} is no attribute; {hint}")
        if header.count(name) > 1:
            raise TtiError(f"{path} has two columns {name}: remove one")
    if len(header) == 1:
        raise TtiError(f"{path} has no column of an attribute after file")
    return [attributes.index(name) for name in header[1:]]


def _nearest(name: str, attributes: Sequence[str]) -> str | None:
    folded = {other.lower(): other for other in attributes}
    near = difflib.get_close_matches(name.lower().replace(" ", "_"), folded, 1, 0.6)
    return folded[near[0]] if near else None


def _name(path: Path, line: int, cell: str) -> str:
    """The picture's path below the folder, with slashes."""
    name = Path(cell.replace("\\", "/"))
    if not cell or name.is_absolute() or ".." in name.parts:
        raise TtiError(f"{path}, line {line}: {cell!r} is no path below the folder of --pictures")
    return name.as_posix()
