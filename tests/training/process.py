"""One process of a run of several, for test_world.py: torchrun runs this file."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch
from ttikit.errors import TtiError
from ttikit.training import diffusion, reflow
from ttikit.training.loop import Budget, Settings, pick_device, prepare_cpu
from ttikit.training.world import World, join

sys.path.insert(0, str(Path(__file__).parent))
from conftest import SMALL, captions, small_cache


def main(out: Path, samples: int, event: str, at: int) -> None:
    """Train with a checkpoint after every step; at step ``at`` of this part ``event`` happens.

    "die" kills the second process, "tell" makes the first one leave a note that it is there.
    "reflow" trains a student of the model in the folder "teacher" instead.
    """
    prepare_cpu(1)
    world = join(pick_device("cpu", shared=True))
    check_exchange(world)
    settings = Settings(
        out, 8, Budget(samples=samples), log_seconds=0.0, save_seconds=0.0, world=world
    )
    if event == "reflow":
        teacher = out.with_name("teacher") / diffusion.EXPORT
        reflow.train_reflow(small_cache(), teacher, out.with_name("pairs"), settings)
        world.leave()
        return
    original, steps = diffusion.DiffusionTask.loss, []

    def loss(task, counters):
        steps.append(1)
        if event == "die" and world.rank == 1 and len(steps) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        if event == "tell" and world.rank == 0 and len(steps) == at:
            (out / "there").touch()
        return original(task, counters)

    diffusion.DiffusionTask.loss = loss
    diffusion.train_diffusion(small_cache(), captions, settings, rate=4e-2, config=SMALL)
    world.leave()


def check_exchange(world: World) -> None:
    """Two processes exchange what they should."""
    first, second = torch.tensor([[1.0, 2.0]]) + world.rank, torch.tensor(4.0) * world.rank
    world.mean([first, second])
    assert first.tolist() == [[1.5, 2.5]] and second.item() == 2.0
    own = torch.tensor([3.0 + world.rank])
    world.align([own])
    assert own.item() == 3.0
    assert world.gather([world.rank, 0.5]) == [[0.0, 0.5], [1.0, 0.5]]
    assert world.rows(torch.arange(4)).tolist() == [[0, 1], [2, 3]][world.rank]
    assert world.leads == (world.rank == 0)
    try:
        world.check(3)
    except TtiError as error:
        assert "multiple of 2" in str(error)
    else:
        raise AssertionError("an odd batch was shared by two")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    except TtiError as error:
        sys.exit(f"ttikit: {error}")
