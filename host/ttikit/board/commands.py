"""`ttikit board list|info|deploy|generate|repl|selftest|bench`: people's way to their boards."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ttikit.errors import TtiError
from ttikit.options import Ascii, AsJson, Guidance, Seed, Steps

Ports = Annotated[
    list[str] | None,
    typer.Option("--port", "-p", help="Serial port of a board; may be given several times."),
]
All = Annotated[bool, typer.Option("--all", help="Every connected board, all at once.")]


def add_to(app: typer.Typer) -> None:
    """Put the commands into the group ``app``."""
    for name, command in (
        ("list", list_boards),
        ("info", info),
        ("deploy", deploy),
        ("generate", generate),
        ("repl", repl),
        ("selftest", selftest),
        ("bench", bench),
    ):
        app.command(name)(command)


def list_boards(as_json: AsJson = False) -> None:
    """List the USB serial ports; boards are among them."""
    from ttikit.board.ports import connected

    found = connected()
    if as_json:
        print(json.dumps([vars(port) for port in found]))
    for port in () if as_json else found:
        print(f"{port.name}  {port.product}  {port.serial_number}".rstrip())
    if not found and not as_json:
        print(
            "no board is connected; `make board` starts an emulated one and names its --port",
            file=sys.stderr,
        )


def info(ports: Ports = None, everyone: All = False, as_json: AsJson = False) -> None:
    """Show firmware, memory and model of a board."""
    from ttikit.board.fleet import run_on
    from ttikit.board.session import Session, answers

    def look(port: str) -> dict[str, Any]:
        with Session(port) as session:
            session.load("about")
            found = answers(session, "about()", "about")
        try:
            (text,) = found
            return {"port": port, **json.loads(text)}
        except ValueError:
            raise TtiError(
                f"{port}: the answer was garbled; repeat, or try another cable"
            ) from None

    done = run_on(_chosen(ports, everyone), look)
    for found in done.results:
        if as_json:
            print(_json(found))
            continue
        print(found["port"])
        for name in ("firmware", "machine", "tti", "kernels", "model", "memory", "files"):
            if name in found:
                print(f"  {name:<10} {found[name]}")
    done.check()


def deploy(
    model: Annotated[
        Path | None, typer.Argument(help="Model file; the shipped one if not given.")
    ] = None,
    ports: Ports = None,
    everyone: All = False,
    to: Annotated[
        str,
        typer.Option(help="rom: flash, used in place; file: the board's files."),
    ] = "",
) -> None:
    """Put a model onto a board and check it there; a cut at any moment leaves no wrong one."""
    from ttikit.board.deploy import Deployment
    from ttikit.board.drawing import Artist
    from ttikit.board.fleet import Lines, run_on
    from ttikit.board.session import Session
    from ttikit.model_file import read_model
    from ttikit.simulator.drawing import default_model

    if to not in ("", "rom", "file"):
        raise TtiError(f"--to must be rom or file, not {to}")
    model_file = read_model(model or default_model(), verify=True)
    chosen = _chosen(ports, everyone)
    with Lines(chosen, "blocks") as lines:

        def put(port: str) -> str:
            with Session(port, soft_reset=True) as session:
                deployment = Deployment(session, to)
                deployment.check_format(model_file.metadata.get("format"))
                done = deployment.write(model_file.raw, lines.on(port))
            with Session(port, soft_reset=True) as session:  # mounted anew
                fingerprint = Artist(session).fingerprint
            what = f"{done.written} blocks written" if done.written else "already there"
            return f"{port}: model {fingerprint:08x} in {done.store}, {done.size:,} bytes, {what}"

        done = run_on(chosen, put)
    for line in done.results:
        print(line)
    done.check()


def generate(
    prompts: Annotated[list[str] | None, typer.Argument(help="What to draw.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="A prompt a line; - reads them from stdin.")
    ] = None,
    seed: Seed = None,
    steps: Steps = 8,
    guidance: Guidance = 3.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .png or .bmp; several get numbers."),
    ] = None,
    ports: Ports = None,
    everyone: All = False,
    ascii: Ascii = False,
    as_json: AsJson = False,
) -> None:
    """Draw on a board and bring the picture back."""
    from ttikit.board.drawing import Artist, Recipe, Watch
    from ttikit.board.fleet import Lines, run_on
    from ttikit.board.session import Session
    from ttikit.simulator.cli import check_target

    if not math.isfinite(guidance):
        raise TtiError(f"guidance must be a number from 1 to 5, not {guidance}")
    wanted = [Recipe(text, seed, steps, guidance) for text in _prompts(prompts or [], file)]
    if out is not None:
        check_target(out)
    chosen = _chosen(ports, everyone)
    with Lines(chosen, "steps", quiet=as_json) as lines:

        def draw(port: str) -> list[tuple[Any, float, Path | None]]:
            results = []
            total = len(wanted) * steps
            with Session(port) as session:
                artist = Artist(session)
                for number, recipe in enumerate(wanted):
                    step = partial(_count, lines.on(port), number * steps, total)
                    drawing, seconds = artist.draw(recipe, Watch(step))
                    path = _target(out, port, number, len(chosen), len(wanted))
                    if path is not None:
                        _save(drawing, path)
                    results.append((drawing, seconds, path))
            return results

        done = run_on(chosen, draw)
    for drawing, seconds, path in (picture for board in done.results for picture in board):
        if len(wanted) > 1 and not as_json:
            print(drawing.prompt)
        _tell(drawing, seconds, path, ascii=ascii, as_json=as_json)
    done.check()


def _count(show: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    show(before + done, total)


def repl(ports: Ports = None) -> None:
    """Talk to a board at its prompt, through mpremote; Ctrl-] leaves."""
    import subprocess

    (port,) = _chosen(ports, single=True)
    if sys.stdin is None or not sys.stdin.isatty():
        raise TtiError("a prompt needs a terminal; run it in one, or use `mpremote exec`")
    raise typer.Exit(subprocess.call([sys.executable, "-m", "mpremote", "connect", port, "repl"]))


def selftest(ports: Ports = None, everyone: All = False) -> None:
    """Check the model and every kernel of a board against what all boards compute."""
    from ttikit.board.fleet import run_on
    from ttikit.board.session import MARK, told

    def check(port: str) -> bool:
        lines = _printed(port, f"import tti\nprint({MARK!r}, 'selftest', tti.selftest())")
        return ("selftest", "True") in map(told, lines)

    done = run_on(_chosen(ports, everyone), check)
    done.check()
    if not all(done.results):
        raise TtiError("a board computes something else; see above which stage differs")


def bench(ports: Ports = None) -> None:
    """Show where the time of a picture goes on a board, op by op."""
    (port,) = _chosen(ports, single=True)
    _printed(port, "import tti\n_ = tti.bench()")


def _json(found: Any) -> str:
    """JSON that stays JSON where the output has another alphabet and letters become escapes."""
    return json.dumps(found, ensure_ascii=sys.stdout.encoding.lower() not in ("utf-8", "utf8"))


def _printed(port: str, code: str) -> list[str]:
    """Run code on a board, show what it prints as it comes, and return the lines."""
    from ttikit.board.session import Session, told

    kept: list[str] = []

    def show(line: str) -> None:
        kept.append(line)
        if not told(line)[0]:
            print(line, flush=True)

    with Session(port) as session:
        session.run(code, show)
    return kept


def _chosen(ports: list[str] | None, everyone: bool = False, single: bool = False) -> list[str]:
    from ttikit.board.ports import chosen

    return chosen(ports or [], everyone, single)


def _prompts(given: list[str], file: Path | None) -> list[str]:
    """The prompts of the command line, then those of the file; TtiError if there are none."""
    lines: list[str] = []
    if file is not None:
        try:
            if str(file) != "-":
                data = file.read_bytes()
            else:
                data = sys.stdin.buffer.read() if sys.stdin else b""
            lines = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
        except OSError as error:
            raise TtiError(
                f"{file} cannot be read ({error.strerror}); name another file"
            ) from None
        except UnicodeError:
            raise TtiError(f"{file} is not UTF-8 text; save it as UTF-8") from None
    found = [*given, *(line for line in lines if line)]
    if any("\ud800" <= letter <= "\udfff" for text in found for letter in text):
        raise TtiError("a prompt is not valid UTF-8; set the terminal to UTF-8 and type it again")
    if not found:
        raise TtiError('give a prompt, such as "пожилой мужчина", or a --file with some')
    return found


def _target(out: Path | None, port: str, number: int, boards: int, pictures: int) -> Path | None:
    """Where a picture goes: ``out``, with the port and the number if there are several."""
    if out is None:
        return None
    parts = [out.stem]
    if boards > 1:
        parts.append(port.replace("/", "_").removeprefix("_dev_"))
    if pictures > 1:
        parts.append(str(number + 1))
    return out.with_name("-".join(parts) + out.suffix)


def _save(drawing: Any, path: Path) -> None:
    try:
        drawing.image().save(str(path))
    except OSError as error:
        raise TtiError(f"{error}; the picture has the seed {drawing.seed}") from None


def _tell(drawing: Any, seconds: float, path: Path | None, *, ascii: bool, as_json: bool) -> None:
    from ttikit.simulator.cli import print_summary, record

    if as_json:
        print(_json(record(drawing, seconds, path, None)))
        return
    drawing.image().show(False if ascii or not sys.stdout.isatty() else None)
    print_summary(drawing, seconds, path, None)
