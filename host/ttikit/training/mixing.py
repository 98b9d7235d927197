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
from torch import Tensor

from ttikit.data.domain_file import origin_of
from ttikit.data.shards import RENDER
from ttikit.errors import TtiError
from ttikit.files import same_file
from ttikit.training.checkpoint import read_metadata, save_tensors
from ttikit.training.diffusion import KIND, load_diffusion

Share = tuple[Path, float]  # file of a diffusion model, and its factor
LIMIT = 10.0  # of a share; far beyond one, weights are no model any more
COUNTERS = ("samples", "teacher_samples", "pairs", "paths", "captions", "pictures")


def mix(shares: Sequence[Share], out: Path) -> dict[str, Any]:
    """Write the sum of the models' weights, each times its share; returns the new metadata.

    All must be of one size, on latents of one scale and with one domain, the shares must add up to
    1, and ``out`` be none of the files; `TtiError` otherwise. Of what the models have seen, the
    largest number is kept.
    """
    if any(same_file(out, path) for path, _ in shares):
        raise TtiError(f"{out} is one of the models to mix; name another -o")
    if _kind(out) not in (None, KIND):
        raise TtiError(f"{out} holds no diffusion model that could be replaced; name another -o")
    for path, share in shares:
        if not abs(share) <= LIMIT:
            limits = f"from {-LIMIT:g} to {LIMIT:g}"
            raise TtiError(f"{path} has a share of {share:g}; choose one {limits}")
    total = sum(share for _, share in shares)
    if abs(total - 1) > 1e-6:
        raise TtiError(f"the shares add up to {total:g}; choose some that add up to 1")
    loaded = [load_diffusion(path) for path, _ in shares]
    # What is under a licence gives it to the sum.
    bound = [model for model in loaded if origin_of(model[1].data)["pictures"] != RENDER]
    _, space, about = (bound or loaded)[0]
    weights = [model.state_dict() for model, _, _ in loaded]
    for (path, _), state, (_, own, of) in zip(shares, weights, loaded, strict=True):
        own.check(path, space, "mix runs of one model")
        if of["config"] != about["config"]:
            raise TtiError(f"{path} has other sizes than {shares[0][0]}; mix runs of one model")
        broken = [name for name, tensor in state.items() if not tensor.isfinite().all()]
        if broken:
            raise TtiError(f"{path} has weights that are no numbers ({broken[0]}); train it anew")
    parts = [(share, state) for (_, share), state in zip(shares, weights, strict=True)]
    mixed = {name: _sum([(share, of[name]) for share, of in parts]) for name in weights[0]}
    counted = {name: max(of.get(name, 0) for _, _, of in loaded) for name in COUNTERS}
    about = {**about, **{name: count for name, count in counted.items() if count}}
    save_tensors(out, mixed | space.tensors, about)
    return about


def _sum(parts: Sequence[tuple[float, Tensor]]) -> Tensor:
    return torch.stack([share * tensor.double() for share, tensor in parts]).sum(0).float()


def _kind(out: Path) -> str | None:
    """What a file of this program holds; None if there is none, or another file."""
    try:
        return str(read_metadata(out).get("kind")) if out.is_file() else None
    except (TtiError, OSError):  # a name that cannot be is told when it is written
        return None


def parse_share(text: str) -> Share:
    """`FILE=SHARE` of a command line."""
    name, equals, number = text.rpartition("=")
    try:
        if not equals or not math.isfinite(float(number)):
            raise ValueError
        return Path(name), float(number)
    except ValueError:
        raise TtiError(f"{text!r} is no FILE=SHARE, as in runs/aligned.safetensors=0.7") from None
