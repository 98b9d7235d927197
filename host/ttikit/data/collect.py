"""A data set from pictures in files and their labels."""

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ttikit.data.pictures import Frame, read_pictures
from ttikit.data.shards import Manifest, Progress, Work, fill, open_manifest
from ttikit.errors import TtiError


@dataclass(frozen=True)
class Collection:
    """Pictures to read: files below `root`, labels (N, A) uint8 with 0, 1 or `UNKNOWN`.

    command: of `ttikit data`; domain: text of the domain file.
    """

    command: str
    root: Path
    attributes: tuple[str, ...]
    train: tuple[list[str], np.ndarray]
    held_out: tuple[list[str], np.ndarray]
    frame: Frame | None = None
    domain: str = ""

    def source(self) -> str:
        """The command and a hash of everything that decides the data set but the pixels."""
        sha256 = hashlib.sha256(repr(self.frame).encode())
        for names, labels in (self.train, self.held_out):
            sha256.update("\n".join(names).encode() + b"\0")
            sha256.update(np.ascontiguousarray(labels).tobytes())
        return f"{self.command} {sha256.hexdigest()}"


def collect(
    collection: Collection,
    out: Path,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> Manifest:
    """Write (or go on writing) the data set into `out`; stopping it loses one shard at most.

    Raises TtiError if a file is missing, no picture or damaged, if there is nothing to train on,
    and if `out` holds a data set of other pictures.
    """
    if workers < 1:
        raise TtiError("--workers must be at least 1")
    splits = {"train": collection.train, "held-out": collection.held_out}
    counts = {name: len(names) for name, (names, _) in splits.items()}
    if not counts["train"]:
        raise TtiError("no picture is left to train on: give more pictures, or keep fewer aside")
    wanted = Manifest(
        seed=0,
        counts=counts,
        renderer=0,
        attributes=list(collection.attributes),
        source=collection.source(),
        domain=collection.domain,
    )
    manifest = open_manifest(out, wanted)

    def work(split: str, start: int, stop: int) -> Work:
        names, labels = splits[split]
        paths = [collection.root / name for name in names[start:stop]]
        return partial(read_pictures, paths, labels[start:stop], collection.frame)

    fill(out, manifest, work, workers, progress)
    return manifest


def check_files(root: Path, names: list[str]) -> None:
    """TtiError that names the first file that does not exist, and says how many there are."""
    folders: dict[Path, set[str]] = {}
    missing = []
    for name in names:
        path = root / name
        if path.parent not in folders:
            there = path.parent.is_dir()
            folders[path.parent] = {p.name for p in path.parent.iterdir()} if there else set()
        if path.name not in folders[path.parent]:
            missing.append(path)
    if missing:
        more = f" and {len(missing) - 1:,} more are" if len(missing) > 1 else " is"
        raise TtiError(f"{missing[0]}{more} missing: restore them from a copy")
