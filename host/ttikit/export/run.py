"""Everything that an export needs from two trained files: weights, scales, vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ttikit.data.vocabulary import FORMS, Ids
from ttikit.export.decoder import LatentScale, activation_scales
from ttikit.export.reference import FloatModel, prompts, tokens
from ttikit.training.checkpoint import load_tensors

SEEDS_PER_PROMPT = 4
CALIBRATION_SEED = 1_000_000  # far from the seeds that people and tests use


@dataclass(frozen=True)
class Calibrated:
    """A trained model and the decoder's scales."""

    state: dict[str, np.ndarray]
    decoder: dict[str, np.ndarray]
    scales: dict[str, np.ndarray]
    latent: LatentScale
    forms: Mapping[str, Ids]
    percentile: float
    trained: dict[str, Any]


def calibrated(diffusion: Path, autoencoder: Path, percentile: float) -> Calibrated:
    """Load a float model and calibrate its decoder on 256 latents that it makes itself."""
    source = FloatModel(diffusion, autoencoder)
    ids = np.repeat(tokens(prompts(), FORMS), SEEDS_PER_PROMPT, axis=0)
    seeds = range(CALIBRATION_SEED, CALIBRATION_SEED + len(ids))
    latents = source.latents(ids, seeds)
    _, about = load_tensors(diffusion)
    return Calibrated(
        state={name: value.numpy() for name, value in source.model.state_dict().items()},
        decoder={name: value.numpy() for name, value in source.decoder.state_dict().items()},
        scales=activation_scales(source.decoder, latents, percentile),
        latent=LatentScale(source.mean.numpy(), source.std.numpy()),
        forms=FORMS,
        percentile=percentile,
        trained={name: about[name] for name in ("samples", "steps") if name in about},
    )


def describe(parts: Calibrated) -> dict[str, Any]:
    """Return what the file says of itself to people."""
    return {
        "name": "tti faces",
        "license": "MIT; trained on our own renders of CC0 heads",
        "pictures": "64x64 RGB",
        "percentile": parts.percentile,
        "trained": parts.trained,
    }
