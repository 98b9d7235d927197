"""Assembly sources as functions, instructions and loops, for the cycle model.

Sources go through the C preprocessor; macros of the assembler with plain arguments and `.rept`
are expanded here. Directives are passed over, so code in `.if` counts as if it were there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ttikit.pie.assemble import MARKER, split_operands, statements, without_comment
from ttikit.pie.opcodes import PieError, encode, is_pie
from ttikit.pie.pipeline import Instruction
from ttikit.pie.stages import base_name

_PREPROCESSORS = (("clang-22", "--target=xtensa"), ("cc",), ("gcc",))
_LABEL = re.compile(r"([\w.$]+):")
_NUMBERED = re.compile(r"(\d+)([fb])")

Line = tuple[str, int]  # code without comment, and the number of its line
Statement = tuple[str, str, str, int]  # labels, name, operands, number of the line
Macro = tuple[list[str], list[Line]]  # names of the arguments, and the lines


@dataclass(frozen=True)
class Loop:
    """Instructions first..last of a function that are repeated.

    hardware: by the loop instruction in front of them, not by a jump at their end."""

    first: int
    last: int
    hardware: bool

    def holds(self, other: Loop) -> bool:
        """Whether another loop is inside this one."""
        return self != other and self.first <= other.first and other.last <= self.last


@dataclass
class Function:
    """A function of a source: its instructions and the labels in front of them."""

    name: str
    code: list[Instruction] = field(default_factory=list)
    labels: list[tuple[str, int]] = field(default_factory=list)

    def target(self, label: str, at: int) -> int | None:
        """Return the instruction behind a label that instruction `at` names."""
        match = _NUMBERED.fullmatch(label)
        name = match.group(1) if match else label
        places = [place for text, place in self.labels if text == name]
        if match:
            ahead = match.group(2) == "f"
            places = [p for p in places if p > at] if ahead else [p for p in places if p <= at]
            return (places[0] if ahead else places[-1]) if places else None
        return places[0] if places else None

    def loops(self) -> list[Loop]:
        """Return the loops, inner ones before those around them."""
        found = []
        for at, instruction in enumerate(self.code):
            name = base_name(instruction.name)
            to = self.target(instruction.operands[-1], at) if instruction.operands else None
            if name.startswith("loop"):
                if to is None or to == at + 1:
                    where = "nowhere" if to is None else "where it begins"
                    raise PieError(f"line {instruction.where}: {instruction} ends {where}")
                found.append(Loop(at + 1, to - 1, hardware=True))
            elif instruction.effects.goes and to is not None and to <= at:
                found.append(Loop(to, at, hardware=False))
        return sorted(set(found), key=lambda loop: loop.last - loop.first)


def preprocess(path: Path, defines: Sequence[str] = ()) -> str:
    """Return a source after the C preprocessor, with the marks of its lines."""
    if not path.is_file():
        what = "not a file" if path.exists() else "No such file or directory"
        raise PieError(f"{path}: {what}")
    for command in _PREPROCESSORS:
        if shutil.which(command[0]):
            break
    else:
        raise PieError("there is no C preprocessor; install clang-22 or gcc")
    options = [f"-D{define}" for define in defines]
    done = subprocess.run(
        [*command, "-E", "-x", "assembler-with-cpp", *options, str(path)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise PieError(f"{path}: {next((line for line in said if 'error' in line), said[0])}")
    return done.stdout


def numbered_lines(source: str) -> Iterator[Line]:
    """Yield the lines of a source with the numbers that they had before the preprocessor."""
    number = 0
    for text in source.splitlines():
        number += 1
        marker = MARKER.match(text)
        if marker:
            number = int(marker.group(1)) - 1
        else:
            yield without_comment(text), number


def expand(lines: Iterator[Line]) -> Iterator[Statement]:
    """Yield the statements of lines, with the assembler's macros and repetitions expanded."""
    return _expand(lines, {})


def _expand(lines: Iterator[Line], macros: dict[str, Macro]) -> Iterator[Statement]:
    for text, number in lines:
        words = text.split()
        if words[:1] == [".macro"]:
            head = text.replace(",", " ").split()
            if len(head) < 2:
                raise PieError(f"line {number}: .macro has no name")
            macros[head[1]] = head[2:], list(_until(lines, ".macro", ".endm"))
            continue
        if words[:1] == [".rept"]:
            if len(words) != 2 or not words[1].isdecimal():
                raise PieError(f"line {number}: .rept takes a number")
            body = list(_until(lines, ".rept", ".endr"))
            yield from _expand(iter(int(words[1]) * body), macros)
            continue
        for labels, name, operands in statements(text):
            if name not in macros:
                yield labels, name, operands, number
                continue
            yield labels, "", "", number
            names, body = macros[name]
            values = split_operands(operands)
            replace = dict(zip((rf"\{name}" for name in names), values, strict=False))
            inside = ((_substitute(line, replace), number) for line, _ in body)
            # Not known inside of itself: no macro ends that uses itself without a condition.
            yield from _expand(inside, {n: m for n, m in macros.items() if n != name})


def _substitute(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _until(lines: Iterator[Line], opens: str, closes: str) -> Iterator[Line]:
    depth = 1
    for text, number in lines:
        word = text.split()[:1]
        depth += (word == [opens]) - (word == [closes])
        if not depth:
            return
        yield text, number


def functions(source: str) -> list[Function]:
    """Return the functions of a preprocessed source."""
    found = [Function("")]
    for labels, name, operands, number in expand(numbered_lines(source)):
        for label in _LABEL.findall(labels):
            if not label[0].isdigit() and not label.startswith(".L"):
                found.append(Function(label))
            found[-1].labels.append((label, len(found[-1].code)))
        if name and not name.startswith("."):
            instruction = Instruction(name, tuple(split_operands(operands)), number)
            _check(instruction)
            found[-1].code.append(instruction)
    return [function for function in found if function.code]


def _check(instruction: Instruction) -> None:
    try:
        instruction.effects  # noqa: B018  raises where there are no rules
        if is_pie(instruction.name):
            encode(instruction.name, list(instruction.operands))
    except PieError as error:
        raise PieError(f"line {instruction.where}: {error}") from None
