"""What a prompt demands of a picture, read from a small text file (`prompts.txt`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ttikit.data.attributes import INDEX
from ttikit.errors import TtiError

PROMPTS = Path(__file__).with_name("prompts.txt")
GENDER, AGE = "Male", "Young"
GLASSES = ("Eyeglasses", "Sunglasses")
ALWAYS = frozenset((GENDER, AGE, *GLASSES))  # judged even where the judge is less sure
_SECTIONS = ("common", "rare")


@dataclass(frozen=True)
class Demand:
    """One thing that a prompt asks for: any of `names` is there, or none of them."""

    names: tuple[str, ...]
    present: bool = True

    def __str__(self) -> str:
        return f"{'/'.join(self.names)}={int(self.present)}"

    @property
    def label(self) -> str:
        """What people read: "Bald", "no Eyeglasses"; "Woman", "Man", "Old" and "Young"."""
        special = {"Male=1": "Man", "Male=0": "Woman", "Young=0": "Old"}
        plain = " or ".join(self.names)
        return special.get(str(self), plain if self.present else f"no {plain}")

    def counts(self, clear: Collection[str]) -> bool:
        """Whether a limit holds for it: gender, age, glasses, and what the judge sees clearly."""
        return ALWAYS.union(clear).issuperset(self.names)

    def met(self, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether it is met in pictures with attributes `seen` (N, A): (N,)."""
        found: NDArray[np.bool_] = np.any(seen[:, [INDEX[name] for name in self.names]], axis=1)
        return found if self.present else ~found

    def met_by(self, person: Mapping[str, int]) -> bool:
        """Whether a person with these labels has it."""
        return any(person[name] for name in self.names) is self.present


@dataclass(frozen=True)
class Expectation:
    """A prompt, its demands, and whether the combination is rare in training."""

    prompt: str
    demands: tuple[Demand, ...]
    rare: bool = False

    def met_by(self, person: Mapping[str, int]) -> bool:
        """Whether a person with these labels is what the prompt asks for."""
        return all(demand.met_by(person) for demand in self.demands)

    def judged(self, clear: Collection[str]) -> tuple[Demand, ...]:
        """Return the demands that count: gender, age, glasses and `clear` attributes."""
        return tuple(demand for demand in self.demands if demand.counts(clear))


def read_expectations(path: Path = PROMPTS) -> list[Expectation]:
    """Read a file of prompts and demands; TtiError that names the line if it makes no sense."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TtiError(f"{path} cannot be read as UTF-8 text ({error}); check the path") from None
    try:
        return parse(text)
    except TtiError as error:
        raise TtiError(f"{path}, {error}") from None


def parse(text: str) -> list[Expectation]:
    """Parse the contents of such a file; TtiError that names the line."""
    found: dict[str, Expectation] = {}
    rare = False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            if line.startswith("["):
                rare = _section(line)
                continue
            one = _expectation(line, rare)
            if one.prompt in found:
                raise TtiError(f"the prompt {one.prompt!r} stands there twice: delete one")
        except TtiError as error:
            raise TtiError(f"line {number}: {error}") from None
        found[one.prompt] = one
    return list(found.values())


def written(expectations: Collection[Expectation]) -> str:
    """Return the text that `parse` reads back."""
    lines = []
    for rare, section in enumerate(_SECTIONS):
        lines.append(f"[{section}]")
        for one in expectations:
            if one.rare == bool(rare):
                lines.append(f"{one.prompt}: {', '.join(map(str, one.demands))}")
    return "\n".join(lines) + "\n"


def _section(line: str) -> bool:
    name = line.strip("[]")
    if line != f"[{name}]" or name not in _SECTIONS:
        raise TtiError(f"{line!r} is no section: use [common] or [rare]")
    return name == "rare"


def _expectation(line: str, rare: bool) -> Expectation:
    prompt, colon, rest = line.rpartition(":")
    prompt = prompt.strip()
    if not colon or not prompt:
        raise TtiError("write `prompt: Attribute=1, Other=0`")
    demands = tuple(_demand(part.strip()) for part in rest.split(","))
    names = [name for demand in demands for name in demand.names]
    if len(set(names)) < len(names):
        raise TtiError("an attribute is demanded twice: delete one")
    return Expectation(prompt, demands, rare)


def _demand(text: str) -> Demand:
    names, _, value = text.rpartition("=")
    if value not in ("0", "1"):
        raise TtiError(f"{text!r} is no demand: write Attribute=1 or Attribute=0")
    parts = tuple(names.split("/"))
    for name in parts:
        if name not in INDEX:
            raise TtiError(f"{name!r} is no attribute; `ttikit.data.attributes` lists them")
    return Demand(parts, value == "1")
