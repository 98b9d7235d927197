"""Writing a data set: shards filled by several processes, resumable, each with its SHA-256."""

import hashlib
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ttikit.data.attributes import ATTRIBUTES
from ttikit.errors import TtiError
from ttikit.files import write_atomically

SIZE = 64
SHARD = 500
"""Pictures in a shard; the last of a split may hold fewer."""

MANIFEST = "dataset.json"
RENDER = "render"
_FORMAT = 1
_CHUNK = 25
_EARLY_TRAIN_SHARDS = 12

Work = Callable[[], tuple[np.ndarray, np.ndarray]]
"""Makes pictures (N, 64, 64, 3) uint8 and labels (N, A) uint8; runs in another process."""

Progress = Callable[[int, int], None]
"""Called with the numbers of pictures done and in all."""


@dataclass
class Manifest:
    """Contents of `dataset.json`; shards: file stem to {"count", "images", "labels"} (SHA-256).

    source: the command that made it, and for pictures of others a hash of their names and labels;
    domain: text of the domain file, empty for faces.
    """

    seed: int
    counts: dict[str, int]
    renderer: int
    attributes: list[str] = field(default_factory=lambda: list(ATTRIBUTES))
    shards: dict[str, dict[str, Any]] = field(default_factory=dict)
    source: str = RENDER
    domain: str = ""

    @property
    def command(self) -> str:
        """The subcommand of `ttikit data` that made the data set."""
        return self.source.partition(" ")[0]

    def write(self, root: Path) -> None:
        """Replace the file in one step."""
        text = json.dumps({"format": _FORMAT, "size": SIZE, **vars(self)}, indent=1)
        write_atomically(root / MANIFEST, text.encode())

    @staticmethod
    def read(root: Path) -> "Manifest":
        """Read `root`/dataset.json; TtiError if it is missing or makes no sense."""
        path = root / MANIFEST
        try:
            data = json.loads(path.read_text())
            if data.pop("format") != _FORMAT:
                raise TtiError(f"{path} has another format: use the ttikit that wrote it")
            data.pop("size")
            manifest = Manifest(**data)
            for record in manifest.shards.values():
                int(record["count"]), str(record["images"]), str(record["labels"])
            return manifest
        except FileNotFoundError:
            raise TtiError(
                f"{root} holds no data set (no {MANIFEST}): "
                f"run `ttikit data render --out {root}` first"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise TtiError(
                f"{path} is damaged ({error}): delete it and run the command that made the data "
                "set again, or restore it from a copy"
            ) from error


def stem(split: str, kind: str, number: int) -> str:
    """File name of a shard's images or labels."""
    return f"{split}-{kind}-{number:05d}.npy"


def shard_key(split: str, number: int) -> str:
    """Name of a shard in the manifest."""
    return f"{split}-{number:05d}"


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_manifest(root: Path, wanted: Manifest) -> Manifest:
    """The manifest in `root`, made ready to be filled; TtiError if it is of another data set."""
    root.mkdir(parents=True, exist_ok=True)
    for leftover in root.glob(".*.tmp"):
        leftover.unlink()
    if not (root / MANIFEST).exists():
        return wanted
    manifest = Manifest.read(root)
    for name in ("seed", "renderer", "attributes", "source", "domain"):
        if getattr(wanted, name) != getattr(manifest, name):
            what = {
                "renderer": "renderer version",
                "attributes": "list of attributes",
                "source": "set of pictures, labels or options",
            }.get(name, name)
            raise TtiError(
                f"{root} was made with another {what}: "
                f"choose an empty folder with --out, or delete this one"
            )
    for split, count in wanted.counts.items():
        held = sum(
            record["count"]
            for key, record in manifest.shards.items()
            if key.rpartition("-")[0] == split
        )
        if held > count:
            raise TtiError(
                f"{root} holds {held} pictures of {split!r} already, more than {count}: "
                f"ask for at least as many, or choose an empty folder with --out"
            )
    manifest.counts = wanted.counts
    return manifest


def fill(
    root: Path,
    manifest: Manifest,
    work: Callable[[str, int, int], Work],
    workers: int,
    progress: Progress,
) -> None:
    """Make what is missing in `root`; stopping it at any moment loses one shard.

    work(split, start, stop) gives the work for pictures start..stop of a split.
    """
    missing, chunks, total = [], [], sum(manifest.counts.values())
    for split, number, count in _shard_plan(manifest.counts):
        if _is_complete(root, manifest, split, number, count):
            continue
        missing.append((split, number, count))
        first = number * SHARD
        chunks += [
            work(split, first + k, first + min(k + _CHUNK, count)) for k in range(0, count, _CHUNK)
        ]
    done = total - sum(count for _, _, count in missing)
    progress(done, total)
    manifest.write(root)
    results = _results(chunks, workers)
    for split, number, count in missing:
        images, labels, have = [], [], 0
        while have < count:
            picture, label = next(results)
            images.append(picture)
            labels.append(label)
            have += len(picture)
            done += len(picture)
            progress(done, total)
        assert have == count
        manifest.shards[shard_key(split, number)] = {
            "count": count,
            "images": _save_array(root / stem(split, "images", number), np.concatenate(images)),
            "labels": _save_array(root / stem(split, "labels", number), np.concatenate(labels)),
        }
        manifest.write(root)


def _shard_plan(counts: dict[str, int]) -> list[tuple[str, int, int]]:
    """(split, number, pictures) of all shards, in the order in which they are made.

    Held-out pictures come after the first 6,000 of the training set: both an autoencoder's
    training and its measure can then start early.
    """
    plan = {
        split: [(split, k, min(SHARD, count - k * SHARD)) for k in range(-(-count // SHARD))]
        for split, count in counts.items()
    }
    train = plan["train"]
    return train[:_EARLY_TRAIN_SHARDS] + plan["held-out"] + train[_EARLY_TRAIN_SHARDS:]


def _is_complete(root: Path, manifest: Manifest, split: str, number: int, count: int) -> bool:
    record = manifest.shards.get(shard_key(split, number))
    if record is None or record["count"] != count:
        return False
    for kind in ("images", "labels"):
        path = root / stem(split, kind, number)
        if not path.exists() or digest(path) != record[kind]:
            return False
    return True


def _save_array(path: Path, array: np.ndarray) -> str:
    """Write a .npy file atomically; return its SHA-256."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
        sha256 = digest(temporary)
        temporary.replace(path)
        return sha256
    finally:
        temporary.unlink(missing_ok=True)


def _call(work: Work) -> tuple[np.ndarray, np.ndarray]:
    return work()


def _quiet_worker() -> None:
    # Ctrl-C reaches the whole process group; the parent alone decides what to do about it
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _results(chunks: list[Work], workers: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if workers == 1:
        yield from map(_call, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(workers, _quiet_worker) as pool:
        yield from pool.imap(_call, chunks)
