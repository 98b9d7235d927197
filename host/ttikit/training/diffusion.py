"""Training of text encoder and diffusion transformer together, by rectified flow.

x_t = (1 − t)·x0 + t·noise, target velocity noise − x0 (Liu et al. 2023), t logit-normal (Esser et
al. 2024). One prompt in nine is hidden behind the learned ``null`` vector, for guidance.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ttikit.data.domain import Domain
from ttikit.data.domain_file import domain_of
from ttikit.errors import TtiError
from ttikit.training.balance import MOST
from ttikit.training.batches import Batches, Captions
from ttikit.training.checkpoint import load_tensors, load_weights, save_tensors
from ttikit.training.latents import ELSEWHERE, SCALE, LatentCache, LatentSpace
from ttikit.training.loop import Counters, Settings, Trainer
from ttikit.training.models import ModelConfig, TextToLatent
from ttikit.training.optim import Average, Schedule, build_optimisers
from ttikit.training.speed import Forward, Speed, autocast, compiled, speed_for

EXPORT = "export.safetensors"
KIND = "diffusion"
DROP = 0.11  # share of prompts that are hidden
DECAY = 0.75  # share of the run over which the rate falls to zero: long and straight does best
CHECKED = 128  # held-out pictures behind the held-out loss
# Embeddings, first and last layers and the modulation: AdamW; matrices of the blocks: Muon.
PLAIN = ("text.embed", "text.proj", "dit.patch", "dit.time", "dit.adaln", "dit.final")


def logit_normal(count: int, random: torch.Generator) -> Tensor:
    """Times (count,) in (0, 1), sigmoid of a standard normal, spread evenly over its quantiles.

    Even spreading within a batch lowers the noise of the loss (Kingma et al. 2021).
    """
    u = torch.rand(count, generator=random, device=random.device)
    places = torch.arange(count, device=random.device)
    quantile = ((places + u) / count).clamp(1e-6, 1 - 1e-6)
    return torch.sigmoid(torch.special.ndtri(quantile))


def flow_loss(
    model: Forward, x0: Tensor, tokens: Tensor, dropped: Tensor, t: Tensor, noise: Tensor
) -> Tensor:
    """Mean squared error of the velocity; x0, noise (B, 16, 16, 4), t (B,), tokens (B, length)."""
    mix = t[:, None, None, None]
    with autocast(x0.device):
        velocity = model((1 - mix) * x0 + mix * noise, t, tokens, dropped)
    return (velocity.float() - (noise - x0)).square().mean()


class DiffusionTask:
    """Loss of the rectified flow on batches and on held-out pictures."""

    def __init__(self, model: TextToLatent, batches: Batches) -> None:
        self.model, self.batches = model, batches
        self.forward: Forward = model
        self._held_out = self._prepare_held_out() if len(batches.cache.held_out) else None

    def speed_up(self, speed: Speed, counters: Counters) -> None:
        """Do what ``speed`` asks for; the step of ``counters`` is a trial run."""
        if speed.captions:
            self.batches.prepare_captions(speed.captions, counters.seed, speed.processes)
        self.forward = compiled(
            self.model,
            speed.backend,
            lambda fast: self._loss(fast, counters),
            tells=self.batches.world.leads,
        )

    def loss(self, counters: Counters) -> dict[str, Tensor]:
        """Loss of one batch."""
        return {"loss": self._loss(self.forward, counters)}

    def _loss(self, forward: Forward, counters: Counters) -> Tensor:
        drawn = self.batches.draw(counters, DROP)
        t = self.batches.mine(logit_normal(self.batches.size, drawn.random))
        return flow_loss(forward, drawn.x0, drawn.tokens, drawn.dropped, t, drawn.noise)

    def _prepare_held_out(self) -> tuple[Tensor, ...]:
        cache, device = self.batches.cache, self.batches.device
        random = torch.Generator(device).manual_seed(1)
        x0 = (cache.held_out[:CHECKED].float() - cache.mean) / cache.std
        labels = cache.held_out_labels[:CHECKED].cpu().numpy()
        tokens = self.batches.tokens(labels, np.random.default_rng(1))
        dropped = torch.zeros(len(x0), dtype=torch.bool, device=device)
        noise = torch.randn(x0.shape, generator=random, device=device)
        return x0, tokens, dropped, logit_normal(len(x0), random), noise

    @torch.no_grad()
    def held_out_loss(self, weights: dict[str, Tensor]) -> dict[str, float]:
        """Loss of ``weights`` on held-out pictures, always with the same times and noise."""
        if self._held_out is None:
            return {}
        own = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.model.load_state_dict(weights)
        loss = flow_loss(self.model, *self._held_out).item()
        self.model.load_state_dict(own)
        return {"held_out_loss": round(loss, 5)}


def train_diffusion(
    cache: LatentCache,
    captions: Captions,
    settings: Settings,
    rate: float = 3e-3,
    device: torch.device | None = None,
    config: ModelConfig | None = None,
    balance: float | None = None,
    speed: Speed | None = None,
) -> dict[str, float]:
    """Train (or resume) into ``settings.out``; returns the held-out loss of the averaged weights.

    ``balance`` is how many times as often the rarest pictures are drawn; by default what the run
    began with, `balance.MOST` for a new one, 1 for one that knows nothing of it. ``speed`` is
    what suits the device by default. With several processes (``settings.world``) all of them call
    this; the first one writes.

    ``export.safetensors`` with the averaged weights is rewritten with every checkpoint.
    """
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    model = TextToLatent(config or cache.config).to(device)
    average = Average(model)
    batches = Batches(cache, captions, settings.batch, device, settings.world)
    task = DiffusionTask(model, batches)

    def export() -> None:
        counted = {"samples": trainer.counters.samples, "pictures": len(cache)}
        save_diffusion(settings.out / EXPORT, average.values, model.config, cache, counted)

    def check() -> dict[str, float]:
        export()
        return task.held_out_loss(average.values)

    optimisers = build_optimisers(model, PLAIN, share=0.5)
    trainer = Trainer(
        model,
        optimisers,
        Schedule(rate, decay=DECAY),
        task.loss,
        settings,
        average=average,
        check=check,
    )
    resumed = trainer.resume(cache.space.known, ELSEWHERE)
    begun = trainer.counters.extra.get("balance", 1.0) if resumed else MOST
    trainer.counters.extra["balance"] = begun if balance is None else balance
    batches.balance(trainer.counters.extra["balance"])
    task.speed_up(speed or speed_for(device, settings.world.size), trainer.counters)
    trainer.run()
    return task.held_out_loss(average.values)


def save_diffusion(
    path: Path,
    weights: dict[str, Tensor],
    config: ModelConfig,
    cache: LatentCache,
    counted: dict[str, Any],
) -> None:
    """Write weights plus ``latent.mean`` and ``latent.std`` (4,) for sampling and export."""
    tensors = {**weights, **cache.space.tensors}
    metadata = {
        **counted,
        "kind": KIND,
        "config": config.to_dict(),
        "autoencoder": cache.autoencoder,
        "data": dict(cache.data),
    }
    save_tensors(path, tensors, metadata)


def load_diffusion(path: Path) -> tuple[TextToLatent, LatentSpace, dict[str, Any]]:
    """Read a run's ``export.safetensors``: model, space of the latents, metadata."""
    tensors, metadata = load_tensors(path)
    if metadata.get("kind") != KIND or "config" not in metadata:
        raise TtiError(f"{path} holds no diffusion model; give the export.safetensors of one")
    space = LatentSpace.of(path, tensors, metadata)
    try:
        model = TextToLatent(ModelConfig(**metadata["config"]))
    except (RuntimeError, TypeError, ValueError) as error:
        raise TtiError(f"{path} does not fit the sizes that it names: {error}") from None
    load_weights(path, model, {name: tensors[name] for name in tensors if name not in SCALE})
    return model.eval(), space, metadata


def latent_space(path: Path) -> LatentSpace:
    """Where the latents lie that the model of ``export.safetensors`` draws."""
    return load_diffusion(path)[1]


def trained_domain(path: Path) -> Domain:
    """What the model of ``export.safetensors`` draws, with its words."""
    return domain_of(latent_space(path).data)
