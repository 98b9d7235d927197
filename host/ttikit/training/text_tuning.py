"""The text encoder alone learns to tell apart what captions say.

Paths from noise to a face are expensive, captions are not: a thousand of them a second show the
text encoder on two cores what a rare one means, such as "с усами без бороды", a moustache and no
beard. A linear head reads all attributes from its vectors; the vectors change where it cannot, and
stay what the transformer knows everywhere else. What it makes of the new ones, it learns in the
alignment.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import torch
import torch.nn.functional as F
from rich.progress import track
from torch import Tensor, nn

from ttikit.data.attributes import UNKNOWN
from ttikit.training.batches import Batches, Captions
from ttikit.training.checkpoint import file_checksum
from ttikit.training.diffusion import EXPORT, save_diffusion
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import TextEncoder
from ttikit.training.optim import Average, Schedule
from ttikit.training.recipes import load_student

STAY = 5.0  # weight of the distance to the old vectors, in units of their variance
HEAD = 6.0  # rate of the head, times that of the text encoder
FITTED = 20_480  # captions for the first head
RIDGE = 0.01


class TextReader(nn.Module):
    """A text encoder with a linear head.

    Args:
        text: the text encoder.
        attributes: number of attributes A.
    """

    def __init__(self, text: TextEncoder, attributes: int) -> None:
        super().__init__()
        width = text.proj.out_features
        self.text, self.head = text, nn.Linear(width, attributes)
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))

    def read(self, vectors: Tensor) -> Tensor:
        """Logits (B, A) of what faces with captions of these vectors (B, dim) show."""
        return self.head((vectors - self.mean) / self.spread)

    @torch.no_grad()
    def fit(self, vectors: Tensor, shown: Tensor) -> None:
        """Begin with what least squares makes of vectors (N, dim) and attributes (N, A)."""
        self.mean.copy_(vectors.mean(0))
        self.spread.copy_(vectors.std(0) + 1e-6)
        x = (vectors - self.mean) / self.spread
        share = shown.mean(0).clamp(1e-3, 1 - 1e-3)
        covariance = x.T @ x / len(x) + RIDGE * torch.eye(x.shape[1], device=x.device)
        slope = torch.linalg.solve(covariance, x.T @ (shown - share) / len(x))
        self.head.weight.copy_((slope / (share * (1 - share))).T)  # of the logit, at the share
        self.head.bias.copy_(share.logit())


class TextTask:
    """Batches of captions and their loss; everything is a function of (seed, step).

    Args:
        model: in training.
        batches: captions, and the labels they were made from.
    """

    def __init__(self, model: TextReader, batches: Batches) -> None:
        self.model, self.batches = model, batches
        self.before = deepcopy(model.text).requires_grad_(False)

    @torch.no_grad()
    def fit_head(self, counters: Counters) -> None:
        """Fit the head to the vectors as they are."""
        vectors, labels = [], []
        for step in track(range(-(-FITTED // self.batches.size)), description="first head"):
            batch = self.batches.draw(Counters(seed=counters.seed + 1, step=step), 0.0)
            vectors.append(self.before(batch.tokens))
            labels.append(batch.labels)
        told = torch.cat(labels)
        known, shown = told != UNKNOWN, (told == 1).float()
        share = (shown * known).sum(0) / known.sum(0).clamp(min=1)
        self.model.fit(torch.cat(vectors), torch.where(known, shown, share))

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Cross-entropy, summed over the known attributes, and how far the vectors strayed."""
        batch = self.batches.draw(counters, 0.0)
        vectors = self.model.text(batch.tokens)
        with torch.no_grad():
            before = self.before(batch.tokens)
        known, shown = batch.labels != UNKNOWN, batch.labels == 1
        read = F.binary_cross_entropy_with_logits(
            self.model.read(vectors), shown.float(), known.float(), reduction="sum"
        ) / len(vectors)
        strayed = (vectors - before).square().mean() / self.model.spread.square().mean()
        loss = read + STAY * strayed
        return {"loss": loss, "read": read.detach(), "strayed": strayed.detach()}


def tune_text(
    cache: LatentCache,
    captions: Captions,
    student_path: Path,
    settings: Settings,
    rate: float = 5e-4,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Tune the text encoder of ``student_path`` (or resume) into ``settings.out``; returns the
    captions read.

    ``export.safetensors``, the student with the averaged text encoder, is rewritten with every
    checkpoint.
    """
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    student, about = load_student(student_path, cache)
    model = TextReader(student.text, len(cache.attributes)).to(device)
    average = Average(model)
    batches = Batches(cache, captions, settings.batch, device, settings.world)
    task = TextTask(model, batches)

    def export() -> dict[str, float]:
        tuned = {name: average.values[name] for name in average.values if name.startswith("text.")}
        captions_read = about.get("captions", 0) + trainer.counters.samples
        counted = {**about, "captions": captions_read}
        weights = {**student.state_dict(), **tuned}
        save_diffusion(settings.out / EXPORT, weights, student.config, cache, counted)
        return {}

    groups = [
        {"params": list(model.text.parameters())},
        {"params": list(model.head.parameters()), "share": HEAD},
    ]
    trainer = Trainer(
        model,
        [torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0, fused=True)],
        Schedule(rate, warmup=20, decay=0.5),
        task.loss,
        settings,
        average=average,
        check=export,
    )
    known = {
        **cache.space.known,
        "student": file_checksum(student_path),
        "attributes": list(cache.attributes),
    }
    if not trainer.resume(known, "tuned from another model, other labels or other latents"):
        task.fit_head(trainer.counters)
    trainer.run()
    return {"captions": trainer.counters.samples}
