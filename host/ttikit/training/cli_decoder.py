"""`ttikit train decoder` and `decoder-figures`: what int8 costs the decoder, and tuning it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ttikit.training.options import (
    AsJson,
    AutoencoderFile,
    Batch,
    Data,
    Device,
    Finish,
    Latents,
    Minutes,
    Out,
    Rate,
    Samples,
    Seed,
    Threads,
    held_out_part,
    report,
    settings_for,
)


def decoder(
    data: Data,
    latents: Latents,
    autoencoder: AutoencoderFile,
    out: Out,
    percentile: Annotated[
        float,
        typer.Option(min=90, max=100, help="As `ttikit export` will be given it."),
    ] = 99.99,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 1e-3,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Tune the decoder as int8 computes it; latents and encoder stay. 20 minutes by default."""
    from ttikit.data.dataset import FaceDataset
    from ttikit.training.decoder_tuning import tune_decoder
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    settings = settings_for(out, batch or 8, minutes, samples, 20.0, finish_minutes, seed)
    train, (held_out, _) = FaceDataset(data, "train"), held_out_part(data)
    result = tune_decoder(
        load_cache(latents), train.images, held_out, autoencoder, settings, rate, percentile,
        pick_device(device),
    )  # fmt: skip
    report(result, as_json, out)


def decoder_figures(
    data: Data,
    diffusion: Annotated[Path, typer.Option(help="export.safetensors of a diffusion run.")],
    autoencoder: AutoencoderFile,
    pictures: Annotated[int, typer.Option(min=1, help="Held-out pictures for the PSNR.")] = 200,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Print what int8 costs the decoder, for several percentiles of its static scales."""
    from ttikit.training.decoder_figures import measure
    from ttikit.training.loop import prepare_cpu

    prepare_cpu(threads)
    figures = measure(diffusion, autoencoder, held_out_part(data)[0][:pictures])
    print(json.dumps(figures.to_dict()) if as_json else figures.table())
