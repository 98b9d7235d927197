"""A rendered data set on disk: written in shards by several processes, read back checked.

A folder holds `dataset.json` and, for each shard, two arrays that NumPy can map into memory:
`train-images-00000.npy` (N, 64, 64, 3) uint8 RGB and `train-labels-00000.npy` (N, A) uint8 with a
0 or 1 for each of the A attributes named in `dataset.json`; the same for `held-out`. Shards
appear one after the other and are complete as soon as `dataset.json` lists them, so training can
start while the rest is drawn. Picture i of a split depends on the seed and on i only.
"""

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

from ttikit.data.attributes import ATTRIBUTES, labels_array, sample_attributes
from ttikit.errors import TtiError
from ttikit.files import write_atomically

SPLITS = ("train", "held-out")
SIZE = 64
SHARD = 500
"""Pictures in a shard; the last of a split may hold fewer."""

MANIFEST = "dataset.json"
_FORMAT = 1
_CHUNK = 25
_EARLY_TRAIN_SHARDS = 12


@dataclass(frozen=True)
class _Chunk:
    """A piece of work for one process: pictures start..stop of a split."""

    seed: int
    split: str
    start: int
    stop: int


@dataclass
class Manifest:
    """Contents of `dataset.json`; shards: file stem to {"count", "images", "labels"} (SHA-256)."""

    seed: int
    counts: dict[str, int]
    renderer: int
    attributes: list[str] = field(default_factory=lambda: list(ATTRIBUTES))
    shards: dict[str, dict[str, Any]] = field(default_factory=dict)

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
                f"{path} is damaged ({error}): delete it and render again, "
                f"or restore it from a copy"
            ) from error


def picture_rng(seed: int, split: str, index: int) -> np.random.Generator:
    """The generator that alone decides picture `index` of a split."""
    return np.random.default_rng([seed, SPLITS.index(split), index])


