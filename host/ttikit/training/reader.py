"""A reader of noisy latents and of captions: what a face shows, and what a caption asks for.

It tells how well a half-drawn face agrees with its caption. The gradient of that agreement steers
the drawing of `pairs` towards what the caption names (classifier guidance, Dhariwal & Nichol
2021), because a reader learns a smile from far fewer pictures than a painter does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ttikit.data.attributes import UNKNOWN
from ttikit.errors import TtiError
from ttikit.training.batches import Batches, Captions
from ttikit.training.checkpoint import load_tensors, load_weights, save_tensors
from ttikit.training.latents import ELSEWHERE, SCALE, LatentCache, LatentSpace
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import ModelConfig, TextEncoder, time_features
from ttikit.training.optim import Average, Schedule, build_optimisers

EXPORT = "export.safetensors"
TIME = 64  # width of the time features
# What a caption moves less than the first is left to chance, more than the second it may demand:
NAMED = (0.8, 1.6)  # log odds
SURE = (0.35, 0.55)  # share of the faces with this caption that are as it moves them
UNSURE = 0.05
CAPTIONS = 8  # of each face: to learn what "без бороды" rules out takes many, and they cost little
GROUPS = 8
PLAIN = ("stem", "time", "hidden", "shown", "text.embed", "text.proj", "asked")


class _Residual(nn.Module):
    """h + conv2(act(conv1(act(norm(h)·scale + shift)))), scale and shift from the time."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(GROUPS, channels)
        self.time = nn.Linear(TIME, 2 * channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, h: Tensor, time: Tensor) -> Tensor:
        scale, shift = self.time(time)[:, :, None, None].chunk(2, dim=1)
        inner = F.silu(self.norm(h) * (1 + scale) + shift)
        return h + self.conv2(F.silu(self.conv1(inner)))


