"""How far drawn latents are, as a crowd, from real ones."""

from __future__ import annotations

import torch
from torch import Tensor

FEWEST, MOST = 640, 2048  # latents whose mean and covariance are compared
SPREAD = 20.0  # weight of the covariances against the means
FLOOR = 0.1  # of the mean spread: a feature that hardly ever changes counts for less
# One path that went astray must not outweigh all others: limits of a feature, in standard
# deviations, and of the root mean square of a row, which is about 1.
FARTHEST, LONGEST = 4.0, 2.0


class Crowd:
    """Mean and covariance of the features of the last latents, drawn and real.

    A single picture cannot be too like the others, or too smooth; many can. The real latents are
    those of the people whose captions were drawn, so that both crowds were asked for the same.
    """

    def __init__(self) -> None:
        self._drawn: list[Tensor] = []
        self._real: list[Tensor] = []

    def __len__(self) -> int:
        return sum(len(batch) for batch in self._real)

    def join(self, drawn: Tensor, real: Tensor) -> None:
        """Take in features (B, F) of drawn and of real latents; the oldest leave."""
        self._drawn.append(drawn.detach())
        self._real.append(real.detach())
        while len(self) > MOST:
            del self._drawn[0], self._real[0]

    def gap(self, drawn: Tensor) -> tuple[Tensor, Tensor]:
        """Distance of the crowd with features ``drawn`` (B, F) in it; a gradient and a value.

        Features are standardised by the real ones and squashed into ±`FARTHEST`; rows longer than
        `LONGEST` are scaled down to it. The value is the mean square of the difference of the
        means, plus `SPREAD` times that of the covariances. The gradient is scaled up by the share
        that ``drawn`` has in the crowd, so its size does not depend on the others.
        """
        real = torch.cat(self._real)
        mean, std = real.mean(0), real.std(0)
        std = std.clamp(min=FLOOR * std.mean().item() + 1e-6)
        everyone = _squashed((torch.cat((drawn, *self._drawn)) - mean) / std)
        real = _squashed((real - mean) / std)
        value = (everyone.mean(0) - real.mean(0)).square().mean()
        value = value + SPREAD * (_covariance(everyone) - _covariance(real)).square().mean()
        return value * (len(everyone) / len(drawn)), value.detach()


def _squashed(features: Tensor) -> Tensor:
    squashed = FARTHEST * torch.tanh(features / FARTHEST)
    size = (squashed.square().mean(1, keepdim=True) + 1e-12).sqrt()
    return squashed * (LONGEST / size).clamp(max=1)


def _covariance(features: Tensor) -> Tensor:
    centred = features - features.mean(0)
    return centred.T @ centred / len(features)
