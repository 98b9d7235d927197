"""Fine-tuning of the decoder as int8 computes it, with the encoder as it is.

The latent cache and every model trained on it stay valid: only the decoder's weights change. The
input is cached latents with a little noise on them, since those that the diffusion transformer
makes are not quite real either; the target is the picture itself. Channels that the first training
has lost begin again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.export.decoder import activation_scales
from ttikit.training.autoencoder import (
    EXPORT,
    Pictures,
    load_autoencoder,
    reconstruction_loss,
    save_autoencoder,
    to_scale,
)
from ttikit.training.checkpoint import file_checksum, load_tensors
from ttikit.training.int8_decoder import Int8Decoder, float_pictures, int8_pictures, psnr_of
from ttikit.training.latents import LatentCache, check_pictures, has_encoder, same_pictures
from ttikit.training.loop import Counters, Settings, Trainer, generator
from ttikit.training.models import Autoencoder
from ttikit.training.optim import Schedule, build_optimisers
from ttikit.training.revival import revive

HALF = 127.5
FEW = 64  # held-out pictures that each checkpoint is measured on
NOISE = 0.05  # of the latent's standard deviation
CALIBRATION = 32  # training latents that the static scales are found on
CALIBRATE_EVERY = 100  # steps; revived channels grow quickly at first
PLAIN = ("conv_in", "conv_out")  # as in the autoencoder's own training


def tune_decoder(
    cache: LatentCache,
    pictures: Pictures,
    held_out: Pictures,
    autoencoder: Path,
    settings: Settings,
    rate: float = 1e-3,
    percentile: float = 99.99,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Tune (or resume) into ``settings.out``; returns held-out PSNR of int8 and of float.

    ``export.safetensors`` is an autoencoder with the old encoder and the tuned decoder. It is
    rewritten with every checkpoint.

    Args:
        cache: latents of ``pictures``, made by the encoder of ``autoencoder``.
        pictures: (N, 64, 64, 3) training pictures, in the cache's order.
        held_out: pictures in the order of the cache's held-out latents; none to measure nothing.
        autoencoder: export.safetensors to start from.
        settings: the run.
        rate: highest learning rate; it falls to zero along a cosine.
        percentile: share of activations, in per cent, that the static scales do not clip.
        device: the CPU by default.
    """
    device = device or torch.device("cpu")
    whole = load_autoencoder(autoencoder)
    _check_match(cache, pictures, autoencoder, whole)
    _, about = load_tensors(autoencoder)
    decoder = whole.decoder.to(device).train()
    sample = cache.latents[:: max(1, len(cache) // CALIBRATION)][:CALIBRATION].float().numpy()

    def calibrated() -> dict[str, np.ndarray]:
        return activation_scales(decoder, sample, percentile)

    revived = revive(
        decoder, torch.from_numpy(sample).permute(0, 3, 1, 2).to(device), settings.seed
    )
    model = Int8Decoder(decoder, calibrated(), cache.mean, cache.std).to(device)

    def loss(counters: Counters) -> dict[str, Tensor]:
        if counters.step and counters.step % CALIBRATE_EVERY == 0:
            model.set_scales(calibrated())
        return _loss(model, cache, pictures, settings.batch, counters)

    def check() -> dict[str, float]:
        counted = {"samples": about["samples"], "tuned_samples": trainer.counters.samples}
        # What a copy in half precision is a copy of, this one's encoder is as well.
        kept = {name: about[name] for name in ("fingerprint",) if name in about}
        more = {**counted, **kept, "data": dict(cache.data)}
        save_autoencoder(settings.out / EXPORT, whole, more)
        return held_out_psnr(model, cache, held_out[:FEW])

    optimisers = build_optimisers(decoder, PLAIN, weight_decay=0.0)
    schedule = Schedule(rate, shape="cosine", warmup=20)
    trainer = Trainer(model, optimisers, schedule, loss, settings, check=check)
    known = {
        **cache.space.known,
        "autoencoder": file_checksum(autoencoder),
        "percentile": percentile,
    }
    trainer.resume(known, "tuned from another file, at another percentile or on other latents")
    trainer.run()
    model.set_scales(calibrated())
    return held_out_psnr(model, cache, held_out) | {"revived": sum(revived.values())}


def held_out_psnr(model: Int8Decoder, cache: LatentCache, held_out: Pictures) -> dict[str, float]:
    """PSNR in dB of int8 and of float on those held-out pictures whose latents are cached."""
    count = min(len(held_out), len(cache.held_out))
    if count == 0:
        return {}
    latents = (cache.held_out[:count].float() - cache.mean) / cache.std
    target = np.array(held_out[:count])
    return {
        "held_out_psnr": round(psnr_of(int8_pictures(model, latents), target), 3),
        "float_psnr": round(psnr_of(float_pictures(model, latents), target), 3),
        "pictures": count,
    }


def _loss(
    model: Int8Decoder, cache: LatentCache, pictures: Pictures, batch: int, counters: Counters
) -> dict[str, Tensor]:
    rng = np.random.default_rng((counters.seed, counters.step))
    which = rng.integers(len(cache), size=batch)
    mirrored = rng.random(batch) < 0.5
    target = np.stack(
        [pictures[i][:, ::-1] if m else pictures[i] for i, m in zip(which, mirrored, strict=True)]
    )
    latent = cache.standardised(torch.from_numpy(which), torch.from_numpy(mirrored))
    latent = latent.to(model.mean.device)
    noise = torch.randn(
        latent.shape, generator=generator(counters, latent.device), device=latent.device
    )
    scaled = to_scale(torch.from_numpy(target).to(latent.device))
    output = model(latent + NOISE * noise) / HALF - 1.0
    return {"loss": reconstruction_loss(output, scaled)}


def _check_match(cache: LatentCache, pictures: Pictures, path: Path, whole: Autoencoder) -> None:
    if not has_encoder(path, cache.autoencoder):
        raise TtiError(f"the latents were not made by {path}; run `ttikit train latents` with it")
    check_pictures(path, cache.data)
    if len(pictures) < len(cache):
        raise TtiError(
            f"there are {len(cache)} cached latents but {len(pictures)} pictures; "
            f"give the --data that the cache was made from"
        )
    if not same_pictures(whole, cache, pictures):
        raise TtiError("the latents are of other pictures; give the --data that they came from")
