"""Everything that an export needs from two trained files: weights, scales, moments, vocabulary."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track

from ttikit.data.domain import Domain
from ttikit.data.domain_file import domain_of, licence_of
from ttikit.data.vocabulary import Ids
from ttikit.errors import TtiError
from ttikit.export.build import RECIPE_ROWS
from ttikit.export.decoder import LatentScale, activation_scales
from ttikit.export.moments import recorded
from ttikit.export.quantize import Moments
from ttikit.export.reference import FloatModel, prompts, tokens
from ttikit.training.checkpoint import load_tensors
from ttikit.training.diffusion import load_diffusion

SEEDS_PER_PROMPT = 4
CALIBRATION_SEED = 1_000_000  # far from the seeds that people and tests use
CAPTIONS = 4096  # that the text encoder is measured on
SHARE = 0.3  # of the attributes that each of them may name
PACES = (*range(1, 17), 24)  # steps that the transformer is measured in: many times on its way
TURNS = 4  # in how many of these a prompt comes once
STRENGTHS = (3.0, 3.0, 1.0, 3.0, 5.0, 3.0, 2.0)  # guidance, in turn
SHOWN = 4  # of how many latents one is enough to measure the decoder's inputs


@dataclass(frozen=True)
class Calibrated:
    """A trained model, the decoder's scales, and what each layer reads."""

    state: dict[str, np.ndarray]
    decoder: dict[str, np.ndarray]
    scales: dict[str, np.ndarray]
    latent: LatentScale
    moments: Moments
    forms: Mapping[str, Ids]
    percentile: float
    trained: dict[str, Any]
    data: Mapping[str, str]


def check_distilled(diffusion: Path) -> None:
    """Raise `TtiError` unless the model of this file takes guidance and steps as a board does."""
    config = load_diffusion(diffusion)[0].config
    if not config.guides:
        raise TtiError(
            f"{diffusion} is a base model, which needs two passes per step; "
            "distil it first with `ttikit train pairs` and `reflow`"
        )
    if config.guides != RECIPE_ROWS or config.paces != RECIPE_ROWS:
        raise TtiError(
            f"{diffusion} knows {config.guides} guidance strengths and {config.paces} numbers of "
            f"steps; boards need {RECIPE_ROWS} of each, so distil it again"
        )


def calibrated(diffusion: Path, autoencoder: Path, percentile: float) -> Calibrated:
    """Load a float model and calibrate its decoder on 256 latents that it makes itself."""
    source = FloatModel(diffusion, autoencoder)
    _, about = load_tensors(diffusion)
    data = about.get("data", {})
    domain = domain_of(data)
    forms, texts = domain.vocabulary.forms, domain.prompts or prompts()
    ids = np.repeat(tokens(texts, forms), SEEDS_PER_PROMPT, axis=0)
    seeds = range(CALIBRATION_SEED, CALIBRATION_SEED + len(ids))
    latents = source.latents(ids, seeds, note="latents for the decoder")
    scales = activation_scales(source.decoder, latents, percentile)
    return Calibrated(
        state={name: value.numpy() for name, value in source.model.state_dict().items()},
        decoder={name: value.numpy() for name, value in source.decoder.state_dict().items()},
        scales=scales,
        latent=LatentScale(source.mean.numpy(), source.std.numpy()),
        moments=_moments(source, domain, ids[::SEEDS_PER_PROMPT], latents[::SHOWN]),
        forms=forms,
        percentile=percentile,
        trained={name: about[name] for name in ("samples", "paths") if name in about},
        data=data,
    )


def _moments(source: FloatModel, domain: Domain, ids: np.ndarray, latents: np.ndarray) -> Moments:
    """Return what each layer reads.

    Args:
        source: the model.
        domain: makes captions of attributes drawn at random, which the text encoder reads.
        ids: tokens (N, 32) of prompts that the transformer draws, besides the empty one.
        latents: (M, 16, 16, 4) that the decoder reads.
    """
    rng = np.random.default_rng(CALIBRATION_SEED)
    labels = (rng.random((CAPTIONS, len(domain.attributes))) < SHARE).astype(np.uint8)
    captions = domain.token_batch(labels, rng)
    lengths = np.count_nonzero(captions, axis=1)
    with torch.no_grad(), recorded(source.model.text, "text") as text:
        for length in np.unique(lengths[lengths > 0]):  # without padding, which no one reads
            source.model.text(torch.from_numpy(captions[lengths == length, :length]))
    with recorded(source.model.dit, "dit") as dit:
        recipes = list(zip(PACES, itertools.cycle(STRENGTHS), strict=False))
        for steps, strength in track(recipes, description="inputs of the layers"):
            turns = min(TURNS, len(ids))
            some = np.concatenate((ids[steps % turns :: turns], np.zeros_like(ids[:1])))
            seeds = range(CALIBRATION_SEED + steps, CALIBRATION_SEED + steps + len(some))
            source.latents(some, seeds, steps, strength, note="")
    with recorded(source.decoder, "decoder") as decoder:
        source.pictures(latents)
    moments = text | dit | decoder
    for name, moment in moments.items():
        if not np.isfinite(moment).all():
            raise TtiError(
                f"layer {name} is given numbers that are too large or none; train the model anew"
            )
    return moments


def describe(parts: Calibrated) -> dict[str, Any]:
    """Return what the file says of itself to people."""
    return {
        "name": f"tti {domain_of(parts.data).name}",
        "license": licence_of(parts.data),
        "pictures": "64x64 RGB",
        "percentile": parts.percentile,
        "trained": parts.trained,
    }
