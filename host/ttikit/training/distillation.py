"""Distillation: guidance and the number of steps become inputs of the network.

Classifier-free guidance needs two passes per step, and Euler steps want to be short because the
flow is curved. The student starts as a copy of the teacher (the trained `TextToLatent`) and learns

- from the teacher, vu + s·(vc − vu): the guided velocity in one pass (Meng et al. 2023, "On
  distillation of guided diffusion models"), with a push by a `Reader` towards what the caption
  names;
- from itself, the mean velocity over a long step, as the mean of two steps of half the length
  that its slow average takes ("shortcut models", Frans et al. 2024).

So it is sampled with one pass per step, and few steps land where many would.
"""

from __future__ import annotations

import zlib
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.training.balance import MOST
from ttikit.training.batches import Batches, Captions
from ttikit.training.checkpoint import load_tensors
from ttikit.training.diffusion import (
    DECAY,
    EXPORT,
    PLAIN,
    load_diffusion,
    save_diffusion,
)
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import ModelConfig, TextToLatent
from ttikit.training.optim import Average, Schedule, build_optimisers
from ttikit.training.reader import Reader, load_reader, velocity_of
from ttikit.training.speed import autocast, speed_for

GUIDES = 5  # guidance 1 to 5
PACES = 5  # 1, 2, 4, 8 and 16 steps
FINEST = 2 ** (PACES - 1)
# Number of steps → share of the batch. 8 and 4 are what people use.
SHARES = {16: 0.38, 8: 0.20, 4: 0.22, 2: 0.06, 1: 0.04, 12: 0.03, 6: 0.04, 3: 0.03}
DROP = 0.04  # share of hidden prompts
DEFAULT_GUIDANCE = 3.0
PUSH = 1.75
# What people call guidance g is 1 + HALF·(g − 1) of the teacher's. With the reader's push the
# teacher's 2 follows prompts better than its 3, and its faces stay nearer to real ones.
HALF = 0.5
DEFAULT_SHARE = 0.3  # of the batch that is trained at exactly the default guidance


class DistillationTask:
    """Batches, targets and loss; everything is a function of (seed, step) and the weights.

    Args:
        student: the model in training, with rows ``guide`` and ``pace``.
        slow: the same network with the running average of the student's weights.
        teacher: the model whose guided field is learned; it is not changed.
        batches: latents with captions.
        reader: pushes the guided field, ``push`` times as hard as Bayes' rule says at guidance 3.
    """

    def __init__(
        self,
        student: TextToLatent,
        slow: TextToLatent,
        teacher: TextToLatent,
        batches: Batches,
        reader: Reader | None = None,
        push: float = PUSH,
    ) -> None:
        self.student, self.slow, self.teacher = student, slow, teacher
        self.batches, self.reader, self.push = batches, reader, push

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Mean squared error of the velocity, and its parts from the teacher and from itself."""
        drawn = self.batches.draw(counters, DROP)
        x0, tokens, dropped = drawn.x0, drawn.tokens, drawn.dropped
        drawn_recipes = recipes(self.batches.size, drawn.rng)
        guidance, steps, t = (self.batches.mine(part).to(x0.device) for part in drawn_recipes)
        mix = t[:, None, None, None]
        x = (1 - mix) * x0 + mix * drawn.noise
        with autocast(x0.device):
            target = self.targets(x, t, tokens, dropped, guidance, steps)
            text = self.student.prompt(tokens, dropped) + self.student.recipe(guidance, steps)
            velocity = self.student.dit(x, t, text)
        error = (velocity.float() - target).square().mean((1, 2, 3))
        fine = steps >= FINEST
        return {
            "loss": error.mean(),
            "teacher_loss": _mean(error.detach(), fine),
            "self_loss": _mean(error.detach(), ~fine),
        }

    @torch.no_grad()
    def targets(
        self,
        x: Tensor,
        t: Tensor,
        tokens: Tensor,
        dropped: Tensor,
        guidance: Tensor,
        steps: Tensor,
    ) -> Tensor:
        """Float32 velocities that the student should answer; all arguments have B rows."""
        out = torch.empty_like(x, dtype=torch.float32)
        fine = steps >= FINEST
        out[fine] = self._guided(x[fine], t[fine], tokens[fine], dropped[fine], guidance[fine])
        rest = ~fine
        out[rest] = self._two_halves(
            x[rest], t[rest], tokens[rest], dropped[rest], guidance[rest], steps[rest]
        )
        return out

    def _guided(
        self, x: Tensor, t: Tensor, tokens: Tensor, dropped: Tensor, guidance: Tensor
    ) -> Tensor:
        text = self.teacher.prompt(tokens, dropped)
        null = self.teacher.null.expand_as(text)
        both = self.teacher.dit(torch.cat((x, x)), torch.cat((t, t)), torch.cat((text, null)))
        conditional, unconditional = both.float().chunk(2)
        strength = (1 + HALF * (guidance - 1))[:, None, None, None]
        velocity = unconditional + strength * (conditional - unconditional)
        if self.reader is not None:
            force = self.push * (guidance - 1) / (DEFAULT_GUIDANCE - 1) * ~dropped
            pull = velocity_of(self.reader.pull(x, t, tokens), t)
            velocity += force[:, None, None, None] * pull
        return velocity

    def _two_halves(
        self,
        x: Tensor,
        t: Tensor,
        tokens: Tensor,
        dropped: Tensor,
        guidance: Tensor,
        steps: Tensor,
    ) -> Tensor:
        half = 0.5 / steps
        text = self.slow.prompt(tokens, dropped) + self.slow.recipe(guidance, 2 * steps)
        first = self.slow.dit(x, t, text).float()
        middle = x - half[:, None, None, None] * first
        second = self.slow.dit(middle, t - half, text).float()
        return (first + second) / 2


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of the chosen values; 0 if there is none, as in a tiny batch."""
    return (values * chosen).sum() / chosen.sum().clamp(min=1)


