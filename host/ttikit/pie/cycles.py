"""The report of `ttikit pie cycles`: where an assembly source waits, and what its loops cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ttikit.pie.pipeline import TAKEN, Round, Wait, run, steady_round
from ttikit.pie.source import Function, Loop


@dataclass(frozen=True)
class LoopCost:
    """One loop of a function: its instructions without those of inner loops, and a round."""

    loop: Loop
    lines: tuple[int, int]
    instructions: int
    round: Round


@dataclass(frozen=True)
class FunctionCost:
    """A function: the wait of each instruction, its loops, and what is outside of them."""

    function: Function
    waits: list[Wait]
    loops: list[LoopCost]
    outside: Round


def cost(function: Function) -> FunctionCost:
    """Model a function; loops in their steady state, the rest as if it ran through once."""
    code = function.code
    straight = run(code)
    waits = list(straight.waits)
    loops = function.loops()
    costs = []
    for loop in loops:
        inner = {i for o in loops if loop.holds(o) for i in range(o.first, o.last + 1)}
        own = [i for i in range(loop.first, loop.last + 1) if i not in inner]
        steady = steady_round([code[i] for i in own], 0 if loop.hardware else TAKEN)
        for i, wait in zip(own, steady.waits, strict=True):
            waits[i] = wait
        lines = code[loop.first].where, code[loop.last].where
        costs.append(LoopCost(loop, lines, len(own), steady))
    looped = {i for loop in loops for i in range(loop.first, loop.last + 1)}
    outside = run([c for i, c in enumerate(code) if i not in looped])
    return FunctionCost(function, waits, costs, outside)


def report(found: FunctionCost) -> Iterator[str]:
    """Yield the lines that tell of a function."""
    yield f"{found.function.name}:"
    depth = [
        sum(c.loop.first <= i <= c.loop.last for c in found.loops)
        for i in range(len(found.function.code))
    ]
    for instruction, wait, inside in zip(found.function.code, found.waits, depth, strict=True):
        mark = f"+{wait.cycles} {wait.register}" if wait.cycles else ""
        yield f"{instruction.where:6} {mark:12} {'| ' * inside}{instruction}"
    for loop in found.loops:
        yield "  " + _summary(loop)
    yield f"  outside of loops: {_sum(found.outside, len(found.outside.waits))}"


def _summary(loop: LoopCost) -> str:
    kind = "zero-overhead loop" if loop.loop.hardware else "loop"
    return f"{kind}, lines {loop.lines[0]}-{loop.lines[1]}: {_sum(loop.round, loop.instructions)}"


def _sum(total: Round, instructions: int) -> str:
    waits = sum(wait.cycles for wait in total.waits)
    text = f"{instructions} instructions, {total.cycles} cycles, {waits} of them waiting"
    return text + (f"; {total.per_16:.2f} cycles per 16 MAC" if total.macs else "")


def as_json(found: FunctionCost) -> dict[str, object]:
    """Return the figures of a function."""
    return {
        "function": found.function.name,
        "loops": [
            {
                "lines": loop.lines,
                "hardware": loop.loop.hardware,
                "instructions": loop.instructions,
                "cycles": loop.round.cycles,
                "macs": loop.round.macs,
                "cycles_per_16_mac": loop.round.per_16,
            }
            for loop in found.loops
        ],
        "cycles_outside": found.outside.cycles,
    }
