"""`ttikit train …`: from pictures to trained weights, and to the judge of pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttikit.errors import TtiError

if TYPE_CHECKING:
    from ttikit.training.autoencoder import Pictures
    from ttikit.training.latents import Labels
    from ttikit.training.loop import Settings

app = typer.Typer(
    help="Train the parts, in this order: autoencoder, latents, diffusion, reader, distil.",
    no_args_is_help=True,
)

Data = Annotated[Path, typer.Option("--data", help="Folder that `ttikit data` wrote.")]
Out = Annotated[Path, typer.Option("--out", help="Folder of the run; an old run there resumes.")]
Minutes = Annotated[float | None, typer.Option(help="Length of the whole run in minutes.")]
Samples = Annotated[int | None, typer.Option(help="Length of the whole run in samples.")]
Finish = Annotated[
    float | None,
    typer.Option("--finish-minutes", help="End that soon, the learning rate falling to zero."),
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of weights, batches, captions and noise.")]
Threads = Annotated[int, typer.Option(min=1, help="CPU threads.")]
Batch = Annotated[int | None, typer.Option(min=1, help="Batch size; fits the device by default.")]
Rate = Annotated[float, typer.Option(min=1e-6, max=1.0, help="Highest learning rate.")]
ScaledRate = Annotated[
    float | None,
    typer.Option(
        min=1e-6,
        max=1.0,
        help="Highest learning rate. [default: 0.003 at a batch of 64, growing with its root]",
    ),
]
Balance = Annotated[
    float | None,
    typer.Option(
        min=1.0,
        max=100.0,
        help="Draw pictures with a rare attribute up to so many times as often; 1 is evenly. "
        "[default: as the run began, 4 for a new one]",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AutoencoderFile = Annotated[
    Path, typer.Option("--autoencoder", help="export.safetensors of an autoencoder run.")
]


@app.command()
def autoencoder(
    data: Data,
    out: Out,
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
    """Train encoder and decoder; 25 minutes by default. Ctrl-C saves, the same command resumes."""
    from ttikit.data.dataset import FaceDataset
    from ttikit.training.autoencoder import train_autoencoder
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    chosen = pick_device(device)
    settings = _settings(
        out, batch or (256 if chosen.type == "cuda" else 32), minutes, samples, 25.0,
        finish_minutes, seed,
    )  # fmt: skip
    train, (held_out, _) = FaceDataset(data, "train"), _held_out(data)
    result = train_autoencoder(train.images, held_out, settings, rate, chosen)
    _report(result, as_json, out)


@app.command()
def latents(
    data: Data,
    autoencoder: AutoencoderFile,
    out: Annotated[Path, typer.Option("--out", help="The cache file, latents.safetensors.")],
    device: Device = "auto",
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Encode the data set once; an existing cache of the same autoencoder is extended."""
    from ttikit.data.dataset import FaceDataset
    from ttikit.training.autoencoder import load_autoencoder
    from ttikit.training.latents import build_cache
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    train, (held_out, held_out_labels) = FaceDataset(data, "train"), _held_out(data)
    cache = build_cache(
        load_autoencoder(autoencoder), train.images, train.labels, held_out,
        held_out_labels, train.attributes, out, pick_device(device), train.data,
    )  # fmt: skip
    result = {
        "pictures": len(cache),
        "mean": [round(v, 4) for v in cache.mean.tolist()],
        "std": [round(v, 4) for v in cache.std.tolist()],
    }
    _report(result, as_json, out)


