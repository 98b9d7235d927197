"""What a student is told besides the prompt: how strictly to follow it and in how many steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.training.diffusion import load_diffusion
from ttikit.training.latents import LatentCache
from ttikit.training.models import ModelConfig, TextToLatent

GUIDES = 5  # guidance 1 to 5
PACES = 5  # 1, 2, 4, 8 and 16 steps
FINEST = 2 ** (PACES - 1)
# Number of steps → share of the batch. 8 and 4 are what people use.
SHARES = {16: 0.38, 8: 0.20, 4: 0.22, 2: 0.06, 1: 0.04, 12: 0.03, 6: 0.04, 3: 0.03}
DEFAULT_GUIDANCE = 3.0
DEFAULT_SHARE = 0.6  # of the rows that are drawn at exactly the default guidance


def draw_guidance(count: int, rng: np.random.Generator) -> Tensor:
    """Guidance (count,) float32: often the default, otherwise anything that a board takes."""
    guidance = 1 + (GUIDES - 1) * rng.random(count)
    guidance[rng.random(count) < DEFAULT_SHARE] = DEFAULT_GUIDANCE
    return torch.from_numpy(guidance.astype(np.float32))


def draw_times(count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Number of steps and time, each (count,) float32.

    Times lie on the grid of the sampler, (i + 1)/steps. Between the finest steps half of them are
    spread, since runs of any larger number of steps must work too.
    """
    steps = rng.choice(list(SHARES), size=count, p=list(SHARES.values()))
    place = np.floor(rng.random(count) * steps) + 1
    spread = (steps >= FINEST) & (rng.random(count) < 0.5)
    t = (place - spread * rng.random(count)) / steps
    return torch.from_numpy(steps.astype(np.float32)), torch.from_numpy(t.astype(np.float32))


def new_student(teacher: TextToLatent) -> TextToLatent:
    """A copy of ``teacher`` with rows for guidance and pace that change nothing yet."""
    config = ModelConfig(**{**teacher.config.to_dict(), "guides": GUIDES, "paces": PACES})
    student = TextToLatent(config)
    student.load_state_dict(teacher.state_dict(), strict=False)
    return student


def load_student(path: Path, cache: LatentCache) -> tuple[TextToLatent, dict[str, Any]]:
    """A distilled model on the latents and words of ``cache``, and its metadata; `TtiError` for
    others."""
    student, space, about = load_diffusion(path)
    if not student.config.guides:
        raise TtiError(f"{path} is not distilled; run `ttikit train reflow` first")
    space.check(path, cache.space)
    return student, about
