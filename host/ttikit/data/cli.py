"""`ttikit data`: render the data set, look at it, measure the renderer."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Render labelled portraits and make Russian captions for them.")


def _bar():
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )


@app.command()
def render(
    out: Annotated[Path, typer.Option(help="Folder of the data set.")],
    train: Annotated[int, typer.Option(help="Pictures to train on.")] = 40_000,
    held_out: Annotated[int, typer.Option(help="Pictures kept aside.")] = 4_000,
    seed: Annotated[int, typer.Option(help="Another seed gives other people.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Draw the data set, or what is missing of it; Ctrl-C and a later call continue."""
    from ttikit.data.dataset import render_dataset

    started, first = time.monotonic(), -1
    with _bar() as bar:
        task = bar.add_task("Drawing", total=train + held_out, speed="")

        def show(done: int, total: int) -> None:
            nonlocal first
            first = done if first < 0 else first
            rate = (done - first) / max(time.monotonic() - started, 1e-3)
            bar.update(task, completed=done, total=total, speed=f"{rate:.1f}/s")

        manifest = render_dataset(out, train, held_out, seed, workers, show)
    if as_json:
        seconds = round(time.monotonic() - started, 1)
        typer.echo(json.dumps({"out": str(out), **manifest.counts, "seconds": seconds}))
