"""`ttikit simulate`: the picture that every board draws, drawn on this PC."""

from __future__ import annotations

import hashlib
import json
import secrets
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ttikit.errors import TtiError
from ttikit.options import Ascii, AsJson, Guidance, Seed, Steps

if TYPE_CHECKING:
    from ttikit.simulator.drawing import Drawing


def simulate(
    prompt: Annotated[str, typer.Argument(help="What to draw, in Russian or English.")],
    seed: Seed = None,
    steps: Steps = 8,
    guidance: Guidance = 3.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save as this .png or .bmp file.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model file; the shipped models/faces.tti if not given.")
    ] = None,
    stages: Annotated[
        bool, typer.Option("--stages", help="Also give the SHA-256 of every intermediate tensor.")
    ] = False,
    ascii: Ascii = False,
    as_json: AsJson = False,
) -> None:
    """Draw on this PC what a board would draw, to the byte."""
    from ttikit.simulator.drawing import Simulator, default_model

    if out is not None:
        check_target(out)
    simulator = Simulator(model or default_model())
    seed = secrets.randbits(32) if seed is None else seed
    hashes: list[dict[str, Any]] = []
    watch = Watch(steps, hashes if stages else None, quiet=as_json)
    start = time.perf_counter()
    with watch.bar:
        drawing = simulator.draw(prompt, seed, steps, guidance, watch)
    seconds = time.perf_counter() - start
    image = drawing.image()
    if out is not None:
        try:
            image.save(str(out))
        except OSError as error:
            raise TtiError(str(error)) from None
    if as_json:
        print(json.dumps(record(drawing, seconds, out, watch.hashes), ensure_ascii=False))
        return
    image.show(False if ascii or not sys.stdout.isatty() else None)
    print_summary(drawing, seconds, out, watch.hashes)


class Watch:
    """Follows the stages of a picture: a progress bar, and their hashes if `hashes` is a list."""

    def __init__(self, steps: int, hashes: list[dict[str, Any]] | None, *, quiet: bool):
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        self.bar = Progress(
            console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self.task = self.bar.add_task("step", total=max(steps, 1))
        self.hashes = hashes

    def __call__(self, name: str, buffer: Any) -> None:
        """Take note of one stage."""
        if name == "step":
            self.bar.advance(self.task)
        if self.hashes is not None:
            data = bytes(buffer)
            digest = hashlib.sha256(data).hexdigest()
            self.hashes.append({"stage": name, "bytes": len(data), "sha256": digest})


def check_target(out: Path) -> None:
    """Refuse, before any work, a file that can't be written afterwards."""
    if out.suffix.lower() not in (".png", ".bmp"):
        raise TtiError(f"a picture is saved as .png or .bmp, not as {out}")
    if not out.resolve().parent.is_dir():
        raise TtiError(f"the folder of {out} does not exist; make it first")


def record(
    drawing: Drawing, seconds: float, out: Path | None, hashes: list[dict[str, Any]] | None
) -> dict[str, Any]:
    """What is printed of a drawing for a script."""
    found = {
        "prompt": drawing.prompt,
        "seed": drawing.seed,
        "steps": drawing.steps,
        "guidance": drawing.guidance,
        "sha256": drawing.sha256,
        "model": str(drawing.model),
        "fingerprint": f"{drawing.fingerprint:08x}",
        "seconds": round(seconds, 3),
        "notes": list(drawing.notes),
        "out": None if out is None else str(out),
    }
    return found if hashes is None else {**found, "stages": hashes}


def print_summary(
    drawing: Drawing, seconds: float, out: Path | None, hashes: list[dict[str, Any]] | None
) -> None:
    """Print notes, hashes and a last line about a drawing."""
    for note in drawing.notes:
        print(f"note: {note}", file=sys.stderr)
    for line in hashes or ():
        print(f"{line['sha256']}  {line['stage']} ({line['bytes']} bytes)")
    saved = "" if out is None else f", saved as {out}"
    print(f"sha256 {drawing.sha256}, seed {drawing.seed}, {seconds:.1f} s{saved}")
