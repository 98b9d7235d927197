"""`ttikit train reader`, `pairs`, `reflow`, `text`, `align`, `mix`: to a model of few passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ttikit.training.options import (
    AsJson,
    Batch,
    Device,
    Finish,
    Latents,
    Minutes,
    Out,
    Rate,
    Samples,
    Seed,
    Threads,
    finish_shared,
    report,
    settings_for,
)

Teacher = Annotated[Path, typer.Option(help="export.safetensors of a diffusion run.")]
Student = Annotated[Path, typer.Option(help="export.safetensors of a distilled model.")]


def reader(
    latents: Latents,
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
    """Train what reads attributes from half-drawn faces and captions, for those below; 40 min."""
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.reader import train_reader

    prepare_cpu(threads)
    chosen = pick_device(device)
    settings = settings_for(
        out, batch or (512 if chosen.type == "cuda" else 64), minutes, samples, 40.0,
        finish_minutes, seed,
    )  # fmt: skip
    cache = load_cache(latents)
    result = train_reader(cache, cache.captions, settings, rate, chosen)
    report(result, as_json, out)


def pairs(
    latents: Latents,
    teacher: Teacher,
    out: Annotated[Path, typer.Option("--out", help="Folder of the pairs; it is filled up.")],
    reader: Annotated[
        Path | None, typer.Option(help="export.safetensors of a reader run, for clearer faces.")
    ] = None,
    count: Annotated[int, typer.Option("--pairs", min=1, help="How many.")] = 25_600,
    device: Device = "auto",
    chunk: Annotated[
        int | None, typer.Option(min=1, help="Pairs in a file; fits the device by default.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Draw what the student learns from: noise, and what the guided teacher makes of it."""
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.pairs import draw_pairs

    prepare_cpu(threads)
    chosen = pick_device(device)
    cache = load_cache(latents)
    result = draw_pairs(cache, cache.captions, teacher, out, count, reader, chunk, seed, chosen)
    report(result, as_json, out)


def reflow(
    latents: Latents,
    teacher: Teacher,
    pairs: Annotated[Path, typer.Option(help="Folder of `ttikit train pairs`.")],
    out: Out,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 1.5e-3,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Teach a copy of a trained model to need one pass per step, and few steps; 60 minutes.

    With several GPUs: torchrun --nproc-per-node 8 -m ttikit train reflow …
    """
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.reflow import train_reflow
    from ttikit.training.world import join

    prepare_cpu(threads)
    chosen = pick_device(device, shared=True)
    cache = load_cache(latents)
    batch = batch or (512 if chosen.type == "cuda" else 32)
    settings = settings_for(out, batch, minutes, samples, 60.0, finish_minutes, seed)
    settings = replace(settings, world=join(chosen))
    result = train_reflow(cache, teacher, pairs, settings, rate, chosen)
    finish_shared(settings, result, as_json)


def text(
    latents: Latents,
    student: Student,
    out: Out,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 5e-4,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Teach a distilled model's text encoder to tell apart what captions say; 6 minutes."""
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu
    from ttikit.training.text_tuning import tune_text

    prepare_cpu(threads)
    chosen = pick_device(device)
    batch = batch or (1024 if chosen.type == "cuda" else 256)
    settings = settings_for(out, batch, minutes, samples, 6.0, finish_minutes, seed)
    cache = load_cache(latents)
    report(tune_text(cache, cache.captions, student, settings, rate, chosen), as_json, out)


def align(
    latents: Latents,
    student: Student,
    reader: Annotated[
        list[Path],
        typer.Option(help="export.safetensors of a reader run; give two, they see more."),
    ],
    out: Out,
    minutes: Minutes = None,
    samples: Samples = None,
    finish_minutes: Finish = None,
    device: Device = "auto",
    batch: Batch = None,
    rate: Rate = 6e-5,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Train a distilled model by where its paths end: what captions name is there; 30 minutes."""
    from ttikit.training.alignment import train_aligned
    from ttikit.training.latents import load_cache
    from ttikit.training.loop import pick_device, prepare_cpu

    prepare_cpu(threads)
    chosen = pick_device(device)
    batch = batch or (256 if chosen.type == "cuda" else 16)
    settings = settings_for(out, batch, minutes, samples, 30.0, finish_minutes, seed)
    cache = load_cache(latents)
    result = train_aligned(cache, cache.captions, student, reader, settings, rate, chosen)
    report(result, as_json, out)


def mix(
    shares: Annotated[
        list[str],
        typer.Argument(metavar="FILE=SHARE...", help="Models of related runs and their shares."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model to write.")],
    as_json: AsJson = False,
) -> None:
    """Add up the weights of related models; the shares add up to 1, and may be negative."""
    from ttikit.training.mixing import mix as mixed
    from ttikit.training.mixing import parse_share

    about = mixed([parse_share(share) for share in shares], out)
    seen = {name: about.get(name, 0) for name in ("samples", "paths")}
    report(seen, as_json, out)
