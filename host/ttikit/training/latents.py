"""The cache of latents: the data set encoded once, with mirrored copies and labels.

One safetensors file: ``latents`` and ``mirrored`` (N, 16, 16, 4) float16 posterior means,
``labels`` (N, attributes) uint8, ``held_out`` and ``held_out_labels`` alike, ``mean`` and ``std``
(4,) float32 per channel. Mirrored pictures keep their labels, since no attribute names a side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch import Tensor

from ttikit.data.domain import Domain
from ttikit.data.domain_file import check_licence, domain_of, origin_of
from ttikit.errors import TtiError
from ttikit.training.autoencoder import Pictures, batches, load_autoencoder, to_scale
from ttikit.training.bank import Captions
from ttikit.training.checkpoint import load_tensors, read_metadata, save_tensors
from ttikit.training.models import Autoencoder, ModelConfig

CACHE = "latents.safetensors"
COMPARED = 8  # pictures by which a cache is compared with a data set
HELD_OUT = 512  # held-out pictures that are encoded: enough for a steady held-out loss

Labels = NDArray[np.uint8]  # (N, attributes)

_TENSORS = ("latents", "mirrored", "labels", "held_out", "held_out_labels", "mean", "std")


# What a run was that lies in another space than the latents it shall go on with.
ELSEWHERE = "trained on other latents (another autoencoder, scale, domain or source of pictures)"
OWN = "give the cache that it began with, or one that `train latents --scale-of` made"
SCALE = ("latent.mean", "latent.std")  # names in the files of models that read latents


@dataclass(frozen=True)
class LatentSpace:
    """Where latents lie: the encoder that made them, their scale, and what they show."""

    mean: Tensor  # (4,) float32, as is std
    std: Tensor
    autoencoder: str  # fingerprint of the weights that encoded
    data: Mapping[str, str] = field(default_factory=dict)  # where the pictures come from

    @classmethod
    def of(cls, path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> Self:
        """The space of the model in ``path``, whose content is given; `TtiError` if it names
        none."""
        try:
            mean, std = (tensors[name] for name in SCALE)
            space = cls(mean, std, about["autoencoder"], about.get("data") or {})
        except KeyError as error:
            raise TtiError(f"{path} does not say {error}: it is too old, train it anew") from None
        if not (mean.isfinite().all() and std.isfinite().all() and (std > 0).all()):
            raise TtiError(f"{path} has latents of a scale that is none; train it anew")
        return space

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Mean and std by the names that files have for them."""
        return dict(zip(SCALE, (self.mean, self.std), strict=True))

    @property
    def known(self) -> dict[str, Any]:
        """Plain values by which a run knows it again; equal for equal spaces only."""
        scale = {"mean": self.mean.tolist(), "std": self.std.tolist()}
        return {"autoencoder": self.autoencoder, **scale, **origin_of(self.data)}

    def check(self, path: Path, space: LatentSpace, hint: str = OWN) -> None:
        """Raise `TtiError` unless the model in ``path``, of this space, can be used in ``space``:
        its latents, its words, and the licence of its pictures. ``hint`` says what to do."""
        mine, other = self.known, space.known
        if mine["autoencoder"] != other["autoencoder"]:
            raise TtiError(f"{path} was trained on latents of another autoencoder; {hint}")
        if mine["mean"] != other["mean"] or mine["std"] != other["std"]:
            raise TtiError(f"{path} was trained on latents of another scale; {hint}")
        if mine["domain"] != other["domain"]:
            raise TtiError(f"{path} knows the words of another domain than these latents")
        check_licence(path, self.data, space.data)