def recipes(count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Guidance, number of steps and time, each (count,) float32.

    Times lie on the grid of the sampler, (i + 1)/steps. Between the finest steps half of them are
    spread, since runs of any larger number of steps must work too.
    """
    guidance = 1 + (GUIDES - 1) * rng.random(count)
    guidance[rng.random(count) < DEFAULT_SHARE] = DEFAULT_GUIDANCE
    kinds = np.array(list(SHARES))
    steps = rng.choice(kinds, size=count, p=np.array(list(SHARES.values())))
    place = np.floor(rng.random(count) * steps) + 1
    spread = (steps >= FINEST) & (rng.random(count) < 0.5)
    t = (place - spread * rng.random(count)) / steps
    return tuple(torch.from_numpy(v.astype(np.float32)) for v in (guidance, steps, t))


def new_student(teacher: TextToLatent) -> TextToLatent:
    """A copy of ``teacher`` with rows for guidance and pace that change nothing yet."""
    config = ModelConfig(**{**teacher.config.to_dict(), "guides": GUIDES, "paces": PACES})
    student = TextToLatent(config)
    student.load_state_dict(teacher.state_dict(), strict=False)
    return student


def train_distilled(
    cache: LatentCache,
    captions: Captions,
    teacher_path: Path,
    settings: Settings,
    rate: float = 1.5e-3,
    device: torch.device | None = None,
    reader_path: Path | None = None,
    push: float = PUSH,
) -> dict[str, float]:
    """Distil ``teacher_path`` (or resume) into ``settings.out``; returns the samples seen.

    ``reader_path`` and ``push`` add the push of a `Reader`; see `DistillationTask`.

    ``export.safetensors`` with the averaged weights is rewritten with every checkpoint.
    """
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    teacher, _, _ = load_diffusion(teacher_path)
    _, about = load_tensors(teacher_path)
    if about["autoencoder"] != cache.autoencoder:
        raise TtiError(f"{teacher_path} was trained on latents of another autoencoder")
    if teacher.config.guides:
        raise TtiError(f"{teacher_path} is distilled already; give the run that it came from")
    teacher = teacher.to(device).requires_grad_(False)
    student = new_student(teacher).to(device)
    average = Average(student)
    slow = deepcopy(student).requires_grad_(False)
    slow.load_state_dict(average.values, assign=True)  # shares their memory
    batches = Batches(cache, captions, settings.batch, device, settings.world)
    batches.balance(MOST)
    speed = speed_for(device, settings.world.size)
    if speed.captions:
        batches.prepare_captions(speed.captions, settings.seed, speed.processes)
    reader = load_reader(reader_path, cache).to(device) if reader_path else None
    task = DistillationTask(student, slow, teacher, batches, reader, push)

    def export() -> dict[str, float]:
        counted = {
            "samples": about["samples"] + trainer.counters.samples,
            "teacher_samples": about["samples"],
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
    known = {
        "teacher": zlib.crc32(teacher_path.read_bytes()),
        "reader": zlib.crc32(reader_path.read_bytes()) if reader_path else None,
        "push": push if reader_path else None,
        "autoencoder": cache.autoencoder,
    }
    if trainer.resume() and trainer.counters.extra != known:
        raise TtiError(
            f"{settings.out} was distilled from another teacher, with another reader or push; "
            f"choose another --out"
        )
    trainer.counters.extra = known
    trainer.run()
    return {"samples": trainer.counters.samples}
