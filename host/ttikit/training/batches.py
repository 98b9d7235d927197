"""Batches of captioned latents: what every training of the transformer draws from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ttikit.training.balance import Draw, picture_weights
from ttikit.training.bank import Captions, caption_bank
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, generator
from ttikit.training.world import ALONE, World

__all__ = ["Batch", "Batches", "Captions"]


@dataclass(frozen=True)
class Batch:
    """Latents x0 and noise (B, 16, 16, 4), labels (B, attributes) uint8, tokens (B, length) and
    dropped (B,), true where the prompt is hidden. With several captions of each picture, tokens
    are (B·captions, length), those of one picture together.

    These are the rows of this process. ``rng`` and ``random`` give the further random numbers of
    this step; they are drawn for the global batch, and `Batches.mine` picks this process's rows.
    """

    x0: Tensor
    labels: Tensor
    tokens: Tensor
    dropped: Tensor
    noise: Tensor
    rng: np.random.Generator
    random: torch.Generator


class Batches:
    """Draws from a latent cache; a batch is a function of (seed, step).

    Args:
        cache: latents and labels; they move to ``device``.
        captions: makes token ids from labels.
        size: of the global batch, which the processes of ``world`` share.
        device: of the batches.
        world: all processes of the run.
    """

    def __init__(
        self,
        cache: LatentCache,
        captions: Captions,
        size: int,
        device: torch.device,
        world: World = ALONE,
    ) -> None:
        self.captions, self.size, self.device = captions, size, device
        self.labels = cache.labels.numpy()
        self.cache = cache.to(device)
        self.world, self.mine = world, world.rows
        self._draw = Draw(len(cache))
        self._bank: Tensor | None = None

    def prepare_captions(self, each: int, seed: int, processes: int) -> None:
        """From now on choose among ``each`` captions per picture, made here and now."""
        bank = caption_bank(self.labels, self.captions, each, seed, processes, self.world.leads)
        self._bank = torch.from_numpy(bank).to(self.device)

    def balance(self, most: float) -> None:
        """From now on draw pictures with a rare attribute up to ``most`` times as often."""
        self._draw = Draw(
            len(self.cache), picture_weights(self.labels, self.cache.attributes, most)
        )

    def draw(self, counters: Counters, drop: float, captions: int = 1) -> Batch:
        """The batch of one step, with that many captions of each picture; a share ``drop`` of
        the prompts is hidden."""
        random = generator(counters, self.device)
        rng = np.random.default_rng((counters.seed, counters.step))
        which = self._draw(rng, self.size)
        mirrored = torch.from_numpy(rng.random(self.size) < 0.5)
        dropped = torch.from_numpy(rng.random(self.size) < drop)
        tokens = self._captioned(which.repeat(captions), rng)
        chosen = self._place(torch.from_numpy(which))
        x0 = self.cache.standardised(chosen, self._place(mirrored))
        shape = (self.size, *x0.shape[1:])
        noise = self.mine(torch.randn(shape, generator=random, device=self.device))
        labels = self._place(torch.from_numpy(self.labels[which]))
        return Batch(x0, labels, tokens, self._place(dropped), noise, rng, random)

    def _place(self, rows: Tensor) -> Tensor:
        return self.mine(rows).to(self.device)

    def _captioned(self, which: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        """Tokens of this process's rows for pictures ``which`` of the global batch."""
        if self._bank is None:
            return self.mine(self.tokens(self.labels[which], rng))
        one = torch.from_numpy(rng.integers(self._bank.shape[1], size=len(which)))
        return self._bank[self._place(torch.from_numpy(which)), self._place(one)].long()

    def tokens(self, labels: NDArray[np.uint8], rng: np.random.Generator) -> Tensor:
        """Captions as token ids, without the padding that no row of the batch needs."""
        tokens = self.captions(labels, rng)
        longest = int((tokens != 0).sum(1).max())
        return torch.from_numpy(np.ascontiguousarray(tokens[:, :longest])).to(self.device)
