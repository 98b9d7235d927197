"""`ttikit model show|verify|diff`: looking into model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ttikit.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ttikit.model_file import Comparison, ModelFile

app = typer.Typer(
    help="Look into model files (.tti): list them, check them, compare two.", no_args_is_help=True
)

# Of the metadata, more entries, more of them within one another and longer text are not shown.
READABLE, DEEPEST, LONGEST = 40, 8, 1000

ModelPath = Annotated[Path, typer.Argument(help="A model file, for example models/faces.tti.")]


@app.command()
def show(file: ModelPath, as_json: AsJson = False) -> None:
    """List tensors and metadata of a model file; ends with status 2 if it is damaged."""
    from ttikit.model_file import read_model

    model = read_model(file)
    if as_json:
        _print_json(describe(model))
    else:
        _print_tables(model)
    model.verify()


@app.command()
def verify(file: ModelPath, as_json: AsJson = False) -> None:
    """Check every byte of a model file; ends with status 2 if anything is wrong."""
    from ttikit.model_file import ModelFileError, read_model

    try:
        model = read_model(file, verify=True)
    except ModelFileError as error:
        if as_json:
            status, tensor = error.status.name.lower(), error.tensor
            _print_json({"file": str(file), "ok": False, "status": status, "tensor": tensor})
        raise
    summary = _summary(model)
    if as_json:
        _print_json({"file": str(file), "ok": True, "status": "ok", **summary})
        return
    print(
        f"{file}: in order, {summary['tensors']} tensors, {summary['bytes']:,} bytes, "
        f"fingerprint {summary['fingerprint']}"
    )


@app.command()
def diff(before: ModelPath, after: ModelPath, as_json: AsJson = False) -> None:
    """Show what differs between two model files; ends with status 1 if anything does."""
    from ttikit.model_file import compare_models, read_model

    comparison = compare_models(read_model(before, verify=True), read_model(after, verify=True))
    if as_json:
        _print_json(comparison.as_dict())
    else:
        _print_comparison(comparison)
    if not comparison.same:
        raise typer.Exit(1)


def describe(model: ModelFile) -> dict[str, Any]:
    """Return all that `show` prints as plain data."""
    from ttikit.model_file.format import DTYPES

    rows = []
    for number, entry in enumerate(model.entries):
        tensor = model.tensors[entry.name]
        low, high = tensor.values.min().item(), tensor.values.max().item()
        rows.append(
            {
                "number": number,
                "name": entry.name,
                "dtype": DTYPES[entry.dtype][0],
                "shape": list(entry.shape),
                "offset": entry.offset,
                "bytes": entry.bytes,
                "scale": tensor.scale,
                # NaN and infinity, which our writer refuses, are no JSON numbers.
                "min": low if abs(low) < float("inf") else None,
                "max": high if abs(high) < float("inf") else None,
                "crc": f"{entry.crc:08x}",
            }
        )
    return {"file": model.path, **_summary(model), "metadata": model.metadata, "list": rows}


def _summary(model: ModelFile) -> dict[str, Any]:
    return {
        "tensors": len(model.entries),
        "bytes": len(model.raw),
        "tensor_bytes": sum(entry.bytes for entry in model.entries),
        "fingerprint": f"{model.header.data_crc:08x}",
    }


def _print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=2))


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 160  # a file or pipe has no edge at which to break lines
    return console


def _table(*titles: str) -> Table:
    """Make a table; titles that begin with `>` stand over numbers. The name is never broken."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column(titles[0], no_wrap=True)
    for title in titles[1:]:
        justify: Literal["left", "right"] = "right" if title.startswith(">") else "left"
        table.add_column(title.lstrip(">"), justify=justify, overflow="fold")
    return table


def _print_tables(model: ModelFile) -> None:
    from rich.text import Text

    console = _console()
    table = _table("name", "dtype", "shape", ">bytes", ">min", ">max", "scale")
    data = describe(model)
    for row in data["list"]:
        shape = "×".join(map(str, row["shape"])) or "scalar"
        size = f"{row['bytes']:,}"
        low, high = _number(row["min"]), _number(row["max"])
        table.add_row(row["name"], row["dtype"], shape, size, low, high, row["scale"] or "")
    console.print(table)
    if model.metadata:
        console.print("\nmetadata", style="bold")
        for name in list(model.metadata)[:READABLE]:
            text = f"{_json(name)}: {_json(_short(model.metadata[name]))}"
            if len(text) > LONGEST:
                text = f"{text[:LONGEST]}… ({len(text):,} characters, see --json)"
            console.print(Text(text))
        if len(model.metadata) > READABLE:
            console.print(f"({len(model.metadata):,} entries in all, see --json)")
    console.print(
        f"\n{data['tensors']} tensors, {data['tensor_bytes']:,} bytes in them, "
        f"{data['bytes']:,} bytes in all, fingerprint {data['fingerprint']}"
    )


def _short(value: Any, depth: int = 0) -> Any:
    """The metadata with what is too long to read, such as a vocabulary, only counted."""
    if isinstance(value, list | dict) and (len(value) > READABLE or depth > DEEPEST):
        return f"({len(value):,} entries, see --json)"
    if isinstance(value, dict):
        return {name: _short(item, depth + 1) for name, item in value.items()}
    return [_short(item, depth + 1) for item in value] if isinstance(value, list) else value


def _print_comparison(comparison: Comparison) -> None:
    from rich.text import Text

    console = _console()
    if comparison.same:
        console.print("no difference")
        return
    if comparison.tensors:
        titles = ("name", "change", "before", "after", ">elements", ">max |Δ|", ">mean |Δ|")
        table = _table(*titles)
        for change in comparison.tensors:
            count = "" if change.changed is None else f"{change.changed:,} of {change.elements:,}"
            low, high = _number(change.max_abs), _number(change.mean_abs)
            table.add_row(change.name, change.what, change.before, change.after, count, low, high)
        console.print(table)
    if comparison.order_changed:
        console.print("the tensors are in another order")
    for item in comparison.metadata:
        old = "(absent)" if item.what == "added" else _json(item.before)
        new = "(absent)" if item.what == "removed" else _json(item.after)
        console.print(Text(f"metadata {item.key}: {old} → {new}"))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
