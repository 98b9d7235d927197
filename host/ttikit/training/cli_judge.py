"""`ttikit train classifier` and `trial`: the judge of `ttikit evaluate`, and a look with it."""

from __future__ import annotations

import json
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


def trial(
    diffusion: Annotated[
        Path, typer.Option(help="export.safetensors of a diffusion, reflow or align run.")
    ],
    autoencoder: AutoencoderFile,
    reader: Annotated[
        Path | None, typer.Option(help="Reader that pushes a model that is not distilled.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of a distilled model; 4 if not given.")
    ] = None,
    guidance: Annotated[float, typer.Option(min=1.0, max=5.0, help="1 is none.")] = 3.0,
    seeds: Annotated[int, typer.Option(min=1, help="Pictures of each prompt.")] = 4,
    data: Annotated[
        Path | None, typer.Option("--data", help="Renders, for the Fréchet distance.")
    ] = None,
    pictures: Annotated[
        int, typer.Option(min=2, help="Captions drawn for the Fréchet distance.")
    ] = 400,
    cache: Annotated[
        Path | None,
        typer.Option(help="What the judge saw before; ~/.cache/tti/evaluate if not given."),
    ] = None,
    judge: Annotated[
        Path, typer.Option(help="Weights of the classifier (`ttikit train classifier`).")
    ] = Path("models/evaluation/classifier.safetensors"),
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """How well a float model follows the prompts of `ttikit evaluate`; a few minutes."""
    from ttikit.evaluate.classifier import load_judge
    from ttikit.evaluate.cli import default_cache
    from ttikit.evaluate.reference import Reference
    from ttikit.evaluate.trial import FloatArtist, Way, run_trial
    from ttikit.training.loop import prepare_cpu

    prepare_cpu(threads)
    looks = load_judge(judge)
    reference = data and Reference(data, looks, cache or default_cache(), autoencoder)
    artist = FloatArtist(diffusion, autoencoder, Way(steps, guidance, reader))
    figures = run_trial(artist, looks, seeds, reference or None, pictures)
    if as_json:
        print(json.dumps(figures))
        return
    presence = figures.pop("presence")
    for label, share in sorted(presence.items(), key=lambda item: item[1]):
        if share < 1:
            print(f"{share:7.1%}  {label}")
    print(
        f"{figures['failed']:.1%} of {figures['pictures']} pictures failed "
        f"({figures['failed_but_for_age']:.1%} but for age), "
        f"{figures['present']:.1%} of all demands met"
    )
    if reference:
        print(
            f"Fréchet distance of {figures['captions']} captions {figures['frechet']:.1f}; "
            f"real latents, decoded: {figures['frechet_of_real_latents']:.1f}"
        )
