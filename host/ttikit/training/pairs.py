"""Pairs: start noise and the latent that a strictly guided teacher draws from it.

They are what the student learns from (`reflow`). Drawing them may be slow, because it happens
once: classifier-free guidance with two passes a step, a push by a `Reader` towards what the
caption names, and many steps. Guidance and push begin late, at t ≤ `UNTIL`: early ones make all
faces alike (Kynkäänniemi et al. 2024, "Applying guidance in a limited interval").
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

from ttikit.data.domain_file import origin_of
from ttikit.errors import TtiError
from ttikit.training.balance import MOST
from ttikit.training.batches import Batches, Captions
from ttikit.training.checkpoint import (
    file_checksum,
    load_tensors,
    read_metadata,
    save_tensors,
)
from ttikit.training.diffusion import EXPORT, load_diffusion
from ttikit.training.latents import LatentCache
from ttikit.training.loop import Counters
from ttikit.training.models import TextToLatent
from ttikit.training.reader import Reader, load_reader, velocity_of
from ttikit.training.recipes import DEFAULT_GUIDANCE, draw_guidance
from ttikit.training.speed import autocast

STEPS = 12
UNTIL = 0.8
PUSH = 2.5  # times what Bayes' rule says at guidance 3
HIDDEN = 0.04  # share of hidden prompts, as of a board's empty one
SEEN_AT = (0.02, 0.1)  # noise levels at which the reader judges the end
OBEYING = 1.8  # guidance from which on a pair is expected to agree with its caption


def strength(guidance: Tensor) -> Tensor:
    """How hard guidance and push work, (B,): 0 at guidance 1, 1 at 3, 1.5 at 5."""
    return torch.where(guidance <= 3, (guidance - 1) / 2, 1 + (guidance - 3) / 4)


class Painter:
    """Draws the ends of paths.

    Args:
        teacher: a model that is not distilled.
        reader: pushes, and judges the ends; without one there is neither.
    """

    def __init__(self, teacher: TextToLatent, reader: Reader | None) -> None:
        self.teacher, self.reader = teacher, reader

    @torch.no_grad()
    def end(self, noise: Tensor, tokens: Tensor, hidden: Tensor, guidance: Tensor) -> Tensor:
        """Latents like ``noise``; rows that are ``hidden`` (B,) are drawn without their prompt.

        The velocity is vu + (1 + 2w)·(vc − vu) + PUSH·w·push with w = `strength`.
        """
        w = (strength(guidance) * ~hidden)[:, None, None, None]
        x = noise
        for i in range(STEPS):
            t = x.new_full((len(x),), 1 - i / STEPS)
            late = 1 - i / STEPS <= UNTIL
            with autocast(x.device):
                text = self.teacher.prompt(tokens, hidden)
                if late:
                    velocity = self._guided(x, t, text, w)
                else:
                    velocity = self.teacher.dit(x, t, text).float()
            if late and self.reader is not None:  # in bfloat16 a sure reader would not pull
                velocity += PUSH * w * velocity_of(self.reader.pull(x, t, tokens), t)
            x = x - velocity / STEPS
        return x

    def _guided(self, x: Tensor, t: Tensor, text: Tensor, w: Tensor) -> Tensor:
        null = self.teacher.null.expand_as(text)
        both = self.teacher.dit(torch.cat((x, x)), torch.cat((t, t)), torch.cat((text, null)))
        conditional, unconditional = both.float().chunk(2)
        return unconditional + (1 + 2 * w) * (conditional - unconditional)

    @torch.no_grad()
    def shortfall(self, end: Tensor, tokens: Tensor) -> Tensor:
        """How much of what its caption asks for each end lacks, (B,); 0 without a reader."""
        if self.reader is None:
            return end.new_zeros(len(end))
        levels = [end.new_full((len(end),), level) for level in SEEN_AT]
        return torch.stack([self.reader.shortfall(end, t, tokens) for t in levels]).mean(0)


@dataclass(frozen=True)
class Source:
    """What pairs were drawn with; pairs of two sources must not be mixed."""

    autoencoder: str
    pictures: str
    domain: str
    teacher: int
    reader: int | None
    seed: int

    @classmethod
    def of(cls, cache: LatentCache, teacher: Path, reader: Path | None, seed: int) -> Source:
        """The source that these files are."""
        read = file_checksum(reader) if reader else None
        return cls(
            cache.autoencoder, **origin_of(cache.data),
            teacher=file_checksum(teacher), reader=read, seed=seed,
        )  # fmt: skip


def drawn(folder: Path) -> dict[Path, tuple[Source, int]]:
    """Source and number of pairs of every file in ``folder``; `TtiError` for another kind."""
    if folder.exists() and not folder.is_dir():
        raise TtiError(f"{folder} is a file; name a folder for the pairs")
    if (folder / EXPORT).exists():
        raise TtiError(f"{folder} holds a training run; name another folder for the pairs")
    found = {}
    for path in sorted(folder.glob("[0-9]" * 5 + ".safetensors")):
        with _damage(path):
            metadata = read_metadata(path)
        if metadata.get("kind") != "pairs":
            raise TtiError(f"{path} holds no pairs; give the folder of `ttikit train pairs`")
        try:
            source = Source(**{field.name: metadata[field.name] for field in fields(Source)})
        except KeyError as error:
            raise TtiError(f"{path} does not say {error}: it is too old, draw new pairs") from None
        found[path] = source, metadata["count"]
    return found


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except TtiError as error:
        raise TtiError(
            f"{error}; if it is damaged, delete it, then `ttikit train pairs` draws it anew"
        ) from None


def chunk_for(device: torch.device) -> int:
    """Pairs that are drawn at once and written as one file."""
    return 1024 if device.type == "cuda" else 64


def draw_pairs(
    cache: LatentCache,
    captions: Captions,
    teacher_path: Path,
    folder: Path,
    count: int,
    reader_path: Path | None = None,
    chunk: int | None = None,
    seed: int = 0,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Draw pairs into ``folder`` until there are ``count``; returns how many there are, and with
    a reader the mean shortfall of the new ones at the default guidance.

    A file has ``chunk`` pairs, a function of (seed, number of the file). Whatever stops this, the
    files that are written stay, and the same call goes on with the next one.
    """
    device = device or torch.device("cpu")
    chunk = chunk or chunk_for(device)
    source = Source.of(cache, teacher_path, reader_path, seed)
    there = drawn(folder)
    if any(other != source for other, _ in there.values()):
        raise TtiError(
            f"{folder} holds pairs of another teacher, reader, autoencoder, domain, source of "
            f"pictures or seed; delete it or choose another folder"
        )
    done, lacking = sum(held for _, held in there.values()), []
    if done >= count:
        return {"pairs": done}
    painter = _painter(cache, teacher_path, reader_path, device)
    batches = Batches(cache, captions, chunk, device)
    batches.balance(MOST)
    columns = TextColumn("pairs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns) as bar:
        task = bar.add_task("", total=count, completed=min(done, count))
        for number in itertools.count():
            path = folder / f"{number:05d}.safetensors"
            if done >= count:
                break
            if path in there:
                continue
            tensors = _chunk(painter, batches, Counters(seed, number))
            save_tensors(path, tensors, {"kind": "pairs", "count": chunk, **asdict(source)})
            usual = (tensors["guidance"] == DEFAULT_GUIDANCE) & (tensors["hidden"] == 0)
            lacking.append(tensors["shortfall"][usual])
            done += chunk
            bar.update(task, completed=min(done, count))
    found = torch.cat(lacking)
    if reader_path is None or not len(found):
        return {"pairs": done}
    return {"pairs": done, "shortfall": round(found.mean().item(), 3)}


def _painter(
    cache: LatentCache, teacher_path: Path, reader_path: Path | None, device: torch.device
) -> Painter:
    teacher = load_teacher(teacher_path, cache).to(device).requires_grad_(False)
    reader = load_reader(reader_path, cache.space).to(device) if reader_path else None
    return Painter(teacher, reader)


def _chunk(painter: Painter, batches: Batches, counters: Counters) -> dict[str, Tensor]:
    batch = batches.draw(counters, HIDDEN)
    guidance = draw_guidance(batches.size, batch.rng).to(batch.noise.device)
    noise = batch.noise.half().float()  # what is kept is what the end belongs to
    end = painter.end(noise, batch.tokens, batch.dropped, guidance)
    length = painter.teacher.config.length
    tensors = {
        "noise": noise.half(),
        "end": end.half(),
        "tokens": F.pad(batch.tokens, (0, length - batch.tokens.shape[1])).to(torch.uint8),
        "hidden": batch.dropped.to(torch.uint8),
        "guidance": guidance,
        "shortfall": painter.shortfall(end, batch.tokens),
    }
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise TtiError("the teacher draws latents that are no numbers; train it anew")
    return {name: tensor.cpu() for name, tensor in tensors.items()}


def load_teacher(path: Path, cache: LatentCache) -> TextToLatent:
    """The model of a diffusion run on the latents and words of ``cache``; `TtiError` for any
    other."""
    teacher, space, _ = load_diffusion(path)
    space.check(path, cache.space)
    if teacher.config.guides:
        raise TtiError(f"{path} is distilled already; give the diffusion run that it came from")
    return teacher


@dataclass(frozen=True)
class Pairs:
    """All pairs of a folder: noise and end (N, size, size, channels) float16 on one device, and
    tokens (N, length) uint8, hidden (N,) bool and guidance (N,) float32 on the CPU."""

    noise: Tensor
    end: Tensor
    tokens: Tensor
    hidden: Tensor
    guidance: Tensor
    source: Source

    def __len__(self) -> int:
        return len(self.guidance)


def load_pairs(folder: Path, device: torch.device, left_out: float = 0.0) -> Pairs:
    """Read the pairs of ``folder``, without the ``left_out`` share of those that were asked to
    obey (guidance ≥ `OBEYING`) but lack most of what their captions ask for."""
    there = drawn(folder)
    if not there:
        raise TtiError(f"{folder} holds no pairs; draw some with `ttikit train pairs`")
    if len({source for source, _ in there.values()}) > 1:
        raise TtiError(
            f"{folder} holds pairs of two teachers, readers or seeds; delete the older files"
        )
    source, _ = next(iter(there.values()))
    parts = []
    for path in there:
        with _damage(path):
            parts.append(load_tensors(path)[0])
    tensors = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    shortfall, guidance = tensors.pop("shortfall"), tensors["guidance"]
    asked = (guidance >= OBEYING) & (tensors["hidden"] == 0)
    keep = ~asked
    if asked.any():
        keep |= shortfall <= np.quantile(shortfall[asked].numpy(), 1 - left_out)
    kept = {name: tensor[keep] for name, tensor in tensors.items()}
    kept["hidden"] = kept["hidden"].bool()
    for name in ("noise", "end"):
        kept[name] = kept[name].to(device)
    return Pairs(**kept, source=source)
