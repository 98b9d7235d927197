"""Cycles of ESP32-S3 code: one instruction at a time, in order, waiting for its operands.

An instruction that uses a value in stage SB, which another defines in SA, begins at least
max(SA - SB + 1, 0) cycles after that one (ESP32-S3 Technical Reference Manual, 1.7.1). A jump
that is taken costs two cycles more (1.7.3), the end of a zero-overhead loop none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttikit.pie.stages import Effects, effects

TAKEN = 2  # cycles lost by a jump that is taken
_SETTLED = 12  # a loop repeats itself after fewer rounds than this


@dataclass(frozen=True)
class Instruction:
    """One instruction of a source or a program; where: its line or address."""

    name: str
    operands: tuple[str, ...]
    where: int

    @property
    def effects(self) -> Effects:
        """What it does to the pipeline."""
        return effects(self.name, self.operands)

    def __str__(self) -> str:
        return f"{self.name} {', '.join(self.operands)}".strip()


@dataclass(frozen=True)
class Wait:
    """How long an instruction waits, and for which register."""

    cycles: int = 0
    register: str = ""


class Pipeline:
    """Issues instructions and tells how long each waits."""

    def __init__(self) -> None:
        self.time = 0  # when the next instruction can begin
        self._written: dict[str, tuple[int, int]] = {}  # when, and in which stage

    def issue(self, instruction: Instruction) -> Wait:
        """Begin an instruction as soon as its operands are there."""
        does = instruction.effects
        wait = Wait()
        for register, stage in does.reads:
            if register in self._written:
                time, defined = self._written[register]
                late = time + max(defined - stage + 1, 0) - self.time
                if late > wait.cycles:
                    wait = Wait(late, register)
        begin = self.time + wait.cycles
        for register, stage in does.writes:
            self._written[register] = begin, stage
        self.time = begin + does.holds
        return wait

    def bubble(self, cycles: int) -> None:
        """Let time pass."""
        self.time += cycles


@dataclass(frozen=True)
class Round:
    """One round of a loop, or a piece of code that runs once: cycles, waits, multiplications."""

    cycles: int
    waits: tuple[Wait, ...]
    macs: int

    @property
    def per_16(self) -> float:
        """Cycles for 16 multiplications; 0 if there are none."""
        return self.cycles * 16 / self.macs if self.macs else 0.0


def run(code: Sequence[Instruction], pipeline: Pipeline | None = None, after: int = 0) -> Round:
    """Run code once; `after` cycles are lost behind it."""
    pipeline = pipeline or Pipeline()
    start = pipeline.time
    waits = tuple(pipeline.issue(instruction) for instruction in code)
    pipeline.bubble(after)
    macs = sum(instruction.effects.macs for instruction in code)
    return Round(pipeline.time - start, waits, macs)


def steady_round(code: Sequence[Instruction], after: int = 0) -> Round:
    """Run code again and again until a round is like the one before; returns that round."""
    pipeline = Pipeline()
    now = run(code, pipeline, after)
    for _ in range(_SETTLED):
        before, now = now, run(code, pipeline, after)
        if now == before:
            break
    return now
