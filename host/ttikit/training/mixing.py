"""Weights between those of several runs, or beyond them.

Weights that were trained on from the same ones can be added: their mean draws between what they
draw (Wortsman et al., "Robust fine-tuning of zero-shot models", 2022), and a start with a negative
share takes what the training changed a little further (Ilharco et al., "Editing models with task
arithmetic", 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ttikit.data.domain_file import origin_of
from ttikit.errors import TtiError
from ttikit.training.checkpoint import load_tensors, save_tensors

Share = tuple[Path, float]  # file of a diffusion model, and its factor
SCALE = ("latent.mean", "latent.std")
COUNTERS = ("samples", "teacher_samples", "pairs", "paths", "captions", "pictures")


def mix(shares: Sequence[Share], out: Path) -> dict[str, Any]:
    """Write the sum of the models' weights, each times its share; returns the new metadata.

    All must be of one structure, on latents of one scale and with one domain, the shares must add
    up to 1, and ``out`` be none of the files; `TtiError` otherwise. Of what the models have seen,
    the largest number is kept.
    """
    if out.is_dir() or any(out.resolve() == path.resolve() for path, _ in shares):
        raise TtiError(f"{out} is a folder or one of the models to mix; name another -o")
    total = sum(share for _, share in shares)
    if abs(total - 1) > 1e-6:
        raise TtiError(f"the shares add up to {total:g}; choose some that add up to 1")
    loaded = [_load(path) for path, _ in shares]
    first, about = loaded[0]
    for (tensors, metadata), (path, _) in zip(loaded, shares, strict=True):
        if _kin(about) != _kin(metadata) or any(
            not torch.equal(first[name], tensors[name]) for name in SCALE
        ):
            raise TtiError(f"{path} is no relative of {shares[0][0]}; mix runs of one model")
    parts = [(share, of) for (_, share), (of, _) in zip(shares, loaded, strict=True)]
    mixed = {name: _sum([(share, of[name]) for share, of in parts]) for name in first}
    counted = {name: max(of.get(name, 0) for _, of in loaded) for name in COUNTERS}
    about = {**about, **{name: count for name, count in counted.items() if count}}
    save_tensors(out, mixed | {name: first[name] for name in SCALE}, about)
    return about


def _kin(about: dict[str, Any]) -> tuple[Any, ...]:
    """What related models have in common."""
    return about["config"], about["autoencoder"], origin_of(about.get("data", {}))


def _sum(parts: Sequence[tuple[float, torch.Tensor]]) -> torch.Tensor:
    return torch.stack([share * tensor.float() for share, tensor in parts]).sum(0)


def parse_share(text: str) -> Share:
    """`FILE=SHARE` of a command line."""
    name, equals, number = text.rpartition("=")
    try:
        if not equals or not math.isfinite(float(number)):
            raise ValueError
        return Path(name), float(number)
    except ValueError:
        raise TtiError(f"{text!r} is no FILE=SHARE, as in runs/aligned.safetensors=0.7") from None


def _load(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    tensors, about = load_tensors(path)
    if about.get("kind") != "diffusion":
        raise TtiError(f"{path} holds no diffusion model; give the export.safetensors of one")
    return tensors, about
