"""Options and habits that all commands of `ttikit train` share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ttikit.training.autoencoder import Pictures
    from ttikit.training.latents import Labels
    from ttikit.training.loop import Settings

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
Latents = Annotated[Path, typer.Option("--latents", help="Cache from `ttikit train latents`.")]


def held_out_part(data: Path) -> tuple[Pictures, Labels]:
    """Held-out pictures (N, 64, 64, 3) and labels; none while the renderer is not there yet."""
    import numpy as np

    from ttikit.data.dataset import FaceDataset

    if not any(data.glob("held-out-images-*.npy")):
        return np.empty((0, 64, 64, 3), np.uint8), np.empty((0, 0), np.uint8)
    held_out = FaceDataset(data, "held-out")
    return held_out.images, held_out.labels


def settings_for(
    out: Path,
    batch: int,
    minutes: float | None,
    samples: int | None,
    default_minutes: float,
    finish_minutes: float | None,
    seed: int,
) -> Settings:
    """Settings of a run; without a length it takes ``default_minutes``."""
    from ttikit.training.loop import Budget, Settings

    if minutes is None and samples is None:
        minutes = default_minutes
    return Settings(out, batch, Budget(minutes, samples, finish_minutes), seed)


def report(result: Mapping[str, object], as_json: bool, out: Path) -> None:
    """Print what a training came to."""
    if as_json:
        print(json.dumps({"out": str(out), **result}))
    else:
        print(f"{out}: " + ", ".join(f"{name} {value}" for name, value in result.items()))


def finish_shared(settings: Settings, result: Mapping[str, object], as_json: bool) -> None:
    """End a run that several processes may have shared: the first one reports."""
    if settings.world.leads:
        report(result, as_json, settings.out)
    settings.world.leave()