@dataclass
class LatentCache:
    """Encoded pictures; `standardised` is what the diffusion transformer sees."""

    latents: Tensor
    mirrored: Tensor
    labels: Tensor
    held_out: Tensor
    held_out_labels: Tensor
    mean: Tensor
    std: Tensor
    attributes: list[str]
    autoencoder: str  # fingerprint of the weights that encoded
    data: Mapping[str, str] = field(default_factory=dict)  # where the pictures come from

    @cached_property
    def domain(self) -> Domain:
        """What the pictures show, with its words."""
        return domain_of(self.data)

    @property
    def captions(self) -> Captions:
        """Makes captions of labels as token ids."""
        return self.domain.token_batch

    @property
    def space(self) -> LatentSpace:
        """Where the latents lie."""
        return LatentSpace(self.mean.cpu(), self.std.cpu(), self.autoencoder, self.data)

    @property
    def config(self) -> ModelConfig:
        """Sizes of the networks that learn from these latents."""
        usual = ModelConfig()
        return replace(usual, vocabulary=max(usual.vocabulary, len(self.domain.vocabulary)))

    def standardised(self, which: Tensor, mirrored: Tensor) -> Tensor:
        """Latents of indices ``which`` (B,), from the mirrored copies where ``mirrored`` (B,)."""
        plain, flipped = self.latents[which], self.mirrored[which]
        chosen = torch.where(mirrored[:, None, None, None], flipped, plain)
        return (chosen.float() - self.mean) / self.std

    def to(self, device: torch.device) -> LatentCache:
        """The same cache with its tensors on ``device``."""
        return replace(self, **{name: getattr(self, name).to(device) for name in _TENSORS})

    def __len__(self) -> int:
        return len(self.latents)


