"""`ttikit board …`: boards, the emulated one among them."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ttikit.board import commands

app = typer.Typer(help="Run and use boards.", no_args_is_help=True)
commands.add_to(app)

EXAMPLES = """\
{port} is the board's terminal. In another window:
  {mpremote} connect {port} repl              # its prompt; Ctrl-] leaves
  {mpremote} connect {port} exec 'import tti; tti.generate("old man with glasses", steps=4)'
  {mpremote} connect {port} fs ls             # its files, kept in {flash}
Ctrl-C here switches the board off."""


@app.callback()
def _group() -> None:
    """Run and use boards."""


@app.command()
def emulate(
    firmware: Annotated[
        Path, typer.Option(help="Firmware of the emulated board; `make board` builds it.")
    ] = Path("build/firmware-qemu_m33/firmware.elf"),
    model: Annotated[Path, typer.Option(help="Model file that becomes /rom/faces.tti.")] = Path(
        "models/faces.tti"
    ),
    flash: Annotated[
        Path, typer.Option(help="File that holds the board's flash, files and all, between runs.")
    ] = Path("build/board-flash.img"),
) -> None:
    """Start a board that QEMU emulates (what it is the firmware says) and name its terminal."""
    from ttikit.board import EmulatedBoard, write_flash
    from ttikit.model_file import read_model

    signal.signal(signal.SIGTERM, _interrupt)  # QEMU is not left behind
    write_flash(flash, {"faces.tti": read_model(model, verify=True).raw})
    with EmulatedBoard(firmware, flash) as board:
        print(EXAMPLES.format(port=board.port, flash=flash, mpremote=_mpremote()), flush=True)
        try:
            board.wait()
        except KeyboardInterrupt:
            print("\nThe board is off.")


def _mpremote() -> str:
    """Return how to call mpremote: by its path if it is installed beside this Python only."""
    beside = Path(sys.executable).with_name("mpremote")
    if shutil.which("mpremote") or not beside.exists():
        return "mpremote"
    return os.path.relpath(beside)


def _interrupt(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
