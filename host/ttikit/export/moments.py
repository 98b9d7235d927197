"""What each layer reads, as the sum of x·xᵀ over its inputs x: `quantize_rows` goes by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ttikit.training.models import Block, modulate


@contextmanager
def recorded(module: nn.Module, prefix: str = "") -> Iterator[dict[str, np.ndarray]]:
    """Fill the dictionary, while it is open, from every call of ``module``: layer → moment.

    A linear layer of K inputs has a moment (K, K) float64; a 3×3 convolution of C channels one of
    (9·C, 9·C), in the order row, column, channel. Names begin with ``prefix``.
    """
    seen: dict[str, np.ndarray] = {}
    hooks = []
    for name, layer in module.named_modules(prefix=prefix):
        if isinstance(layer, Block):
            hooks.append(layer.register_forward_pre_hook(_projections(seen, name)))
        elif isinstance(layer, nn.Linear | nn.Conv2d):
            hooks.append(layer.register_forward_pre_hook(_layer(seen, name)))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _layer(seen: dict[str, np.ndarray], name: str) -> Any:
    def record(layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        x = _windows(inputs[0]) if isinstance(layer, nn.Conv2d) else inputs[0]
        _add(seen, name, x)

    return record


def _projections(seen: dict[str, np.ndarray], name: str) -> Any:
    # A block multiplies by q, k and v in one product, past their modules.
    def record(block: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        shift, scale = inputs[1][:, 0, None], inputs[1][:, 1, None]
        _add(seen, f"{name}.q", modulate(inputs[0], shift, scale))
        seen[f"{name}.k"] = seen[f"{name}.v"] = seen[f"{name}.q"]

    return record


def _windows(x: Tensor) -> Tensor:
    """(B, C, H, W) → the 3×3 windows around each place, (B, H·W, 9·C)."""
    windows = F.unfold(x, 3, padding=1).unflatten(1, (x.shape[1], 9))
    return windows.permute(0, 3, 2, 1).flatten(2)


@torch.no_grad()
def _add(seen: dict[str, np.ndarray], name: str, x: Tensor) -> None:
    rows = x.reshape(-1, x.shape[-1]).float()
    with np.errstate(invalid="ignore"):  # who uses them looks for what is no number
        seen[name] = seen.get(name, 0.0) + (rows.T @ rows).double().cpu().numpy()
