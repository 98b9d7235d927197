"""Instructions of the kernels on an emulated chip, and the time that a picture would take.

Counted are instructions. Seconds are modelled (`ttikit.bench.chips`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from ttikit.bench.calls import FROM_MODEL, Calls, first_part, record
from ttikit.bench.chips import Chip, Functions, open_chip
from ttikit.emulator import c_call

# Rows, columns and depth of the matrix products that are shown: a large one, and the model's.
PRODUCTS = ((64, 192, 576), (128, 192, 192), (64, 96, 192), (64, 192, 96), (64, 64, 32))


@dataclass(frozen=True)
class Cost:
    """What calls take: instructions, those of the portable C, modelled cycles, bytes fetched.

    part_cycles: cycles of the part of one core where two compute, which is the larger one; macs:
    multiplications of int8; functions: cycles by function of the C code, where they are known.
    """

    calls: int = 0
    instructions: int = 0
    portable: int = 0
    cycles: int = 0
    fetched: int = 0
    part_cycles: int = 0
    macs: int = 0
    functions: Functions = field(default_factory=Functions)

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Cost)))

    def times(self, n: int) -> Cost:
        """Return the cost of doing it n times."""
        numbers = {f.name: getattr(self, f.name) for f in fields(Cost) if f.name != "functions"}
        functions = Functions({name: cycles * n for name, cycles in self.functions.items()})
        return Cost(**{name: n * value for name, value in numbers.items()}, functions=functions)

    def seconds(self, chip: Chip, cores: int, memory: str | None = None) -> float:
        """Return the modelled time of 1 or 2 cores, which share the memory of the model."""
        cycles = self.cycles if cores == 1 else self.part_cycles
        return chip.seconds(cycles, self.fetched, memory)

    @property
    def per_16(self) -> float:
        """Cycles of one core for 16 multiplications; 0 if there are none."""
        return self.cycles * 16 / self.macs if self.macs else 0.0


@dataclass(frozen=True)
class KernelFigures:
    """Costs of matrix products by their sizes, and of a picture's ops by phase and op."""

    chip: Chip
    products: dict[tuple[int, int, int], Cost]
    picture: dict[tuple[str, str], Cost]

    @property
    def total(self) -> Cost:
        """The cost of the whole picture."""
        return sum(self.picture.values(), Cost())


class Counter:
    """Runs ops out of an ELF file and counts."""

    def __init__(self, elf: Path):
        self.chip = open_chip(elf)

    def cost(self, calls: Calls) -> Cost:
        """Return the cost of one of these calls, with the portable C beside it."""
        fast = self.chip.count(*self._placed(calls), fetching=True)
        portable = self.chip.count(*self._placed(calls, "tti_ref_")).instructions
        part = first_part(calls, self.chip.shares_columns)
        part_cycles = fast.cycles
        if part is not None:
            part_cycles = self.chip.count(*self._placed(part)).cycles
        return Cost(
            1,
            fast.instructions,
            portable,
            fast.cycles,
            fast.fetched,
            part_cycles,
            calls.macs,
            fast.functions,
        )

    def _placed(self, calls: Calls, prefix: str = "tti_") -> tuple[str, list[int]]:
        """Put the arguments into the chip's memory; returns the C function and its arguments."""
        machine = self.chip.machine
        machine.release()
        places: list[int | None] = []
        for i, argument in enumerate(calls.args):
            if i in calls.same:
                places.append(places[calls.same[i]])
            elif isinstance(argument, bytes):
                flash = i in FROM_MODEL.get(calls.op, set())
                places.append(machine.place(argument, flash=flash))
            else:
                places.append(argument)
        sizes = [len(a) if isinstance(a, bytes) else 0 for a in calls.args]
        function, arguments = c_call(calls.op, places, sizes, machine.image.symbols, prefix)
        return function, [machine.place(a) if isinstance(a, bytes) else a or 0 for a in arguments]


def product(t: int, o: int, k: int) -> Calls:
    """Return a matrix product of random numbers."""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-127, 128, n * k).astype(np.int8).tobytes() for n in (t, o))
    sx, sw, bias = (rng.random(n, np.float32).tobytes() for n in (t, o, o))
    return Calls("", "gemm_s8", [bytes(4 * t * o), x, sx, w, sw, bias, t, o, k], {}, 1)


def measure(elf: Path, model: Path, steps: int) -> KernelFigures:
    """Count the kernels in `elf` (`make -C native m33` or `lx7`, or a firmware) for a picture."""
    counter = Counter(elf)
    products = {sizes: counter.cost(product(*sizes)) for sizes in PRODUCTS}
    recording = record(model, steps)
    picture: dict[tuple[str, str], Cost] = {}
    every = list(recording.calls.values())
    for calls in track(every, description="ops", console=Console(stderr=True)):
        key = calls.phase, calls.op
        picture[key] = picture.get(key, Cost()) + counter.cost(calls).times(calls.count)
    fetched = counter.chip.fetched(recording.reads)
    if fetched is not None:
        picture = {key: replace(cost, fetched=fetched[key]) for key, cost in picture.items()}
    return KernelFigures(counter.chip, products, picture)
