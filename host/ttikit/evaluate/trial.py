"""A trial: the judge's figures of a float model, at any stage of its training.

The same prompts, seeds, noise and captions as the page of `ttikit evaluate`, but the float model
draws: no model file, no firmware, a few minutes. Good enough to compare two trainings; what the
boards draw is measured by `ttikit evaluate` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ttikit.data.domain_file import domain_of
from ttikit.errors import TtiError
from ttikit.evaluate.drawing import Pictures
from ttikit.evaluate.evaluation import Looks, captions, obedience
from ttikit.evaluate.expectations import Expectation, read_expectations
from ttikit.evaluate.progress import progress
from ttikit.evaluate.reference import Reference
from ttikit.export.reference import board_noise
from ttikit.training.autoencoder import load_autoencoder, to_pixels
from ttikit.training.diffusion import load_diffusion
from ttikit.training.latents import LatentSpace, check_autoencoder
from ttikit.training.models import TextToLatent
from ttikit.training.pairs import Painter
from ttikit.training.reader import load_reader
from ttikit.training.sampling import euler, one_branch, prompt_tokens

BATCH = 64
STEPS = 4

Latents = Callable[[Tensor, Tensor], Tensor]  # noise (B, 16, 16, 4), tokens (B, L) → ends


@dataclass(frozen=True)
class Way:
    """How a model is asked to draw.

    steps: of a distilled model, `STEPS` if None; any other model draws as `ttikit train pairs`
    does, in its steps. reader: file of what pushes such a model, if anything does.
    """

    steps: int | None = None
    guidance: float = 3.0
    reader: Path | None = None


class FloatArtist:
    """Draws prompts with a float model and its decoder.

    Raises `TtiError` if the files are none of those, or if ``way`` does not fit the model.
    """

    def __init__(self, diffusion: Path, autoencoder: Path, way: Way) -> None:
        self.model, space, _ = load_diffusion(diffusion)
        self.mean, self.std = space.mean, space.std
        self.model.requires_grad_(False)
        self.vocabulary = domain_of(space.data).vocabulary
        check_autoencoder(autoencoder, space.autoencoder)
        self.decoder = load_autoencoder(autoencoder).decoder
        if self.model.config.guides:
            self._ends = _distilled(self.model, diffusion, way)
        else:
            self._ends = _guided(self.model, diffusion, space, way)

    @torch.no_grad()
    def pictures(self, jobs: Sequence[tuple[str, int]], note: str) -> Pictures:
        """Pictures (N, 64, 64, 3) uint8 of N prompts and seeds; noise is that of the boards."""
        tokens = prompt_tokens(
            [prompt for prompt, _ in jobs], self.model.config.length, self.vocabulary
        )
        out = []
        with progress(note, -(-len(jobs) // BATCH)) as advance:
            for start in range(0, len(jobs), BATCH):
                part = jobs[start : start + BATCH]
                noise = torch.cat([board_noise(seed) for _, seed in part])
                ids = torch.from_numpy(tokens[start : start + BATCH])
                latents = self._ends(noise, ids) * self.std + self.mean
                out.append(to_pixels(self.decoder(latents.permute(0, 3, 1, 2))).numpy())
                advance()
        return np.concatenate(out)


def _distilled(model: TextToLatent, path: Path, way: Way) -> Latents:
    if way.reader is not None:
        raise TtiError(f"{path} is distilled, nothing pushes it any more: leave out --reader")
    steps = way.steps or STEPS
    return lambda noise, ids: euler(one_branch(model, ids, way.guidance, steps), noise, steps)


def _guided(model: TextToLatent, path: Path, space: LatentSpace, way: Way) -> Latents:
    if way.steps is not None:
        raise TtiError(
            f"{path} is not distilled, so it draws as for `ttikit train pairs`: leave out --steps"
        )
    reader = way.reader and load_reader(way.reader, space)
    painter = Painter(model, reader or None)

    def ends(noise: Tensor, ids: Tensor) -> Tensor:
        shown = torch.zeros(len(ids), dtype=torch.bool)
        return painter.end(noise, ids, shown, torch.full((len(ids),), way.guidance))

    return ends


def run_trial(
    artist: FloatArtist,
    judge: Looks,
    seeds: int,
    reference: Reference | None = None,
    count: int = 0,
    expectations: Sequence[Expectation] | None = None,
) -> dict[str, Any]:
    """Judge ``seeds`` pictures of each prompt, and with ``reference`` the Fréchet distance of
    up to ``count`` captions; returns figures by name, shares from 0 to 1."""
    chosen = expectations or read_expectations()
    texts = captions(reference.held_out.labels, count) if reference else []
    real = reference.baseline(len(texts)) if reference else math.nan
    jobs = [(one.prompt, seed) for one in chosen for seed in range(seeds)]
    found, _ = obedience(judge, chosen, artist.pictures(jobs, "prompts"))
    demands = [one for one in found.presence.demands() if one.counts(judge.clear)]
    figures = {
        "pictures": found.failed.count,
        "failed": found.failed.value,
        "failed_but_for_age": found.failed_but_for_age.value,
        "present": found.presence.overall(demands).value,
        "presence": {one.label: found.presence.of(one).value for one in demands},
    }
    if reference is not None:
        figures["captions"] = len(texts)
        features = judge.look(artist.pictures(texts, "captions"))[1]
        figures["frechet"] = reference.distance(features)
        figures["frechet_of_real_latents"] = real
    return figures
