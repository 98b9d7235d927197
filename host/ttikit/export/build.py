"""Puts the tensors and the metadata of a model file together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ttikit.data.vocabulary import Ids
from ttikit.export import decoder, tables
from ttikit.export.quantize import Moments, linear
from ttikit.model_file import Tensor

HEAD_DIM = 32
RECIPE_ROWS = 5  # of dit.guide and of dit.pace; GUIDES and PACES in dit.py
FORMAT = "tti text-to-image 2"
State = Mapping[str, np.ndarray]


def text_and_dit(state: State, moments: Moments) -> dict[str, Tensor]:
    """Return the tensors text.*, null, dit.* from the state dict of `TextToLatent`.

    ``moments`` has what `quantize_rows` needs, by the names of the layers.
    """
    out = {
        "gelu.table": Tensor(tables.gelu()),
        "text.embed": Tensor(state["text.embed.weight"]),
        "text.pos": Tensor(state["text.pos"]),
    }
    for i in range(depth(state, "text")):
        out |= _block(state, f"text.blocks.{i}", moments)
    out |= _linear(state, "text.proj", moments)
    out["null"] = Tensor(state["null"])
    out["dit.freqs"] = Tensor(tables.time_frequencies(state["dit.time1.weight"].shape[1] // 2))
    out["dit.guide"] = Tensor(state["guide"])
    out["dit.pace"] = Tensor(state["pace"])
    out["dit.pos"] = Tensor(state["dit.pos"])
    for name in ("patch", "time1", "time2", "adaln"):
        out |= _linear(state, f"dit.{name}", moments)
    for i in range(depth(state, "dit")):
        out |= _block(state, f"dit.blocks.{i}", moments)
    return out | _linear(state, "dit.final", moments)


def depth(state: State, part: str) -> int:
    """Return how many blocks `part` ("text" or "dit") has."""
    return sum(
        1 for name in state if name.startswith(f"{part}.blocks.") and name.endswith(".table")
    )


def metadata(state: State, forms: Mapping[str, Ids], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the device package reads from the file, and `about` for people."""
    return {
        "format": FORMAT,
        "text": {"depth": depth(state, "text")},
        "dit": {"depth": depth(state, "dit")},
        "tokenizer": {"forms": dict(forms)},
        "about": dict(about),
    }


def model(
    state: State,
    decoder_state: State,
    scales: Mapping[str, np.ndarray],
    latent: decoder.LatentScale,
    moments: Moments,
) -> dict[str, Tensor]:
    """Return all tensors of the model file, in the order in which a picture needs them."""
    return text_and_dit(state, moments) | decoder.tensors(decoder_state, scales, latent, moments)


def _linear(state: State, name: str, moments: Moments, **options: Any) -> dict[str, Tensor]:
    weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
    return linear(name, weight, bias, moment=moments.get(name), **options)


def _block(state: State, name: str, moments: Moments) -> dict[str, Tensor]:
    # The 1/√head_dim of attention (Vaswani et al., 2017) is part of Q.
    return {
        f"{name}.table": Tensor(state[f"{name}.table"]),
        **_linear(state, f"{name}.q", moments, gain=1 / math.sqrt(HEAD_DIM)),
        **_linear(state, f"{name}.k", moments),
        **_linear(state, f"{name}.v", moments),
        **_linear(state, f"{name}.o", moments, chunked=True),
        **_linear(state, f"{name}.fc1", moments),
        **_linear(state, f"{name}.fc2", moments, chunked=True),
    }
