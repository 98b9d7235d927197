"""`ttikit pie`: what the ESP32-S3's vector code costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ttikit.options import AsJson

app = typer.Typer(no_args_is_help=True, help="Look at code for the ESP32-S3's vector unit.")


@app.callback()
def _group() -> None:
    """Look at code for the ESP32-S3's vector unit."""


@app.command()
def cycles(
    source: Annotated[Path, typer.Argument(help="An assembly source (.S) in GNU syntax.")],
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", help="A macro for the preprocessor; TTI_PIE is defined."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where code waits in the pipeline, and cycles per 16 multiplications of its loops."""
    from ttikit.pie import cycles as model
    from ttikit.pie.opcodes import PieError
    from ttikit.pie.source import functions, preprocess

    found = functions(preprocess(source, ["TTI_PIE=1", *(define or [])]))
    if not found:
        raise PieError(f"{source} has no code; is a macro missing that --define would set?")
    costs = [model.cost(function) for function in found]
    if as_json:
        print(json.dumps([model.as_json(c) for c in costs]))
        return
    for c in costs:
        print("\n".join(model.report(c)))
