"""Batches of captioned latents: what every training of the transformer draws from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ttikit.training.balance import Draw, picture_weights
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, generator

# labels (N, attributes) uint8, random numbers → token ids (N, length), padded with 0
Captions = Callable[[NDArray[np.uint8], np.random.Generator], NDArray[np.int64]]


@dataclass(frozen=True)
class Batch:
    """Latents x0 and noise (B, 16, 16, 4), tokens (B, length), hidden prompts dropped (B,).

    ``rng`` and ``random`` give the further random numbers of this step.
    """

    x0: Tensor
    tokens: Tensor
    dropped: Tensor
    noise: Tensor
    rng: np.random.Generator
    random: torch.Generator


class Batches:
    """Draws from a latent cache; a batch is a function of (seed, step)."""

    def __init__(
        self, cache: LatentCache, captions: Captions, size: int, device: torch.device
    ) -> None:
        self.captions, self.size, self.device = captions, size, device
        self.labels = cache.labels.numpy()
        self.cache = cache.to(device)
        self._draw = Draw(len(cache))

    def balance(self, most: float) -> None:
        """From now on draw pictures with a rare attribute up to ``most`` times as often."""
        self._draw = Draw(
            len(self.cache), picture_weights(self.labels, self.cache.attributes, most)
        )

    def draw(self, counters: Counters, drop: float) -> Batch:
        """The batch of one step; a share ``drop`` of the prompts is hidden."""
        random = generator(counters, self.device)
        rng = np.random.default_rng((counters.seed, counters.step))
        which = self._draw(rng, self.size)
        mirrored = torch.from_numpy(rng.random(self.size) < 0.5).to(self.device)
        dropped = torch.from_numpy(rng.random(self.size) < drop).to(self.device)
        tokens = self.tokens(self.labels[which], rng)
        x0 = self.cache.standardised(torch.from_numpy(which).to(self.device), mirrored)
        noise = torch.randn(x0.shape, generator=random, device=self.device)
        return Batch(x0, tokens, dropped, noise, rng, random)

    def tokens(self, labels: NDArray[np.uint8], rng: np.random.Generator) -> Tensor:
        """Captions as token ids, without the padding that no row of the batch needs."""
        tokens = self.captions(labels, rng)
        longest = int((tokens != 0).sum(1).max())
        return torch.from_numpy(np.ascontiguousarray(tokens[:, :longest])).to(self.device)