def fingerprint(model: Autoencoder) -> str:
    """Short hash of the encoder's weights: latents of two encoders must not be mixed."""
    digest = hashlib.sha256()
    for name, value in sorted(model.encoder.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def has_encoder(path: Path, wanted: str) -> bool:
    """Whether the encoder in ``path``, or what it is a copy of, has the fingerprint ``wanted``.

    A copy in half precision says in its metadata what it is a copy of.
    """
    return wanted in (read_metadata(path).get("fingerprint"), fingerprint(load_autoencoder(path)))


def check_autoencoder(path: Path, wanted: str) -> None:
    """Raise `TtiError` unless `has_encoder`."""
    if not has_encoder(path, wanted):
        raise TtiError(
            f"{path} is another autoencoder than the one whose latents the model was trained on, "
            f"or an old copy in half precision; give the export.safetensors of its run"
        )


def check_pictures(autoencoder: Path, data: Mapping[str, str]) -> None:
    """Raise `TtiError` if an autoencoder's licence does not go with the pictures of ``data``."""
    check_licence(autoencoder, read_metadata(autoencoder).get("data") or {}, data)


@torch.no_grad()
def encode(
    model: Autoencoder, pictures: Pictures, device: torch.device, mirror: bool, note: str
) -> Tensor:
    """Pictures (N, 64, 64, 3) → posterior means (N, 16, 16, 4) float16, with a progress bar."""
    parts = [torch.empty(0, pictures.shape[1] // 4, pictures.shape[2] // 4, 4).half()]
    total = -(-len(pictures) // 64)
    for part in track(batches(pictures, 64), description=note, total=total):
        batch = torch.from_numpy(part).to(device)
        mean, _ = model.encoder(to_scale(batch.flip(2) if mirror else batch))
        parts.append(mean.permute(0, 2, 3, 1).half().cpu())
    return torch.cat(parts)


def build_cache(
    model: Autoencoder,
    pictures: Pictures,
    labels: Labels,
    held_out: Pictures,
    held_out_labels: Labels,
    attributes: Sequence[str],
    out: Path,
    device: torch.device | None = None,
    data: Mapping[str, str] | None = None,
    scale: LatentSpace | None = None,
) -> LatentCache:
    """Encode everything into ``out``; an older cache of the same encoder is extended, any other
    refused with a `TtiError`.

    ``data`` is `FaceDataset.data`, which the weights that learn from the cache keep.

    An extended cache keeps its mean and std, so that a run in progress sees the same scale. A
    new one takes those of ``scale``, for a run that goes on from weights trained with them, or
    measures its own.
    """
    if len(pictures) == 0:
        raise TtiError("the data set has no training pictures yet; render some first")
    device = device or torch.device("cpu")
    model = model.to(device).eval()
    data = data or {}
    encoder = scale.autoencoder if scale else fingerprint(model)
    old = load_cache(out) if out.exists() else None
    other = old and _difference(old, encoder, labels, attributes, data, scale)
    if old and not other:
        if len(old.held_out) > len(held_out[:HELD_OUT]):
            other = f"more held-out pictures than the {len(held_out)} of --data"
        elif not same_pictures(model, old, pictures):
            other = "another data set"
    if other:
        raise TtiError(f"{out} holds latents of {other}; choose another --out, or delete it")
    done = len(old) if old else 0
    plain = encode(model, pictures[done:], device, False, "encoding")
    flipped = encode(model, pictures[done:], device, True, "encoding mirrored")
    if old:
        plain, flipped = torch.cat((old.latents, plain)), torch.cat((old.mirrored, flipped))
    flat = plain.float().reshape(-1, plain.shape[-1])
    kept = old or scale
    cache = LatentCache(
        latents=plain,
        mirrored=flipped,
        labels=torch.from_numpy(np.array(labels)),
        held_out=encode(model, held_out[:HELD_OUT], device, False, "encoding held-out"),
        held_out_labels=torch.from_numpy(np.array(held_out_labels[:HELD_OUT])),
        mean=kept.mean if kept else flat.mean(0),
        std=kept.std if kept else flat.std(0),
        attributes=list(attributes),
        autoencoder=encoder,
        data=data,
    )
    _save(out, cache)
    return cache


def same_pictures(model: Autoencoder, cache: LatentCache, pictures: Pictures) -> bool:
    """Whether the latents of a few of ``pictures``, by the cache's encoder, are those it holds."""
    which = np.unique(np.linspace(0, len(cache) - 1, COMPARED).astype(int))
    device = next(model.parameters()).device
    found = encode(model, np.stack([pictures[i] for i in which]), device, False, "comparing")
    gap = (found.float() - cache.latents[which].cpu().float()).abs().mean()
    return bool(gap < 0.05 * cache.std.mean())


def _difference(
    old: LatentCache,
    encoder: str,
    labels: Labels,
    attributes: Sequence[str],
    data: Mapping[str, str],
    scale: LatentSpace | None,
) -> str:
    """Why a cache cannot be extended by these pictures; empty if it can."""
    if old.autoencoder != encoder:
        return "another autoencoder"
    if scale and not (torch.equal(old.mean, scale.mean) and torch.equal(old.std, scale.std)):
        return "another scale"
    if len(old) > len(labels):
        return f"more pictures than the {len(labels)} of --data"
    if (
        old.attributes != list(attributes)
        or origin_of(old.data) != origin_of(data)
        or not np.array_equal(old.labels.numpy(), labels[: len(old)])
    ):
        return "another data set"
    return ""


def _save(path: Path, cache: LatentCache) -> None:
    metadata = {
        "kind": "latents",
        "attributes": cache.attributes,
        "autoencoder": cache.autoencoder,
        "data": dict(cache.data),
    }
    save_tensors(path, {name: getattr(cache, name) for name in _TENSORS}, metadata)


def load_cache(path: Path) -> LatentCache:
    """Read a cache; raises `TtiError` if the file is missing, damaged or something else."""
    tensors, metadata = load_tensors(path)
    if metadata.get("kind") != "latents":
        raise TtiError(f"{path} is no latent cache; make one with `ttikit train latents`")
    return LatentCache(
        **tensors,
        attributes=metadata["attributes"],
        autoencoder=metadata["autoencoder"],
        data=metadata.get("data") or {},
    )
