"""Pictures that went through the autoencoder: what a perfect generator would draw.

Every generated picture is a decoder's output. Renders that were encoded and decoded again carry
the same traces, so a classifier learns from them to look past those, and they are the baseline
that a generator is measured against.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import Progress

from ttikit.data.dataset import FaceDataset, Manifest
from ttikit.errors import TtiError
from ttikit.files import write_atomically
from ttikit.training.autoencoder import Pictures, batches, load_autoencoder, to_pixels, to_scale
from ttikit.training.models import Autoencoder

SHARD = 500  # pictures in a file of the cache
BATCH = 50


def file_fingerprint(path: Path) -> str:
    """Short hash of a file; raises `TtiError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise TtiError(f"{path} cannot be read ({error.strerror}); name another file") from None


def data_fingerprint(root: Path) -> str:
    """Short hash of a data set's pictures and labels, from the hashes in its `dataset.json`."""
    shards = sorted(Manifest.read(root).shards.items())
    text = repr([(key, record["images"], record["labels"]) for key, record in shards])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@torch.no_grad()
def pass_through(
    model: Autoencoder, pictures: Pictures, disturbance: float = 0.0, seed: int = 0
) -> Pictures:
    """Encode and decode (N, 64, 64, 3) uint8 pictures.

    A picture's latent is disturbed by normal noise of s standard deviations per channel, s drawn
    for each picture between 0 and ``disturbance``: a generator's latents are not exact either.
    """
    random = torch.Generator().manual_seed(seed)
    out = np.empty_like(pictures)
    done = 0
    for part in batches(pictures, BATCH):
        latent, _ = model.encoder(to_scale(torch.from_numpy(part)))
        if disturbance > 0:
            spread = latent.std(dim=(0, 2, 3), keepdim=True)
            strength = disturbance * torch.rand(len(latent), 1, 1, 1, generator=random)
            latent = latent + strength * spread * torch.randn(latent.shape, generator=random)
        out[done : done + len(part)] = to_pixels(model.decoder(latent)).numpy()
        done += len(part)
    return out


def passed(
    data: FaceDataset,
    count: int,
    autoencoder: Path,
    cache: Path,
    disturbance: float = 0.0,
    note: str = "decoding real latents",
) -> Pictures:
    """The first ``count`` pictures of a split after `pass_through`, (count, 64, 64, 3) uint8.

    Parts that ``cache`` holds already are read from there, so an interrupted call continues.
    """
    count = min(count, len(data))
    key = f"{file_fingerprint(autoencoder)}-{data_fingerprint(data.root)}-{disturbance:g}"
    model: Autoencoder | None = None
    parts = []
    with Progress(transient=True) as bar:
        task = bar.add_task(note, total=count)
        for start in range(0, count, SHARD):
            # Always a whole part: what becomes of a picture must not depend on ``count``.
            pictures = data.images[start : start + SHARD]
            path = cache / f"passed-{data.split}-{key}-{start:06d}.npy"
            part = read_array(path, len(pictures), (64, 64, 3), np.uint8)
            if part is None:
                model = model or load_autoencoder(autoencoder)
                part = pass_through(model, pictures, disturbance, seed=start)
                write_array(path, part)
            parts.append(part)
            bar.update(task, advance=len(part))
    return np.concatenate(parts)[:count]


def read_array(
    path: Path, count: int, shape: tuple[int, ...], dtype: npt.DTypeLike
) -> np.ndarray | None:
    """The first ``count`` rows of an array (≥ count, *shape) in a cache.

    None if the file is missing, damaged, too short or something else.
    """
    try:
        array: np.ndarray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if array.dtype != dtype or array.shape[1:] != shape or len(array) < count:
        return None
    return array[:count]


def write_array(path: Path, array: np.ndarray) -> None:
    """Keep an array in a cache for `read_array`."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())