@app.command()
def diffusion(
    latents: Annotated[Path, typer.Option("--latents", help="Cache from `ttikit train latents`.")],
    out: Out,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: ScaledRate = None,
    balance: Balance = None,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Train text encoder and transformer; 2 hours by default. Ctrl-C saves, the same resumes.

    With several GPUs: torchrun --nproc-per-node 8 -m ttikit train diffusion …
    """
    from ttikit.training.diffusion import train_diffusion
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.optim import scaled_rate
    from ttikit.training.world import join

    prepare_cpu(threads)
    chosen = pick_device(device, shared=True)
    cache = load_cache(latents)
    batch = batch or (2048 if chosen.type == "cuda" else 64)
    settings = _settings(out, batch, minutes, samples, 120.0, finish_minutes, seed)
    settings = replace(settings, world=join(chosen))
    rate = rate or scaled_rate(batch)
    result = train_diffusion(cache, cache.captions, settings, rate, chosen, balance=balance)
    if settings.world.leads:
        _report(result, as_json, out)
    settings.world.leave()


@app.command()
def reader(
    latents: Annotated[Path, typer.Option("--latents", help="Cache from `ttikit train latents`.")],
    out: Out,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 2e-3,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Train what reads attributes from half-drawn faces and captions, for `distil`; 12 minutes."""
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.reader import train_reader

    prepare_cpu(threads)
    chosen = pick_device(device)
    settings = _settings(
        out, batch or (512 if chosen.type == "cuda" else 64), minutes, samples, 12.0,
        finish_minutes, seed,
    )  # fmt: skip
    cache = load_cache(latents)
    result = train_reader(cache, cache.captions, settings, rate, chosen)
    _report(result, as_json, out)


@app.command()
def distil(
    latents: Annotated[Path, typer.Option("--latents", help="Cache from `ttikit train latents`.")],
    teacher: Annotated[Path, typer.Option(help="export.safetensors of a diffusion run.")],
    out: Out,
    reader: Annotated[
        Path | None, typer.Option(help="export.safetensors of a reader run, for clearer faces.")
    ] = None,
    push: Annotated[
        float, typer.Option(min=0, max=10, help="How hard the reader pushes; 1 is Bayes' rule.")
    ] = 2.5,
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
    """Teach a copy of a trained model to need one pass per step, and few steps; 1 hour."""
    from ttikit.training.distillation import train_distilled
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    chosen = pick_device(device)
    settings = _settings(
        out, batch or (512 if chosen.type == "cuda" else 64), minutes, samples, 60.0,
        finish_minutes, seed,
    )  # fmt: skip
    cache = load_cache(latents)
    result = train_distilled(cache, cache.captions, teacher, settings, rate, chosen, reader, push)
    _report(result, as_json, out)


@app.command("all")
def everything(
    data: Annotated[Path, typer.Option("--data", help="Data set; rendered if it is none yet.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of all runs and the model file.")],
    preset: Annotated[
        str | None, typer.Option(help="cpu or gpu; what suits the device by default.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Length of the diffusion run in samples.")
    ] = None,
    show_plan: Annotated[
        bool, typer.Option("--plan", help="Only print what it would do.")
    ] = False,
    device: Device = "auto",
    seed: Seed = 0,
    threads: Threads = 1,
) -> None:
    """Render, train all parts and export; the same command goes on where it was stopped."""
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.pipeline import Pipeline, choose_preset, plan

    prepare_cpu(threads)
    chosen = pick_device(device)
    lengths = choose_preset(preset, chosen, samples)
    if show_plan:
        print("\n".join(plan(lengths)))
    elif not Pipeline(data, out, lengths, chosen, seed).run():
        print("stopped; the same command goes on from here")


@app.command()
def decoder(
    data: Data,
    latents: Annotated[Path, typer.Option("--latents", help="Cache from `ttikit train latents`.")],
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
    settings = _settings(out, batch or 8, minutes, samples, 20.0, finish_minutes, seed)
    train, (held_out, _) = FaceDataset(data, "train"), _held_out(data)
    result = tune_decoder(
        load_cache(latents), train.images, held_out, autoencoder, settings, rate, percentile,
        pick_device(device),
    )  # fmt: skip
    _report(result, as_json, out)


@app.command("decoder-figures")
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
    figures = measure(diffusion, autoencoder, _held_out(data)[0][:pictures])
    print(json.dumps(figures.to_dict()) if as_json else figures.table())


@app.command()
def sample(
    prompt: Annotated[list[str], typer.Option("--prompt", help="What to draw; repeat it.")],
    diffusion: Annotated[Path, typer.Option(help="export.safetensors of a diffusion run.")],
    autoencoder: AutoencoderFile,
    out: Annotated[Path, typer.Option("-o", "--out", help="PNG: a row per prompt.")],
    seeds: Annotated[int, typer.Option(min=1, help="Pictures per prompt.")] = 8,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first column.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Euler steps.")] = 8,
    guidance: Annotated[float, typer.Option(help="1 is none.")] = 3.0,
    threads: Threads = 1,
) -> None:
    """Draw a sheet of prompts × seeds with the float model, to look at it."""
    from ttikit.training.autoencoder import load_autoencoder
    from ttikit.training.diffusion import load_diffusion, trained_domain
    from ttikit.training.loop import prepare_cpu
    from ttikit.training.sampling import prompt_tokens, sample, save_png, sheet

    prepare_cpu(threads)
    model, mean, std = load_diffusion(diffusion)
    vocabulary = trained_domain(diffusion).vocabulary
    tokens = prompt_tokens(prompt, model.config.length, vocabulary)
    numbers = range(first_seed, first_seed + seeds)
    decoder = load_autoencoder(autoencoder).decoder
    pictures = sample(model, mean, std, decoder, tokens, numbers, steps, guidance)
    save_png(out, sheet(pictures))
    print(out)


@app.command()
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
    settings = _settings(out, batch or 128, minutes, samples, 12.0, finish_minutes, seed)
    train, held_out = FaceDataset(data, "train"), FaceDataset(data, "held-out")
    train_classifier(train, held_out, autoencoder, settings, rate, pick_device(device))
    print_figures(out, as_json)


def _held_out(data: Path) -> tuple[Pictures, Labels]:
    """Held-out pictures and labels; none while the renderer has not come to them yet."""
    import numpy as np

    from ttikit.data.dataset import FaceDataset

    if not any(data.glob("held-out-images-*.npy")):
        return np.empty((0, 64, 64, 3), np.uint8), np.empty((0, 0), np.uint8)
    held_out = FaceDataset(data, "held-out")
    return held_out.images, held_out.labels


def _settings(
    out: Path,
    batch: int,
    minutes: float | None,
    samples: int | None,
    default_minutes: float,
    finish_minutes: float | None,
    seed: int,
) -> Settings:
    from ttikit.training.loop import Budget, Settings

    if minutes is None and samples is None:
        minutes = default_minutes
    return Settings(out, batch, Budget(minutes, samples, finish_minutes), seed)


def _report(result: Mapping[str, object], as_json: bool, out: Path) -> None:
    if as_json:
        print(json.dumps({"out": str(out), **result}))
    else:
        print(f"{out}: " + ", ".join(f"{name} {value}" for name, value in result.items()))
