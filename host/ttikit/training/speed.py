"""What keeps a fast GPU busy: captions made beforehand, bfloat16, compiled networks.

None of it changes what is learned, and all of it works on a CPU too, which is how it is tested.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rich.console import Console
from torch import Tensor, nn

HALVED = {"cuda"}  # kinds of devices whose matrix products are done in bfloat16
EACH = 64  # captions kept for a picture: 12 million samples of 40,000 show each about 5 times

Forward = Callable[..., Tensor]


@dataclass(frozen=True)
class Speed:
    """How a run is sped up.

    Args:
        captions: how many are made beforehand for a picture; 0 makes fresh ones at every step.
        processes: that make them.
        backend: of torch.compile; None does not compile.
    """

    captions: int = 0
    processes: int = 1
    backend: str | None = None


def speed_for(device: torch.device, processes_beside: int = 1) -> Speed:
    """What suits a device: everything on a GPU, nothing on a CPU.

    The CPU cores are divided among ``processes_beside`` that train on this host.
    """
    if device.type != "cuda":
        return Speed()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Speed(EACH, max(1, (cores or 1) // processes_beside), "inductor")


def autocast(device: torch.device) -> torch.autocast:
    """Context in which matrix products are done in bfloat16, where the device is fast at that."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type in HALVED)


def compiled(
    model: nn.Module, backend: str | None, trial: Callable[[Forward], Tensor], tells: bool = True
) -> Forward:
    """``model`` compiled, or as it is if compiling fails; it keeps its parameters.

    ``trial`` computes a loss with what it is given; forward and backward pass are compiled by it,
    so its shapes must be those of the training. ``tells`` says why where it failed.
    """
    if backend is None:
        return model
    try:
        fast: Forward = torch.compile(model, backend=backend, dynamic=False)
        trial(fast).backward()
    except Exception as error:  # of many kinds: no compiler, no Triton, an unknown GPU
        if tells:
            reason = str(error).strip().partition("\n")[0][:100]
            Console(stderr=True).print(f"trains without torch.compile: {reason}", markup=False)
        fast = model
    model.zero_grad(set_to_none=True)
    return fast