class Reader(nn.Module):
    """Attributes of noisy latents (`see`) and of captions (`read`).

    Args:
        attributes: number of attributes A.
        config: sizes of the text encoder and of the latents.
    """

    def __init__(self, attributes: int, config: ModelConfig | None = None) -> None:
        super().__init__()
        config = config or ModelConfig()
        self.stem = nn.Conv2d(config.channels, 64, 3, padding=1)
        self.down1 = nn.Conv2d(64, 96, 4, stride=2, padding=1)
        self.middle = nn.ModuleList(_Residual(96) for _ in range(2))
        self.down2 = nn.Conv2d(96, 128, 4, stride=2, padding=1)
        self.last = _Residual(128)
        self.hidden = nn.Linear(128 * (config.size // 4) ** 2, 192)
        self.shown = nn.Linear(192, attributes)
        self.text = TextEncoder(config)
        self.asked = nn.Linear(config.dim, attributes)
        self.register_buffer("share", torch.full((attributes,), 0.5))

    def see(self, x: Tensor, t: Tensor) -> Tensor:
        """Logits (B, A) of what x (B, size, size, channels), noisy by t (B,), is going to show."""
        hidden, _, _ = self._look(x, t)
        return self.shown(F.silu(hidden))

    def describe(self, x: Tensor, t: Tensor) -> Tensor:
        """Features (B, 640) of x: what it shows, then mean and root mean square of every channel
        of two layers, which tell of edges and textures."""
        hidden, *layers = self._look(x, t)
        means = (h.mean((2, 3)) for h in layers)
        sizes = ((h.square().mean((2, 3)) + 1e-6).sqrt() for h in layers)
        return torch.cat((hidden, *means, *sizes), 1)

    def _look(self, x: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        time = time_features(t, TIME)
        middle = self.down1(F.silu(self.stem(x.permute(0, 3, 1, 2))))
        for block in self.middle:
            middle = block(middle, time)
        last = self.last(self.down2(F.silu(middle)), time)
        return self.hidden(F.silu(last).flatten(1)), middle, last

    def read(self, tokens: Tensor) -> Tensor:
        """Logits (B, A) of what faces with this caption (B, T) show."""
        return self.asked(F.silu(self.text(tokens)))

    def agreement(self, x: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
        """How much more of the caption x shows than any face would, (B,): Σ n·log(r·q/p +
        (1 − r)·(1 − q)/(1 − p)).

        With p the share of faces that have an attribute, q that among faces with this caption and
        r that among faces that may become of x, the sum of the logarithms is log p(caption | x) −
        log p(caption) by Bayes' rule, each attribute counted on its own. n is 1 for an attribute
        that the caption decides and 0 for one that it only makes likelier (`_demands`).
        """
        seen, p = self.see(x, t), self.share
        q, named = self._demands(tokens)
        there = F.logsigmoid(seen) + (q / p).log()
        absent = F.logsigmoid(-seen) + ((1 - q) / (1 - p)).log()
        return (named * torch.logaddexp(there, absent)).sum(1)

    def shortfall(self, x: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
        """How far `agreement` stays below what a face that shows all of the caption has, (B,),
        at least 0. Unlike agreement it does not grow with what the caption asks for."""
        q, named = self._demands(tokens)
        most = torch.maximum(q / self.share, (1 - q) / (1 - self.share)).log()
        return (named * most).sum(1) - self.agreement(x, t, tokens)

    def _demands(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Shares q of faces with this caption that have an attribute, and how surely the caption
        decides it, 0 to 1, by how far it moves the log odds and how far it gets; each (B, A).

        "женщина" makes make-up twice as likely and a beard impossible. Pushed towards both alike,
        every woman would wear make-up. "с усами" (a moustache) makes a goatee five times as
        likely, and still two of three have none. A q below `UNSURE` becomes 0 and one above
        1 − `UNSURE` 1: it is only the network that is not sure, and a face that shows the contrary
        altogether would hardly feel a pull, as log(r·q + …) is flat there.
        """
        q = self.read(tokens).sigmoid()
        moved = (q.logit(1e-6) - self.share.logit(1e-6)).abs()
        agreed = torch.where(q > self.share, q, 1 - q)
        named = _rise(moved, *NAMED) * _rise(agreed, *SURE)
        return ((q - UNSURE) / (1 - 2 * UNSURE)).clamp(1e-6, 1 - 1e-6), named

    def pull(self, x: Tensor, t: Tensor, tokens: Tensor) -> Tensor:
        """Gradient of `agreement` with respect to x, shaped like x."""
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            total = self.agreement(x, t, tokens).sum()
            return torch.autograd.grad(total, x)[0]


def _rise(values: Tensor, low: float, high: float) -> Tensor:
    """0 up to ``low``, 1 from ``high`` on, evenly between."""
    return ((values - low) / (high - low)).clamp(0, 1)


def velocity_of(pull: Tensor, t: Tensor) -> Tensor:
    """Change of the velocity that a change ``pull`` of the score means, for t (B,) below 1.

    From v = (−t·score − x)/(1 − t), which follows from x = (1 − t)·x0 + t·noise and
    score = −E[noise]/t.
    """
    factor = t / (1 - t)
    return -factor[:, None, None, None] * pull


class ReaderTask:
    """Binary cross-entropy of both halves of a `Reader` against the labels.

    An unknown label counts as the share of all faces: then it adds nothing to the agreement.
    """

    def __init__(self, reader: Reader, batches: Batches) -> None:
        self.reader, self.batches = reader, batches

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Loss of one batch: times spread evenly over (0, 1)."""
        drawn = self.batches.draw(counters, 0.0, CAPTIONS)
        size, device = self.batches.size, drawn.x0.device
        places = torch.arange(size, device=device)
        t = (places + torch.rand(size, generator=drawn.random, device=device)) / size
        t = self.batches.mine(t)
        mix = t[:, None, None, None]
        x = (1 - mix) * drawn.x0 + mix * drawn.noise
        labels = drawn.labels
        wanted = torch.where(labels == UNKNOWN, self.reader.share, labels.float())
        see = F.binary_cross_entropy_with_logits(self.reader.see(x, t), wanted)
        told = wanted.repeat_interleave(CAPTIONS, 0)
        read = F.binary_cross_entropy_with_logits(self.reader.read(drawn.tokens), told)
        return {"loss": see + read, "see": see.detach(), "read": read.detach()}


def train_reader(
    cache: LatentCache,
    captions: Captions,
    settings: Settings,
    rate: float = 2e-3,
    device: torch.device | None = None,
    config: ModelConfig | None = None,
) -> dict[str, float]:
    """Train (or resume) into ``settings.out``; returns the mean balanced accuracies on held-out
    latents without noise, with half and with mostly noise (t = 0.02, 0.5, 0.8)."""
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    config = config or cache.config
    reader = Reader(len(cache.attributes), config).to(device)
    known = (cache.labels != UNKNOWN).sum(0)
    share = ((cache.labels == 1).sum(0) / known).clamp(1e-3, 1 - 1e-3)
    reader.share.copy_(torch.where(known > 0, share, 0.5))
    average = Average(reader)
    task = ReaderTask(reader, Batches(cache, captions, settings.batch, device, settings.world))

    def export() -> dict[str, float]:
        metadata = {
            "kind": "reader",
            "attributes": cache.attributes,
            "config": config.to_dict(),
            "autoencoder": cache.autoencoder,
            "data": dict(cache.data),
        }
        save_tensors(settings.out / EXPORT, average.values | cache.space.tensors, metadata)
        return {}

    trainer = Trainer(
        reader,
        build_optimisers(reader, PLAIN, share=0.5),
        Schedule(rate, shape="cosine", warmup=100),
        task.loss,
        settings,
        average=average,
        check=export,
    )
    known = {**cache.space.known, "attributes": list(cache.attributes)}
    trainer.resume(known, f"{ELSEWHERE} or labels")
    trainer.run()
    reader.load_state_dict(average.values)
    return held_out_accuracy(reader.cpu().eval(), cache) if len(cache.held_out) else {}


@torch.no_grad()
def held_out_accuracy(reader: Reader, cache: LatentCache) -> dict[str, float]:
    """Balanced accuracy of `see` at three levels of noise, mean over the attributes that some of
    the pictures are known to have and others not. ``reader`` must be on the CPU."""
    x0 = (cache.held_out.float() - cache.mean) / cache.std
    labels = cache.held_out_labels.numpy()
    noise = torch.randn(x0.shape, generator=torch.Generator().manual_seed(1))
    found = {}
    for level in (0.02, 0.5, 0.8):
        t = torch.full((len(x0),), level)
        chance = reader.see((1 - level) * x0 + level * noise, t).sigmoid()
        right = (chance > reader.share).numpy() == (labels == 1)
        rates = [
            np.mean([right[labels[:, i] == side, i].mean() for side in (0, 1)])
            for i in range(labels.shape[1])
            if {0, 1} <= set(labels[:, i])
        ]
        found[f"accuracy_at_{level}"] = round(float(np.mean(rates)), 4)
    return found


def load_reader(path: Path, space: LatentSpace) -> Reader:
    """Read the ``export.safetensors`` of `train_reader`; ``space`` is that of the latents which it
    will see."""
    tensors, metadata = load_tensors(path)
    if metadata.get("kind") != "reader":
        raise TtiError(f"{path} holds no reader; give the export.safetensors of one")
    LatentSpace.of(path, tensors, metadata).check(path, space)
    reader = Reader(len(metadata["attributes"]), ModelConfig(**metadata["config"]))
    load_weights(path, reader, {name: tensors[name] for name in tensors if name not in SCALE})
    return reader.eval().requires_grad_(False)
