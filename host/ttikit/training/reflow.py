"""Reflow: a student of one pass per step learns the straight lines of its teacher's pairs.

Liu et al. 2022, "Flow straight and fast: learning to generate and transfer data with rectified
flow": a model trained on pairs of noise and what a first model draws from it has nearly straight
paths, so few steps land where many would. What the first model needed to get there, guidance and
a reader's push, lies in the ends; the student learns it as a whole and pays for none of it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ttikit.data.domain_file import origin_of
from ttikit.errors import TtiError
from ttikit.training.checkpoint import file_checksum, read_metadata
from ttikit.training.diffusion import DECAY, EXPORT, PLAIN, save_diffusion
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import TextToLatent
from ttikit.training.optim import Average, Schedule, build_optimisers
from ttikit.training.pairs import Pairs, load_pairs, load_teacher
from ttikit.training.recipes import draw_times, new_student
from ttikit.training.speed import autocast
from ttikit.training.world import ALONE, World

LEFT_OUT = 0.15  # share of the pairs that obey least: mistakes of the teacher


class ReflowTask:
    """Batches of pairs and their loss; everything is a function of (seed, step) and the weights.

    Args:
        student: the model in training, with rows ``guide`` and ``pace``.
        pairs: to learn from.
        size: of the global batch, which the processes of ``world`` share.
        world: all processes of the run.
    """

    def __init__(
        self, student: TextToLatent, pairs: Pairs, size: int, world: World = ALONE
    ) -> None:
        self.student, self.pairs, self.size, self.mine = student, pairs, size, world.rows

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Mean squared error of the velocity, and that of early and late times alone."""
        pairs, device = self.pairs, self.pairs.noise.device
        rng = np.random.default_rng((counters.seed, counters.step))
        which = torch.from_numpy(rng.integers(len(pairs), size=self.size))
        steps, t = (self.mine(part).to(device) for part in draw_times(self.size, rng))
        tokens = pairs.tokens[which].long()
        tokens = self.mine(tokens[:, : int((tokens != 0).sum(1).max())]).to(device)
        which = self.mine(which)
        hidden, guidance = pairs.hidden[which].to(device), pairs.guidance[which].to(device)
        which = which.to(device)
        noise, end = pairs.noise[which].float(), pairs.end[which].float()
        x = torch.lerp(end, noise, t[:, None, None, None])
        with autocast(device):
            text = self.student.prompt(tokens, hidden) + self.student.recipe(guidance, steps)
            velocity = self.student.dit(x, t, text)
        error = (velocity.float() - (noise - end)).square().mean((1, 2, 3))
        return {
            "loss": error.mean(),
            "early_loss": _mean(error.detach(), t > 0.8),
            "late_loss": _mean(error.detach(), t < 0.5),
        }


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of the chosen values; 0 if there is none, as in a tiny batch."""
    return (values * chosen).sum() / chosen.sum().clamp(min=1)


def train_reflow(
    cache: LatentCache,
    teacher_path: Path,
    folder: Path,
    settings: Settings,
    rate: float = 1.5e-3,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Train a student of ``teacher_path`` on the pairs of ``folder`` (or resume) into
    ``settings.out``; returns the rows seen. More pairs may come between two parts of a run.

    ``export.safetensors`` with the averaged weights is rewritten with every checkpoint.
    """
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    student = new_student(load_teacher(teacher_path, cache)).to(device)
    about = read_metadata(teacher_path)
    pairs = load_pairs(folder, device, LEFT_OUT)
    if pairs.source.teacher != file_checksum(teacher_path):
        raise TtiError(
            f"{folder} holds pairs of another teacher than {teacher_path}; draw its own first"
        )
    space = cache.space.known
    known = {name: value for name, value in asdict(pairs.source).items() if name != "seed"}
    if any(known[name] != space[name] for name in ("autoencoder", *origin_of(cache.data))):
        raise TtiError(f"{folder} holds pairs that were drawn with other latents than these")
    found = [count for (count,) in settings.world.gather([len(pairs)])]
    if len(set(found)) > 1:
        raise TtiError(
            f"the processes found different numbers of pairs in {folder}: "
            f"{', '.join(f'{count:.0f}' for count in found)}; wait until all are drawn"
        )
    average = Average(student)
    task = ReflowTask(student, pairs, settings.batch, settings.world)

    def export() -> dict[str, float]:
        counted = {
            "samples": about["samples"] + trainer.counters.samples,
            "teacher_samples": about["samples"],
            "pairs": len(pairs),
            "pictures": len(cache),
        }
        save_diffusion(settings.out / EXPORT, average.values, student.config, cache, counted)
        return {}

    trainer = Trainer(
        student,
        build_optimisers(student, PLAIN, share=0.5),
        Schedule(rate, decay=DECAY),
        task.loss,
        settings,
        average=average,
        check=export,
    )
    trainer.resume({**space, **known}, "trained on pairs of another teacher, reader or latents")
    trainer.run()
    return {"samples": trainer.counters.samples, "pairs": len(pairs)}
