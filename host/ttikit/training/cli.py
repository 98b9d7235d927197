"""`ttikit train …`: from pictures to trained weights, and to the judge of pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ttikit.training import cli_decoder, cli_judge, cli_student
from ttikit.training.options import (
    AsJson,
    AutoencoderFile,
    Balance,
    Batch,
    Data,
    Device,
    Finish,
    Latents,
    Minutes,
    Out,
    Rate,
    Samples,
    ScaledRate,
    Seed,
    Threads,
    finish_shared,
    held_out_part,
    report,
    settings_for,
)

app = typer.Typer(
    help="Train the parts, in this order: autoencoder, latents, diffusion, reader, pairs, reflow, "
    "text, align.",
    no_args_is_help=True,
)


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
    settings = settings_for(
        out, batch or (256 if chosen.type == "cuda" else 32), minutes, samples, 25.0,
        finish_minutes, seed,
    )  # fmt: skip
    train, (held_out, _) = FaceDataset(data, "train"), held_out_part(data)
    result = train_autoencoder(train.images, held_out, settings, rate, chosen, train.data)
    report(result, as_json, out)


@app.command()
def latents(
    data: Data,
    autoencoder: AutoencoderFile,
    out: Annotated[Path, typer.Option("--out", help="The cache file, latents.safetensors.")],
    scale_of: Annotated[
        Path | None,
        typer.Option(help="A diffusion model to go on with: the latents get its scale."),
    ] = None,
    device: Device = "auto",
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Encode the data set once; an existing cache of the same autoencoder is extended."""
    from ttikit.data.dataset import FaceDataset
    from ttikit.training.autoencoder import load_autoencoder
    from ttikit.training.diffusion import latent_space
    from ttikit.training.latents import (
        build_cache,
        check_autoencoder,
        check_pictures,
        has_encoder,
        load_cache,
    )
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    scale = latent_space(scale_of) if scale_of else None
    if scale:
        check_autoencoder(autoencoder, scale.autoencoder)
    elif out.exists() and has_encoder(autoencoder, load_cache(out).autoencoder):
        scale = load_cache(out).space
    train, (held_out, held_out_labels) = FaceDataset(data, "train"), held_out_part(data)
    check_pictures(autoencoder, train.data)
    cache = build_cache(
        load_autoencoder(autoencoder), train.images, train.labels, held_out,
        held_out_labels, train.attributes, out, pick_device(device), train.data, scale,
    )  # fmt: skip
    result = {
        "pictures": len(cache),
        "mean": [round(v, 4) for v in cache.mean.tolist()],
        "std": [round(v, 4) for v in cache.std.tolist()],
    }
    report(result, as_json, out)


@app.command()
def diffusion(
    latents: Latents,
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
    settings = settings_for(out, batch, minutes, samples, 120.0, finish_minutes, seed)
    settings = replace(settings, world=join(chosen))
    rate = rate or scaled_rate(batch)
    result = train_diffusion(cache, cache.captions, settings, rate, chosen, balance=balance)
    finish_shared(settings, result, as_json)


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
    from ttikit.data.domain_file import domain_of
    from ttikit.training.autoencoder import load_autoencoder
    from ttikit.training.diffusion import load_diffusion
    from ttikit.training.latents import check_autoencoder
    from ttikit.training.loop import prepare_cpu
    from ttikit.training.sampling import prompt_tokens, sample, save_png, sheet

    prepare_cpu(threads)
    model, space, _ = load_diffusion(diffusion)
    check_autoencoder(autoencoder, space.autoencoder)
    vocabulary = domain_of(space.data).vocabulary
    tokens = prompt_tokens(prompt, model.config.length, vocabulary)
    numbers = range(first_seed, first_seed + seeds)
    decoder = load_autoencoder(autoencoder).decoder
    pictures = sample(model, space.mean, space.std, decoder, tokens, numbers, steps, guidance)
    save_png(out, sheet(pictures))
    print(out)


app.command()(cli_student.reader)
app.command()(cli_student.pairs)
app.command()(cli_student.reflow)
app.command()(cli_student.text)
app.command()(cli_student.align)
app.command()(cli_student.mix)
app.command()(cli_decoder.decoder)
app.command("decoder-figures")(cli_decoder.decoder_figures)
app.command()(cli_judge.classifier)
app.command()(cli_judge.trial)
