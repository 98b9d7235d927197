"""New life for channels of a trained decoder that a ReLU holds at zero.

A channel that is never active gets no gradient and stays so, but costs a board as much as any
other. Inside a residual branch it can begin again: with fresh weights, active at a fair share of
the places, and unread at first, so that the pictures hardly change.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ttikit.training.models import Decoder, Residual

DEAD = 0.01  # a channel that is active at a smaller share of the places counts as dead
ALIVE = 0.3  # share of the places at which a revived channel is active


@torch.no_grad()
def revive(decoder: Decoder, latents: Tensor, seed: int) -> dict[str, int]:
    """Start dead channels inside the residual branches anew; how many there were, by branch.

    Args:
        decoder: changed in place.
        latents: decoder inputs (N, 4, H, W) that decide what is dead.
        seed: of the new weights.
    """
    random = torch.Generator().manual_seed(seed)
    revived = {}
    for name in ("res1", "res2", "res3"):
        branch = decoder.get_submodule(name)
        dead = (_inner(decoder, branch, latents) > 0).float().mean(dim=(0, 2, 3)) < DEAD
        shape = branch.conv1.weight[dead].shape
        fresh = torch.randn(shape, generator=random) * math.sqrt(2 / math.prod(shape[1:]))
        branch.conv1.weight[dead] = fresh.to(branch.conv1.weight)
        branch.conv1.bias[dead] = 0.0
        branch.conv2.weight[:, dead] = 0.0
        values = _inner(decoder, branch, latents)[:, dead].transpose(0, 1).flatten(1)
        threshold = np.quantile(values.cpu().numpy(), 1 - ALIVE, axis=1)
        branch.conv1.bias[dead] = -torch.from_numpy(threshold).to(branch.conv1.bias)
        revived[name] = int(dead.sum())
    return revived


def _inner(decoder: Decoder, branch: Residual, latents: Tensor) -> Tensor:
    """What ``branch`` computes before its second ReLU, for all latents."""
    parts: list[Tensor] = []
    hook = branch.conv1.register_forward_hook(lambda module, inputs, output: parts.append(output))
    try:
        for part in latents.split(16):
            decoder(part)
    finally:
        hook.remove()
    return torch.cat(parts)
