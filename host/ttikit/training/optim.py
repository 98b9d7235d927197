"""Optimisers, learning-rate schedule and the running average of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn


class Muon(torch.optim.Optimizer):
    """Momentum whose update is made orthogonal, for weight matrices (Jordan et al. 2024, "Muon").

    The update is scaled by 0.2·sqrt(max(rows, columns)) so that AdamW's rate and decay can be used
    (Liu et al. 2025, "Muon is scalable for LLM training"). Matrices of one shape are treated as a
    batch; a convolution's kernel (O, C, 3, 3) counts as a matrix (O, 9·C). Always float32: the
    CPUs that this runs on have no fast bfloat16.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(
            parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        )

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[nn.Parameter]] = {}
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape.setdefault(parameter.shape, []).append(parameter)
            for parameters in by_shape.values():
                self._update(parameters, group)

    def _update(self, parameters: list[nn.Parameter], group: dict) -> None:
        momentum, rate = group["momentum"], group["lr"]
        updates = []
        for parameter in parameters:
            state = self.state[parameter]
            if not state:
                state["momentum"] = torch.zeros_like(parameter)
            state["momentum"].lerp_(parameter.grad, 1 - momentum)
            updates.append(parameter.grad.lerp(state["momentum"], momentum))  # Nesterov
        matrices = torch.stack(updates).flatten(2)
        scale = 0.2 * math.sqrt(max(matrices.shape[1:]))
        for parameter, update in zip(parameters, orthogonalise(matrices), strict=True):
            parameter.mul_(1 - rate * group["weight_decay"])
            parameter.add_(update.reshape(parameter.shape), alpha=-rate * scale)


def orthogonalise(g: Tensor, steps: int = 5) -> Tensor:
    """Matrices (n, rows, columns) → about U·Vᵀ of each one's singular value decomposition.

    Newton-Schulz iteration of fifth order with the coefficients of Jordan et al. 2024.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    tall = g.shape[1] > g.shape[2]
    x = g.transpose(1, 2) if tall else g
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        s = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(s, s, s, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


def build_optimisers(
    model: nn.Module, plain: Iterable[str], weight_decay: float = 0.01, share: float = 1.0
) -> list[torch.optim.Optimizer]:
    """Muon for the weight matrices and kernels inside the network, AdamW for everything else.

    ``plain`` are name prefixes that AdamW keeps: embeddings, first and last layers; its rate is
    ``share`` times Muon's. The training loop sets the rates.
    """
    prefixes = tuple(plain)
    inner: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        is_matrix = name.endswith(".weight") and parameter.ndim >= 2
        (inner if is_matrix and not name.startswith(prefixes) else rest).append(parameter)
    return [
        Muon(inner, lr=0.0, weight_decay=weight_decay),
        torch.optim.AdamW(
            [{"params": rest, "share": share}], betas=(0.9, 0.99), weight_decay=0.0, fused=True
        ),
    ]


RATE, RATE_BATCH, RATE_GAIN = 3e-3, 64, 4.0


def scaled_rate(batch: int) -> float:
    """Highest rate for a batch of that many samples: 3e-3·sqrt(batch / 64), at most 1.2e-2.

    The noise of a gradient's mean falls with the root of the batch, and so Adam's rate may rise
    with it (Malladi et al. 2022, "On the SDEs and scaling rules for adaptive gradient methods").
    Muon's updates have a fixed size as well, but one of 1.2e-2 already turns a matrix of 192
    channels by about 2 % in a step: hence the limit.
    """
    return RATE * min(math.sqrt(batch / RATE_BATCH), RATE_GAIN)


@dataclass(frozen=True)
class Schedule:
    """Learning rate over the budget of a run: warm-up, full rate, decay to zero.

    ``shape`` "cosine" decays from the start, "linear" only over the last ``decay`` of the run.
    """

    peak: float
    shape: str = "linear"
    warmup: int = 200  # steps
    decay: float = 0.4

    def rate(self, step: int, progress: float) -> float:
        """Rate of ``step`` (from 0) at ``progress`` (0 to 1) of the budget."""
        progress = min(max(progress, 0.0), 1.0)
        if self.shape == "cosine":
            factor = 0.5 * (1 + math.cos(math.pi * progress))
        else:
            factor = min(1.0, (1 - progress) / self.decay)
        return self.peak * factor * min(1.0, (step + 1) / self.warmup)


class Average:
    """Running average of the weights that always spans the same share of the training.

    Power-function average of Karras et al. 2024 (EDM2): weight (1 − 1/step)^(γ+1) for the past, so
    that no decay has to be chosen for the length of a run; γ = 16.97 is a relative width of 5 %.
    """

    GAMMA = 16.97

    def __init__(self, model: nn.Module) -> None:
        self.values = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """Take in the weights after ``step`` (from 1)."""
        keep = (1 - 1 / step) ** (self.GAMMA + 1)
        current = model.state_dict()
        torch._foreach_lerp_(
            list(self.values.values()), [current[name] for name in self.values], 1 - keep
        )
