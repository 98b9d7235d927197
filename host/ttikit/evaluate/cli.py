"""`ttikit evaluate`: judge a model by pictures that the firmware draws, and write the page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ttikit.evaluate.report import Report

FIRMWARE = Path("build") / "firmware-unix" / "tti"


def evaluate(
    model: Annotated[Path, typer.Option(help="The .tti file to judge.")] = Path(
        "models/faces.tti"
    ),
    firmware: Annotated[
        Path, typer.Option(help="MicroPython built by `make firmware`.")
    ] = FIRMWARE,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of `ttikit data render`: for Fréchet distance and neighbours."),
    ] = None,
    weights: Annotated[
        Path, typer.Option("--float", help="Folder of the float weights it was exported from.")
    ] = Path("models/float16"),
    judge: Annotated[
        Path, typer.Option(help="Weights of the classifier (`ttikit train classifier`).")
    ] = Path("models/evaluation/classifier.safetensors"),
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the page.")] = Path(
        "docs/quality"
    ),
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder of pictures drawn before; ~/.cache/tti/evaluate if not given."),
    ] = None,
    pictures: Annotated[
        int | None, typer.Option(min=2, help="Per setting of the Fréchet distance; 1,000.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small trial: few pictures.")] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Processes that draw.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Also print the figures.")] = False,
) -> None:
    """Measure quality and write docs/quality. Ctrl-C loses nothing; the same command goes on."""
    from ttikit.evaluate.run import Inputs, run

    inputs = Inputs(model, firmware, data, weights, judge, cache or default_cache(), jobs)
    report, page = run(inputs, out, quick, pictures)
    if as_json:
        print(json.dumps(report.to_json(), ensure_ascii=False))
        return
    _print(report)
    print(page)


def default_cache() -> Path:
    """Return the folder for pictures that were drawn before."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tti" / "evaluate"


def _print(report: Report) -> None:
    from ttikit.evaluate.limits import limits

    marks = {True: "met", False: "NOT MET", None: "–"}
    for one in limits(report):
        print(f"{marks[one.met]:>7}  {one.what}: {one.measured} ({one.limit})")