def render_one(seed: int, split: str, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Picture (64, 64, 3) uint8 and labels (A,) uint8 with number `index` of a split."""
    from ttikit.data.render import render_picture

    rng = picture_rng(seed, split, index)
    person = sample_attributes(rng)
    return render_picture(person, rng, SIZE), labels_array(person)


def _render_chunk(chunk: _Chunk) -> tuple[_Chunk, np.ndarray, np.ndarray]:
    pairs = [render_one(chunk.seed, chunk.split, i) for i in range(chunk.start, chunk.stop)]
    images, labels = zip(*pairs, strict=True)
    return chunk, np.stack(images), np.stack(labels)


def _quiet_worker() -> None:
    # Ctrl-C reaches the whole process group; the parent alone decides what to do about it
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stem(split: str, kind: str, number: int) -> str:
    return f"{split}-{kind}-{number:05d}.npy"


def _shard_key(split: str, number: int) -> str:
    return f"{split}-{number:05d}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shard_plan(counts: dict[str, int]) -> list[tuple[str, int, int]]:
    """(split, number, pictures) of all shards, in the order in which they are drawn.

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
    record = manifest.shards.get(_shard_key(split, number))
    if record is None or record["count"] != count:
        return False
    for kind in ("images", "labels"):
        path = root / _stem(split, kind, number)
        if not path.exists() or _digest(path) != record[kind]:
            return False
    return True


def _open_manifest(root: Path, seed: int, counts: dict[str, int]) -> Manifest:
    from ttikit.data.render import RENDERER_VERSION

    if not (root / MANIFEST).exists():
        return Manifest(seed, counts, RENDERER_VERSION)
    manifest = Manifest.read(root)
    for name, ours, theirs in (
        ("seed", seed, manifest.seed),
        ("renderer version", RENDERER_VERSION, manifest.renderer),
        ("list of attributes", list(ATTRIBUTES), manifest.attributes),
    ):
        if ours != theirs:
            raise TtiError(
                f"{root} was rendered with another {name}: "
                f"choose an empty folder with --out, or delete this one"
            )
    manifest.counts = counts
    return manifest


def _save_array(path: Path, array: np.ndarray) -> str:
    """Write a .npy file atomically; return its SHA-256."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.save(file, array)
            file.flush()
            os.fsync(file.fileno())
        digest = _digest(temporary)
        temporary.replace(path)
        return digest
    finally:
        temporary.unlink(missing_ok=True)


def _results(
    chunks: list[_Chunk], workers: int
) -> Iterator[tuple[_Chunk, np.ndarray, np.ndarray]]:
    if workers == 1:
        yield from map(_render_chunk, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(workers, _quiet_worker) as pool:
        yield from pool.imap(_render_chunk, chunks)


def render_dataset(
    root: Path,
    train: int,
    held_out: int,
    seed: int,
    workers: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Manifest:
    """Draw what is missing of a data set in `root`; stopping it at any moment loses one shard.

    train, held_out: numbers of pictures. progress(done, total) is called after every few
    pictures. Raises TtiError for impossible numbers and for a folder with another data set.
    """
    if train < 1 or held_out < 0 or workers < 1:
        raise TtiError("--train and --workers must be at least 1, --held-out at least 0")
    if not 0 <= seed < 2**32:
        raise TtiError("--seed must be between 0 and 4294967295")
    counts = {"train": train, "held-out": held_out}
    root.mkdir(parents=True, exist_ok=True)
    for leftover in root.glob(".*.tmp"):
        leftover.unlink()
    manifest = _open_manifest(root, seed, counts)
    missing, chunks, total = [], [], train + held_out
    for split, number, count in _shard_plan(counts):
        if _is_complete(root, manifest, split, number, count):
            continue
        missing.append((split, number, count))
        first = number * SHARD
        chunks += [
            _Chunk(seed, split, first + k, first + min(k + _CHUNK, count))
            for k in range(0, count, _CHUNK)
        ]
    done = total - sum(count for _, _, count in missing)
    progress(done, total)
    manifest.write(root)
    results = _results(chunks, workers)
    for split, number, count in missing:
        images, labels, have = [], [], 0
        while have < count:
            chunk, picture, label = next(results)
            assert chunk.split == split and chunk.start == number * SHARD + have
            images.append(picture)
            labels.append(label)
            have += len(picture)
            done += len(picture)
            progress(done, total)
        record = {
            "count": count,
            "images": _save_array(root / _stem(split, "images", number), np.concatenate(images)),
            "labels": _save_array(root / _stem(split, "labels", number), np.concatenate(labels)),
        }
        manifest.shards[_shard_key(split, number)] = record
        manifest.write(root)
    return manifest


class FaceDataset:
    """Pictures and labels of one split, as far as they are drawn.

    images: (N, 64, 64, 3) uint8 RGB; labels: (N, A) uint8; attributes: the A names.
    `verify` compares every file with its SHA-256 in `dataset.json`. Raises TtiError, in one
    sentence, if a file is missing or damaged or if no shard is complete yet.
    """

    def __init__(
        self, root: str | os.PathLike[str], split: str = "train", verify: bool = True
    ) -> None:
        if split not in SPLITS:
            raise TtiError(f"unknown split {split!r}: use one of {', '.join(SPLITS)}")
        self.root = Path(root)
        self.split = split
        manifest = Manifest.read(self.root)
        self.attributes = tuple(manifest.attributes)
        numbers = sorted(
            int(key.rsplit("-", 1)[1]) for key in manifest.shards if key.startswith(split)
        )
        if not numbers:
            raise TtiError(
                f"{self.root} has no complete shard of {split!r} yet: "
                f"wait for `ttikit data render`, or run it"
            )
        self.shards: list[np.ndarray] = []
        labels = []
        for number in numbers:
            record = manifest.shards[_shard_key(split, number)]
            count = record["count"]
            pictures = (count, SIZE, SIZE, 3)
            self.shards.append(self._load("images", number, record, pictures, verify))
            names = (count, len(self.attributes))
            labels.append(self._load("labels", number, record, names, verify))
        self.labels = np.concatenate(labels)
        self._images: np.ndarray | None = None

    def _load(
        self, kind: str, number: int, record: dict[str, Any], shape: tuple[int, ...], verify: bool
    ) -> np.ndarray:
        path = self.root / _stem(self.split, kind, number)
        advice = "run `ttikit data render` again with the same options to draw it anew"
        if not path.exists():
            raise TtiError(f"{path} is missing: {advice}")
        if verify and _digest(path) != record[kind]:
            raise TtiError(f"{path} is damaged (its SHA-256 differs): {advice}")
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise TtiError(f"{path} is damaged ({error}): {advice}") from error
        if array.shape != shape or array.dtype != np.uint8:
            raise TtiError(
                f"{path} holds {array.dtype} {array.shape}, not uint8 {shape}: {advice}"
            )
        return array

    @property
    def images(self) -> np.ndarray:
        """All pictures in one array in memory, (N, 64, 64, 3); `shards` are the mapped parts."""
        if self._images is None:
            self._images = np.concatenate(self.shards)
        return self._images

    def __len__(self) -> int:
        return len(self.labels)
