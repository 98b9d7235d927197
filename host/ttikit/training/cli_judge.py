"""`ttikit train classifier`: the judge of `ttikit evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ttikit.errors import TtiError
from ttikit.training.options import (
    AsJson,
    AutoencoderFile,
    Batch,
    Device,
    Finish,
    Minutes,
    Rate,
    Samples,
    Seed,
    Threads,
    settings_for,
)


def classifier(
    data: Annotated[Path | None, typer.Option("--data", help="Folder with the renders.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the run; an old run there resumes.")
    ] = None,
    autoencoder: AutoencoderFile = Path("models/float16/autoencoder.safetensors"),
    report: Annotated[
        bool, typer.Option("--report", help="Only print the figures: of --out, or as shipped.")
    ] = False,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 5e-3,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Train the judge of `ttikit evaluate`; 12 minutes by default. Ctrl-C saves."""
    from ttikit.evaluate.classifier_report import print_figures

    if report:
        print_figures(out, as_json)
        return
    if data is None or out is None:
        raise TtiError("give --data and --out to train, or --report to see the figures")
    from ttikit.data.dataset import FaceDataset
    from ttikit.evaluate.classifier_training import train_classifier
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    settings = settings_for(out, batch or 128, minutes, samples, 12.0, finish_minutes, seed)
    train, held_out = FaceDataset(data, "train"), FaceDataset(data, "held-out")
    train_classifier(train, held_out, autoencoder, settings, rate, pick_device(device))
    print_figures(out, as_json)
