"""Alignment: a distilled model is trained by where its paths end.

Reflow teaches every step by itself, and the small errors of the steps add up to faces that
lack what the caption names. Here whole paths are drawn, from noise to latent, and the gradient
goes back through all their steps (Clark et al. 2023, "Directly fine-tuning diffusion models on
differentiable rewards"). Three forces hold each other in balance:

- every `Reader` wants each latent to show what its caption names;
- every `Crowd`, one in the eyes of each reader, wants all latents together to look like real ones;
- the anchor wants each step to stay near the model that it started from.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.training.batches import Batch, Batches, Captions
from ttikit.training.checkpoint import file_checksum
from ttikit.training.crowd import FEWEST, Crowd
from ttikit.training.diffusion import EXPORT, save_diffusion
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import TextToLatent
from ttikit.training.optim import Average, Schedule
from ttikit.training.reader import Reader, load_reader
from ttikit.training.recipes import DEFAULT_GUIDANCE, draw_guidance, load_student
from ttikit.training.speed import autocast, speed_for

# Number of steps of a path → share of the batches. 4 and 8 are what people use.
SHARES = {4: 0.47, 8: 0.25, 2: 0.13, 1: 0.10, 16: 0.05}
ANCHOR = 30.0
PULL = 1.5  # of the readers, at the default guidance
CROWD = 10.0
# The anchor's guidance is 1 + EASE·(g − 1): the reader sees to the caption, so less will do.
EASE = 0.5
# The reader looks through this much noise: what shows through it is no trick on its weights.
VEIL = (0.02, 0.42)
GLANCE = 0.05  # noise through which the crowd is seen
# Half of the paths are the hardest: each is the worst of so many that were drawn in one step.
HARD, CANDIDATES = 0.5, 16


class AlignmentTask:
    """Paths and their loss; everything is a function of (seed, step), the weights and the crowd.

    Args:
        student: the distilled model in training.
        batches: captions, and the latents of the people they describe.
        readers: of latents and captions; what one of them cannot tell apart, another may.
        hard: how many paths of a batch are hard ones; each takes `CANDIDATES` rows of ``batches``.
    """

    def __init__(
        self, student: TextToLatent, batches: Batches, readers: Sequence[Reader], hard: int = 0
    ) -> None:
        self.student, self.batches, self.readers = student, batches, readers
        self.start = deepcopy(student).requires_grad_(False)
        self.crowds = [Crowd() for _ in readers]
        self.plain, self.hard = batches.size - CANDIDATES * hard, hard

    def fill_crowd(self, counters: Counters) -> None:
        """Draw as many latents as a first comparison needs; after a resumption as well."""
        for step in range(-(-FEWEST // self.batches.size)):
            batch = self.batches.draw(Counters(seed=counters.seed + 1, step=step), 0.0)
            with torch.no_grad():
                end, _ = self.path(batch, *recipes(self.batches.size, batch.rng))
                for crowd, seen in zip(self.crowds, self._described(end, batch), strict=True):
                    for part in zip(*(of.split(self.plain) for of in seen), strict=True):
                        crowd.join(*part)  # as small as a step's, so that they leave one by one

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Loss of one batch of paths, and what the three forces see."""
        batch = self._chosen(self.batches.draw(counters, 0.0))
        guidance, steps = recipes(len(batch.tokens), batch.rng)
        end, strayed = self.path(batch, guidance, steps)
        agreement = self._agreement(end, batch)
        forces, gaps = [], []
        for crowd, seen in zip(self.crowds, self._described(end, batch), strict=True):
            drawn, real = (features[: self.plain] for features in seen)  # the hard are no sample
            force, gap = crowd.gap(drawn)
            crowd.join(drawn, real)
            forces.append(force)
            gaps.append(gap)
        wanted = ((guidance - 1) / (DEFAULT_GUIDANCE - 1)).to(agreement.device)
        loss = -PULL * (wanted * agreement).mean() + CROWD * _mean(forces) + ANCHOR * strayed
        return {
            "loss": loss,
            "agreement": agreement.detach().mean(),
            "gap": _mean(gaps),
            "strayed": strayed.detach(),
        }

    @torch.no_grad()
    def _chosen(self, batch: Batch) -> Batch:
        """The first `plain` rows, and of the others the `hard` ones whose captions and noise lead
        to ends that fall shortest of what is asked for, in one step."""
        if not self.hard:
            return batch
        noise, tokens = batch.noise[self.plain :], batch.tokens[self.plain :]
        once = torch.ones(len(noise), device=noise.device)
        with autocast(noise.device):
            text = self.student.prompt(tokens, batch.dropped[self.plain :])
            text = text + self.student.recipe(DEFAULT_GUIDANCE * once, once)
            end = noise - self.student.dit(noise, once, text).float()
        t = GLANCE * once
        seen = _veiled(end, t, batch)
        lacking = _mean([reader.shortfall(seen, t, tokens) for reader in self.readers])
        worst = self.plain + lacking.topk(self.hard).indices
        rows = torch.cat((torch.arange(self.plain, device=worst.device), worst))
        return replace(
            batch, x0=batch.x0[rows], labels=batch.labels[rows], tokens=batch.tokens[rows],
            dropped=batch.dropped[rows], noise=batch.noise[rows],
        )  # fmt: skip

    def path(self, batch: Batch, guidance: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Ends of the paths (B, 16, 16, 4), and the mean square of the velocities' distance to
        the start model's on the way.

        ``guidance`` (B,) may differ between the rows, the number of steps may not.
        """
        x, guidance = batch.noise, guidance.to(batch.noise.device)
        counts = torch.full_like(guidance, steps)
        text = self.student.prompt(batch.tokens, batch.dropped)
        text = text + self.student.recipe(guidance, counts)
        with torch.no_grad():
            usual = self.start.prompt(batch.tokens, batch.dropped)
            usual = usual + self.start.recipe(1 + EASE * (guidance - 1), counts)
        strayed = x.new_zeros(())
        for i in range(steps):
            t = torch.full_like(guidance, 1 - i / steps)
            with autocast(x.device):
                velocity = self.student.dit(x, t, text).float()
                with torch.no_grad():
                    known = self.start.dit(x.detach(), t, usual).float()
            strayed = strayed + (velocity - known).square().mean() / steps
            x = x - velocity / steps
        return x, strayed

    def _agreement(self, end: Tensor, batch: Batch) -> Tensor:
        low, high = VEIL
        t = low + (high - low) * batch.rng.random(len(end))
        t = torch.from_numpy(t.astype(np.float32)).to(end.device)
        seen = _veiled(end, t, batch)
        return _mean([reader.agreement(seen, t, batch.tokens) for reader in self.readers])

    def _described(self, end: Tensor, batch: Batch) -> list[tuple[Tensor, Tensor]]:
        """Features of the ends and of the real latents, in the eyes of each reader."""
        t = torch.full((len(end),), GLANCE, device=end.device)
        drawn, real = _veiled(end, t, batch), _veiled(batch.x0, t, batch)
        return [(reader.describe(drawn, t), reader.describe(real, t)) for reader in self.readers]


def _mean(values: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(values)).mean(0)


def _veiled(x: Tensor, t: Tensor, batch: Batch) -> Tensor:
    noise = torch.randn(x.shape, generator=batch.random, device=x.device)
    return torch.lerp(x, noise, t[:, None, None, None])


def recipes(count: int, rng: np.random.Generator) -> tuple[Tensor, int]:
    """Guidance of each row, (count,) float32, and the number of steps of all of them."""
    guidance = draw_guidance(count, rng)
    return guidance, int(rng.choice(list(SHARES), p=list(SHARES.values())))


def train_aligned(
    cache: LatentCache,
    captions: Captions,
    student_path: Path,
    reader_paths: Sequence[Path],
    settings: Settings,
    rate: float = 6e-5,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Align ``student_path`` (or resume) into ``settings.out`` by the mean of what one or more
    readers see; returns the paths drawn.

    ``export.safetensors`` with the averaged weights is rewritten with every checkpoint.
    """
    if len({path.resolve() for path in reader_paths}) < len(reader_paths):
        raise TtiError("one --reader is given twice; a second one sees more with another --seed")
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    student, about = load_student(student_path, cache)
    student = student.to(device).train()
    average = Average(student)
    hard = int(HARD * settings.batch)
    drawn = settings.batch + (CANDIDATES - 1) * hard
    batches = Batches(cache, captions, drawn, device, settings.world)
    speed = speed_for(device)
    if speed.captions:
        batches.prepare_captions(speed.captions, settings.seed, speed.processes)
    readers = [load_reader(path, cache.space).to(device) for path in reader_paths]
    task = AlignmentTask(student, batches, readers, hard)

    def export() -> dict[str, float]:
        paths = about.get("paths", 0) + trainer.counters.samples  # one may follow another
        counted = {**about, "paths": paths, "pictures": len(cache)}
        save_diffusion(settings.out / EXPORT, average.values, student.config, cache, counted)
        return {}

    optimiser = torch.optim.AdamW(
        student.parameters(), betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    trainer = Trainer(
        student,
        [optimiser],
        Schedule(rate, warmup=10, decay=0.5),
        task.loss,
        settings,
        average=average,
        check=export,
    )
    known = {
        **cache.space.known,
        "student": file_checksum(student_path),
        "readers": [file_checksum(path) for path in reader_paths],
    }
    trainer.resume(known, "aligned from another model, with other readers or on other latents")
    task.fill_crowd(trainer.counters)
    trainer.run()
    return {"paths": trainer.counters.samples}
