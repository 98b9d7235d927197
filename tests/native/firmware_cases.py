"""Sends cases to `_tti` in the firmware and fetches the answers; run_cases.py is the other end."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from native_cases import Argument, Buffer, Case, Expression, ReadOnly, Same

RUNNER = Path(__file__).with_name("run_cases.py")


@dataclass(frozen=True)
class Answer:
    """What a call did: an exception (type and text), or contents of the written buffers."""

    error: tuple[str, str] | None
    result: str = ""
    buffers: tuple[bytes, ...] = ()


def _kind(argument: Argument) -> list[Any]:
    match argument:
        case Buffer(data, role, align):
            return ["buffer", len(data), align, role]
        case Same(index):
            return ["same", index]
        case ReadOnly(data):
            return ["readonly", len(data)]
        case Expression(source):
            return ["expression", source]
        case _:
            return ["expression", repr(argument)]


def _write(file: BinaryIO, case: Case) -> None:
    header = {"op": case.op, "args": [_kind(a) for a in case.args]}
    file.write(json.dumps(header).encode() + b"\n")
    for argument in case.args:
        if isinstance(argument, Buffer | ReadOnly):
            file.write(argument.data)


def _read(file: BinaryIO) -> Answer:
    answer = json.loads(file.readline())
    if "error" in answer:
        return Answer(tuple(answer["error"]))
    return Answer(None, answer["result"], tuple(file.read(size) for size in answer["sizes"]))


def run(
    cases: Iterable[Case], folder: Path, run_mpy: Callable[..., Any], *, locked: bool = False
) -> list[Answer]:
    """The firmware's answers, in order; AssertionError if it did not survive them.

    With `locked` an op that allocates memory answers MemoryError.
    """
    asked, answered = folder / "cases.bin", folder / "answers.bin"
    count = 0
    with asked.open("wb") as file:
        for case in cases:
            _write(file, case)
            count += 1
    done = run_mpy(RUNNER, str(asked), str(answered), str(int(locked)), timeout=120)
    assert done.rc == 0, f"the firmware ended with {done.rc}: {done.stderr or done.stdout}"
    with answered.open("rb") as file:
        return [_read(file) for _ in range(count)]
