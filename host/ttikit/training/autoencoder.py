"""Training of the autoencoder: pictures to 16×16×4 latents and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ttikit.data.domain_file import licence_of, origin_of
from ttikit.errors import TtiError
from ttikit.training.checkpoint import load_tensors, load_weights, save_tensors
from ttikit.training.loop import Counters, Settings, Trainer, generator
from ttikit.training.models import Autoencoder
from ttikit.training.optim import Schedule, build_optimisers

EXPORT = "export.safetensors"
KIND = "autoencoder"
CROP = 32  # side of the crops that the first part of the run trains on
WHOLE_FROM = 0.75  # share of the run after which whole pictures replace the crops
GRADIENT_WEIGHT = 0.5
KL_WEIGHT = 2e-3

Pictures = NDArray[np.uint8]  # (N, 64, 64, 3)


def to_scale(pictures: Tensor) -> Tensor:
    """uint8 (B, H, W, 3) → float32 (B, 3, H, W) on the scale pixel / 127.5 − 1."""
    return pictures.permute(0, 3, 1, 2).float() / 127.5 - 1.0


def to_pixels(scaled: Tensor) -> Tensor:
    """float (B, 3, H, W) → uint8 (B, H, W, 3), rounded and clamped."""
    return ((scaled + 1.0) * 127.5).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1)


def reconstruction_loss(output: Tensor, target: Tensor) -> Tensor:
    """Mean absolute error of the pixels and of their differences to the right and downwards.

    The differences reward sharp edges, which the plain error trades for blur.
    """
    error = output - target
    loss = error.abs().mean()
    across = error.diff(dim=3).abs().mean()
    down = error.diff(dim=2).abs().mean()
    return loss + GRADIENT_WEIGHT * (across + down)


def divergence(mean: Tensor, logvar: Tensor) -> Tensor:
    """KL divergence from the standard normal distribution, mean over the elements, in nats."""
    return 0.5 * (mean.square() + logvar.exp() - 1.0 - logvar).mean()


def crops(pictures: Pictures, rng: np.random.Generator, batch: int, side: int) -> Pictures:
    """``batch`` random squares (side×side) of random pictures, half of them mirrored."""
    height, width = pictures.shape[1:3]
    which = rng.integers(len(pictures), size=batch)
    top = rng.integers(height - side + 1, size=batch)
    left = rng.integers(width - side + 1, size=batch)
    mirrored = rng.random(batch) < 0.5
    out = np.empty((batch, side, side, 3), np.uint8)
    for i in range(batch):
        cut = pictures[which[i], top[i] : top[i] + side, left[i] : left[i] + side]
        out[i] = cut[:, ::-1] if mirrored[i] else cut
    return out


@torch.no_grad()
def psnr(model: Autoencoder, pictures: Pictures, device: torch.device) -> float:
    """Mean over whole pictures of the peak signal-to-noise ratio, dB, after rounding to bytes."""
    values = []
    for part in batches(pictures, 64):
        target = torch.from_numpy(part).to(device)
        output = to_pixels(model.decoder(model.encoder(to_scale(target))[0]))
        error = (output.float() - target.float()).square().mean(dim=(1, 2, 3))
        values.append(10 * torch.log10(255.0**2 / error.clamp(min=1e-6)))
    return torch.cat(values).mean().item()


def batches(pictures: Pictures, size: int) -> Iterator[Pictures]:
    """Consecutive parts of at most ``size`` pictures, as arrays that own their memory."""
    for start in range(0, len(pictures), size):
        yield np.array(pictures[start : start + size])


def train_autoencoder(
    pictures: Pictures,
    held_out: Pictures,
    settings: Settings,
    rate: float = 5e-3,
    device: torch.device | None = None,
    data: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """Train (or resume) into ``settings.out``; returns held-out PSNR and what it was measured on.

    ``export.safetensors`` with the weights is rewritten at the end and at each interruption. It
    keeps ``data``, which is `FaceDataset.data`.
    """
    if len(pictures) == 0:
        raise TtiError("the data set has no training pictures yet; render some first")
    device = device or torch.device("cpu")
    torch.manual_seed(settings.seed)
    model = Autoencoder().to(device, memory_format=torch.channels_last)
    few = held_out[:64]

    def loss(counters: Counters) -> dict[str, Tensor]:
        rng = np.random.default_rng((settings.seed, counters.step))
        if counters.progress < WHOLE_FROM:
            part = crops(pictures, rng, settings.batch, CROP)
        else:  # as many pixels as before
            area = pictures.shape[1] * pictures.shape[2] // CROP**2
            part = crops(pictures, rng, max(1, settings.batch // area), pictures.shape[1])
        return _loss(model, to_scale(torch.from_numpy(part).to(device)), counters)

    def check() -> dict[str, float]:
        return {"held_out_psnr": round(psnr(model, few, device), 3)} if len(few) else {}

    optimisers = build_optimisers(model, PLAIN, weight_decay=0.0)
    schedule = Schedule(rate, shape="cosine", warmup=100)
    trainer = Trainer(model, optimisers, schedule, loss, settings, check=check)
    data = data or {}
    known = {"pictures": origin_of(data)["pictures"], "licence": licence_of(data)}
    trainer.resume(known, "trained on pictures of another source or licence")
    try:
        trainer.run()
    finally:
        counted = {"samples": trainer.counters.samples, "data": dict(data)}
        save_autoencoder(settings.out / EXPORT, model, counted)
    if len(held_out) == 0:
        return {}
    return {
        "held_out_psnr": round(psnr(model, held_out[:1000], device), 3),
        "pictures": len(held_out[:1000]),
    }


# First and last layers: AdamW suits them better than an orthogonal update.
PLAIN = ("encoder.down1", "encoder.conv_out", "decoder.conv_in", "decoder.conv_out")


def _loss(model: Autoencoder, target: Tensor, counters: Counters) -> dict[str, Tensor]:
    target = target.contiguous(memory_format=torch.channels_last)
    with torch.autocast(target.device.type, torch.bfloat16, enabled=target.is_cuda):
        mean, logvar = model.encoder(target)
        noise = torch.randn(
            mean.shape, generator=generator(counters, target.device), device=target.device
        )
        output = model.decoder(mean + noise * (0.5 * logvar).exp())
    reconstruction = reconstruction_loss(output.float(), target)
    kl = divergence(mean.float(), logvar.float())
    return {
        "loss": reconstruction + KL_WEIGHT * kl,
        "reconstruction": reconstruction.detach(),
        "kl": kl.detach(),
    }


def save_autoencoder(path: Path, model: Autoencoder, about: Mapping[str, Any]) -> None:
    """Write the weights for `load_autoencoder` and for the export to a model file."""
    save_tensors(path, model.state_dict(), {"kind": KIND, **about})


def load_autoencoder(path: Path) -> Autoencoder:
    """Read an autoencoder's ``export.safetensors``; raises `TtiError` if it is none."""
    tensors, metadata = load_tensors(path)
    if metadata.get("kind") != KIND:
        raise TtiError(f"{path} holds no autoencoder; give the export.safetensors of one")
    model = Autoencoder()
    load_weights(path, model, tensors)
    return model.eval()
