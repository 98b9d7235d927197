"""Pictures drawn by a board and brought back over its terminal."""

from __future__ import annotations

import base64
import contextlib
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ttikit.board.session import Session, SessionError, answers, told
from ttikit.simulator.drawing import Drawing

PICTURE_BYTES = 64 * 64 * 3
GONE_WRONG = "the picture was garbled on its way; repeat, or try another cable"


@dataclass(frozen=True)
class Recipe:
    """What to draw; the same as for `tti.generate`."""

    prompt: str
    seed: int | None = None
    steps: int = 8
    guidance: float = 3.0


@dataclass
class Watch:
    """What a person sees while a board draws: called with the steps done, and with lines that the
    board printed by itself."""

    step: Callable[[int], None] = lambda done: None
    line: Callable[[str], None] = lambda text: None


@dataclass
class _Received:
    pixels: bytearray = field(default_factory=bytearray)
    notes: list[str] = field(default_factory=list)
    steps: int = 0
    seed: int | None = None
    crc: int | None = None


class Artist:
    """Draws on the board of ``session``. Raises `SessionError`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        session.load("drawing")
        try:
            (text,) = answers(session, "about()", "about")
            self.fingerprint = int(text, 16)
        except ValueError:
            raise SessionError(f"{session.port}: {GONE_WRONG}") from None

    def draw(self, recipe: Recipe, watch: Watch | None = None) -> tuple[Drawing, float]:
        """Draw one picture; returns it and the seconds that it took, the way back included."""
        watch, got = watch or Watch(), _Received()
        # ascii(): whatever the prompt holds, the board reads it from plain letters.
        call = f"draw({recipe.prompt!a}, {recipe.seed}, {recipe.steps}, {recipe.guidance})"
        start = time.perf_counter()
        self.session.run(call, lambda line: _follow(line, got, watch))
        seconds = time.perf_counter() - start
        if (
            got.seed is None
            or len(got.pixels) != PICTURE_BYTES
            or zlib.crc32(got.pixels) != got.crc
        ):
            raise SessionError(f"{self.session.port}: {GONE_WRONG}")
        drawing = Drawing(
            recipe.prompt,
            got.seed,
            recipe.steps,
            recipe.guidance,
            Path(self.session.port),
            self.fingerprint,
            bytes(got.pixels),
            tuple(got.notes),
        )
        return drawing, seconds


def _follow(line: str, got: _Received, watch: Watch) -> None:
    word, text = told(line)
    if not word:
        watch.line(line)
    elif word == "note":
        got.notes.append(text)
    elif word == "step":
        got.steps += 1
        watch.step(got.steps)
    elif word == "row":
        with contextlib.suppress(ValueError):  # too short in the end, and so refused
            got.pixels += base64.b64decode(text, validate=True)
    elif word == "done":
        with contextlib.suppress(ValueError):  # garbled, and so refused
            seed, _, crc = text.partition(" ")
            got.seed, got.crc = int(seed), int(crc, 16)
