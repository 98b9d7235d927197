"""The console script `ttikit`: one table of subcommands, each imported only when asked for.

A subcommand lives in its own area. A group (`ttikit data …`) is a `typer.Typer` there, a single
command (`ttikit export`) a plain function. The areas import heavy packages inside their
functions, so that `ttikit --help` answers at once and works without the extras.
"""

import importlib
import io
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from ttikit import __version__
from ttikit.errors import TtiError

INTERRUPTED = 130
REFUSED = 2


@dataclass(frozen=True)
class Subcommand:
    """Where a subcommand is defined and what `ttikit --help` says of it."""

    module: str
    attribute: str
    help: str


SUBCOMMANDS = {
    "data": Subcommand("ttikit.data.cli", "app", "Make the pictures and captions to learn from."),
    "train": Subcommand("ttikit.training.cli", "app", "Train the model's parts."),
    "export": Subcommand("ttikit.export.cli", "export", "Write a trained model as a .tti file."),
    "evaluate": Subcommand(
        "ttikit.evaluate.cli", "evaluate", "Measure how good a model's pictures are."
    ),
    "model": Subcommand("ttikit.model_file.cli", "app", "Show, verify and compare .tti files."),
    "bench": Subcommand("ttikit.bench.cli", "bench", "Measure time and memory on this PC."),
    "kernels": Subcommand(
        "ttikit.bench.cli", "kernels", "Count a chip's instructions for a picture, emulated."
    ),
    "pie": Subcommand("ttikit.pie.cli", "app", "Model cycles of the ESP32-S3's vector code."),
    "board": Subcommand("ttikit.board.cli", "app", "Run and use boards."),
    "simulate": Subcommand(
        "ttikit.simulator.cli", "simulate", "Draw on this PC what a board would draw."
    ),
}

# Packages that come with an extra only, by the extra.
EXTRAS = {
    "numba": "data",
    "scipy": "data",
    "torch": "train",
    "safetensors": "train",
    "capstone": "test",
    "unicorn": "test",
    "elftools": "test",
    "mpremote": "board",
    "serial": "board",
}


def load(name: str) -> Any:
    """Import the subcommand `name` and return it as a command that the top group can run."""
    place = SUBCOMMANDS[name]
    target = getattr(importlib.import_module(place.module), place.attribute)
    if isinstance(target, typer.Typer):
        return get_group(target)
    single = typer.Typer(add_completion=False)
    single.command(name=name)(target)
    return get_command(single)


class LazyGroup(TyperGroup):
    """The top group: imports a subcommand only to run it, and turns errors into one sentence."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the subcommands, in the order of the help."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a stand-in that is enough for the list of commands in the help, or None."""
        if cmd_name not in SUBCOMMANDS:
            return None
        return TyperCommand(name=cmd_name, help=SUBCOMMANDS[cmd_name].help)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the real command and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in SUBCOMMANDS else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; an error that a person can mend ends it with one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _stop("interrupted", INTERRUPTED) from None
        except TtiError as error:
            raise _stop(str(error), REFUSED) from None
        except OSError as error:
            if error.filename is None:
                raise
            text = f"{error.filename} cannot be used ({error.strerror}); check the path"
            raise _stop(text, REFUSED) from None
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in EXTRAS:
                raise
            text = f"this needs the package {package}: pip install 'ttikit[{EXTRAS[package]}]'"
            raise _stop(text, REFUSED) from None


def _stop(text: str, status: int) -> typer.Exit:
    print(f"ttikit: {text}", file=sys.stderr)
    return typer.Exit(status)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ttikit {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Workshop on the PC for tti: data, training, export and simulation."""


def main() -> None:
    """Run the command line; `ttikit` in pyproject.toml points here."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without Cyrillic gets its code points
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="ttikit")
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on, as after `ttikit … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:  # while a subcommand was still being imported
        print("ttikit: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
