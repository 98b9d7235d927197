"""The processes that train one model together, started by ``torchrun``; usually it is only one.

Every process draws the same batch, a function of (seed, step), and computes its own rows of it.
The gradients are averaged, so all of them make the same update. The first process keeps time,
writes the checkpoints and the log, and what it decides holds for all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn

from ttikit.errors import TtiError

PATIENCE = timedelta(minutes=10)  # how long a process waits for the others


class World:
    """One process alone: nothing has to be shared or agreed on."""

    rank = 0
    size = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def rows(self, batch: Tensor) -> Tensor:
        """This process's rows of a global batch (B, …): (B / size, …)."""
        return batch

    def mean(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its mean over all processes."""

    def align(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by that of the first process."""

    def gather(self, numbers: Sequence[float]) -> list[list[float]]:
        """The numbers of every process, by rank."""
        return [list(numbers)]

    def check(self, batch: int) -> None:
        """Raise `TtiError` if a batch of that size cannot be shared evenly."""

    def leave(self) -> None:
        """Part from the others at the end of a run."""


class Group(World):
    """Several processes, connected by torch.distributed: NCCL between GPUs, gloo otherwise."""

    def __init__(self, device: torch.device) -> None:
        backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
        with _others():
            dist.init_process_group(backend, timeout=PATIENCE)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def rows(self, batch: Tensor) -> Tensor:
        """This process's rows of a global batch (B, …): (B / size, …)."""
        share = len(batch) // self.size
        return batch[self.rank * share : (self.rank + 1) * share]

    def mean(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its mean over all processes; one exchange for all of them."""
        parts = list(tensors)
        with _others():
            flat = torch.cat([part.detach().reshape(-1).float() for part in parts])
            dist.all_reduce(flat)
            _spread(flat / self.size, parts)

    def align(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by that of the first process."""
        parts = list(tensors)
        with _others():
            flat = torch.cat([part.detach().reshape(-1).float() for part in parts])
            dist.broadcast(flat, 0)
            _spread(flat, parts)

    def gather(self, numbers: Sequence[float]) -> list[list[float]]:
        """The numbers of every process, by rank; they travel beside the GPUs, which go on."""
        own = torch.tensor(numbers, dtype=torch.float64)
        rows = [torch.empty_like(own) for _ in range(self.size)]
        with _others():
            dist.all_gather(rows, own)
        return [row.tolist() for row in rows]

    def check(self, batch: int) -> None:
        """Raise `TtiError` if a batch of that size cannot be shared evenly."""
        if batch % self.size:
            raise TtiError(
                f"a batch of {batch} cannot be shared by {self.size} processes; "
                f"choose a --batch that is a multiple of {self.size}"
            )

    def leave(self) -> None:
        """Part from the others at the end of a run."""
        if dist.is_initialized():
            dist.destroy_process_group()


ALONE = World()


def is_one_of_many() -> bool:
    """Whether ``torchrun`` started this process beside others."""
    return dist.is_torchelastic_launched() and int(os.environ["WORLD_SIZE"]) > 1


def own_device(kind: str) -> torch.device:
    """Device of this process: "cpu", or the GPU with the number of the process on this host.

    Raises `TtiError` if the host has too few GPUs.
    """
    if kind == "cuda":  # the optimiser's float32 products: 10 bits of mantissa are plenty there
        torch.set_float32_matmul_precision("high")
    if kind != "cuda" or not is_one_of_many():
        return torch.device(kind)
    place = int(os.environ["LOCAL_RANK"])
    count = torch.cuda.device_count()
    if place >= count:
        raise TtiError(
            f"there are more processes than GPUs; use torchrun --nproc-per-node {count}"
        )
    device = torch.device("cuda", place)
    torch.cuda.set_device(device)
    return device


def join(device: torch.device) -> World:
    """All processes of this run: a `Group` under ``torchrun``, else this one alone."""
    return Group(device) if is_one_of_many() else ALONE


def gradients(model: nn.Module) -> Iterator[Tensor]:
    """The gradients of a model, in the order of its parameters."""
    return (p.grad for p in model.parameters() if p.grad is not None)


def _spread(flat: Tensor, parts: Sequence[Tensor]) -> None:
    pieces = flat.split([part.numel() for part in parts])
    with torch.no_grad():
        for part, piece in zip(parts, pieces, strict=True):
            part.copy_(piece.view(part.shape))


@contextmanager
def _others() -> Iterator[None]:
    """Say in one sentence that the connection to the other processes broke."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise TtiError(
            "another process of this run has ended or does not answer; the cause is in its own "
            f"message, and the same command goes on from the last checkpoint ({_first(error)})"
        ) from None


def _first(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:120]
