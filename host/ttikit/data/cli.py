"""`ttikit data`: make a data set, look at it, measure the renderer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ttikit.data.shards import Manifest, Progress

app = typer.Typer(
    help="Make labelled pictures to learn from, and captions for them.", no_args_is_help=True
)
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Out = Annotated[Path, typer.Option(help="Folder of the data set.")]
Workers = Annotated[int, typer.Option(help="Processes.")]
DomainFile = Annotated[
    Path | None, typer.Option("--domain", help="TOML file of your own domain; faces without it.")
]


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


def _make(
    note: str, out: Path, as_json: bool, work: Callable[[Progress], Manifest], **more: object
) -> None:
    """Run work with a progress bar and report."""
    started, first = time.monotonic(), -1
    with _bar() as bar:
        task = bar.add_task(note, total=None, speed="", visible=False)

        def show(done: int, total: int) -> None:
            nonlocal first
            first = done if first < 0 else first
            rate = (done - first) / max(time.monotonic() - started, 1e-3)
            bar.update(task, completed=done, total=total, speed=f"{rate:.1f}/s", visible=True)

        manifest = work(show)
    if as_json:
        seconds = round(time.monotonic() - started, 1)
        summary = {"out": str(out), **more, **manifest.counts, "seconds": seconds}
        typer.echo(json.dumps(summary))


@app.command()
def render(
    out: Out,
    train: Annotated[int, typer.Option(help="Pictures to train on.")] = 40_000,
    held_out: Annotated[int, typer.Option(help="Pictures kept aside.")] = 4_000,
    seed: Annotated[int, typer.Option(help="Another seed gives other people.")] = 0,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Draw the data set, or what is missing of it; after Ctrl-C the same call goes on."""
    from ttikit.data.dataset import render_dataset

    def work(progress: Progress) -> Manifest:
        return render_dataset(out, train, held_out, seed, workers, progress)

    _make("Drawing", out, as_json, work, seed=seed)


@app.command()
def celeba(
    root: Annotated[
        Path, typer.Option(help="Folder with img_align_celeba and list_attr_celeba.txt.")
    ],
    out: Out,
    train: Annotated[int | None, typer.Option(min=1, help="At most so many to train on.")] = None,
    held_out: Annotated[int | None, typer.Option(min=0, help="At most so many aside.")] = None,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Read CelebA as it is distributed; after Ctrl-C the same call goes on.

    Its licence allows non-commercial research only.
    """
    from ttikit.data.celeba import read_celeba
    from ttikit.data.collect import collect

    def work(progress: Progress) -> Manifest:
        return collect(read_celeba(root, train, held_out), out, workers, progress)

    _make("Reading", out, as_json, work)


@app.command()
def folder(
    pictures: Annotated[Path, typer.Option(help="Folder of the pictures: PNG, JPEG, any size.")],
    attributes: Annotated[Path, typer.Option(help="CSV: file, then a column per attribute.")],
    out: Out,
    domain: DomainFile = None,
    held_out: Annotated[float, typer.Option(help="Share of the pictures kept aside.")] = 0.1,
    workers: Workers = 2,
    as_json: AsJson = False,
) -> None:
    """Read your own pictures; after Ctrl-C the same call goes on."""
    from ttikit.data.collect import collect
    from ttikit.data.domain_file import read_domain
    from ttikit.data.folder import read_folder

    def work(progress: Progress) -> Manifest:
        collection = read_folder(pictures, attributes, read_domain(domain), held_out)
        return collect(collection, out, workers, progress)

    _make("Reading", out, as_json, work)


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
    data: Annotated[
        Path | None, typer.Option(help="Of this data set's pictures, not of random people.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print captions of random people or of a data set."""
    import numpy as np

    from ttikit.data.attributes import labels_array, sample_attributes
    from ttikit.data.dataset import FaceDataset
    from ttikit.data.domain import FACE_DOMAIN
    from ttikit.data.domain_file import domain_of

    rng, domain = np.random.default_rng(seed), FACE_DOMAIN
    if data is None:
        lines = [domain.caption(labels_array(sample_attributes(rng)), rng) for _ in range(count)]
    else:
        dataset = FaceDataset(data)
        domain = domain_of(dataset.data)
        which = rng.integers(len(dataset), size=count)
        lines = [domain.caption(dataset.labels[i], rng) for i in which]
    typer.echo(json.dumps(lines, ensure_ascii=False) if as_json else "\n".join(lines))


@app.command()
def vocabulary(
    domain: DomainFile = None,
    out: Annotated[Path | None, typer.Option(help="Write a page instead of printing it.")] = None,
) -> None:
    """Print the words that a model of the domain knows, as a page of Markdown."""
    from ttikit.data.domain_file import read_domain
    from ttikit.data.vocabulary_page import page
    from ttikit.files import write_atomically

    text = page(read_domain(domain).vocabulary)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(out, text.encode())


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
