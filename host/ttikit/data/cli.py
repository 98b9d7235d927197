"""`ttikit data`: render the data set, look at it, measure the renderer."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Render labelled portraits and make Russian captions for them.", no_args_is_help=True
)
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _bar() -> Any:
    from rich.console import Console
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
        console=Console(stderr=True),
    )


@app.command()
def render(
    out: Annotated[Path, typer.Option(help="Folder of the data set.")],
    train: Annotated[int, typer.Option(help="Pictures to train on.")] = 40_000,
    held_out: Annotated[int, typer.Option(help="Pictures kept aside.")] = 4_000,
    seed: Annotated[int, typer.Option(help="Another seed gives other people.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Draw the data set, or what is missing of it; after Ctrl-C the same call goes on."""
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
        summary = {"out": str(out), "seed": seed, **manifest.counts, "seconds": seconds}
        typer.echo(json.dumps(summary))


@app.command()
def sheet(
    out: Annotated[Path, typer.Option(help="PNG file to write.")],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Pictures.")] = 40,
    columns: Annotated[int, typer.Option(min=1, help="Pictures in a row.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the people.")] = 0,
    attribute: Annotated[
        list[str] | None,
        typer.Option("-a", "--attribute", help="Only people with it (!Name: without it)."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Take pictures from this data set instead of drawing.")
    ] = None,
) -> None:
    """Write a contact sheet with the attributes below each picture."""
    from ttikit.data.sheet import find_pictures, write_sheet

    pictures = []
    with _bar() as bar:
        task = bar.add_task("Drawing", total=count, speed="")
        for picture in find_pictures(count, seed, attribute or [], data):
            pictures.append(picture)
            bar.advance(task)
    write_sheet(pictures, columns, out)
    short = "" if len(pictures) == count else f"; no more of the {count} asked for were found"
    typer.echo(f"{out}: {len(pictures)} pictures{short}")


@app.command()
def captions(
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Captions.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of people and words.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Print captions of random people."""
    import numpy as np

    from ttikit.data.attributes import sample_attributes
    from ttikit.data.captions import caption

    rng = np.random.default_rng(seed)
    lines = [caption(sample_attributes(rng), rng) for _ in range(count)]
    typer.echo(json.dumps(lines, ensure_ascii=False) if as_json else "\n".join(lines))


@app.command()
def bench(
    processes: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    pictures: Annotated[int, typer.Option(min=1, help="Pictures.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Measure the renderer's speed."""
    from ttikit.data.bench import bench_render

    speed = bench_render(processes, pictures)
    if as_json:
        typer.echo(json.dumps(vars(speed)))
        return
    typer.echo(
        f"{speed.per_second:.1f} pictures a second on {speed.processes} processes, "
        f"{speed.cpu_ms:.1f} ms of CPU a picture ({speed.pictures} pictures)"
    )
