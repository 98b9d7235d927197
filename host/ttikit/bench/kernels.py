"""Instructions of the kernels on an emulated Cortex-M33, and the time that a picture would take.

Counted are instructions. Seconds are modelled: counts, times published cycles of each kind of
instruction (`ttikit.emulator.timing`), plus the traffic with the flash (`ttikit.emulator.flash`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from rich.progress import track

from ttikit.bench.calls import FROM_MODEL, Calls, first_part, record
from ttikit.emulator import CortexM33, c_arguments, read_image
from ttikit.emulator.flash import LINE, LINE_CYCLES, FlashCache
from ttikit.emulator.timing import Timing

CLOCK = 150e6  # Hz, RP2350
PRODUCT = (64, 192, 576)  # rows, columns and depth of the matrix product that is compared


@dataclass(frozen=True)
class Cost:
    """What calls take: instructions, those of the portable C, modelled cycles, bytes of flash.

    part_cycles: cycles of the part of one core where two compute, which is the larger one."""

    calls: int = 0
    instructions: int = 0
    portable: int = 0
    cycles: int = 0
    flash: int = 0
    part_cycles: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Cost)))

    def times(self, n: int) -> Cost:
        """Return the cost of doing it n times."""
        return Cost(*(getattr(self, f.name) * n for f in fields(Cost)))

    def seconds(self, cores: int) -> float:
        """Return the modelled time of 1 or 2 cores, which share one flash."""
        cycles = self.cycles if cores == 1 else self.part_cycles
        return (cycles + self.flash / LINE * LINE_CYCLES) / CLOCK


@dataclass(frozen=True)
class KernelFigures:
    """Instructions per multiplication of a matrix product, and the cost of a picture's ops."""

    per_mac: float
    portable_per_mac: float
    picture: dict[tuple[str, str], Cost]  # by phase and op

    @property
    def total(self) -> Cost:
        """The cost of the whole picture."""
        return sum(self.picture.values(), Cost())


class Counter:
    """Runs ops out of an ELF file and counts."""

    def __init__(self, elf: Path):
        self.machine = CortexM33(read_image(elf))
        self.timing = Timing(elf)

    def cost(self, calls: Calls) -> Cost:
        """Return the cost of one of these calls, with the portable C beside it."""
        cache = FlashCache()
        with self.machine.reading(cache.read):
            instructions, cycles = self._run(calls, f"tti_{calls.op}")
        reference = f"tti_ref_{calls.op}"
        portable = instructions
        if reference in self.machine.image.symbols:
            portable, _ = self._run(calls, reference)
        part = first_part(calls)
        part_cycles = cycles if part is None else self._run(part, f"tti_{calls.op}")[1]
        return Cost(1, instructions, portable, cycles, cache.misses * LINE, part_cycles)

    def _run(self, calls: Calls, function: str) -> tuple[int, int]:
        """Instructions and cycles of one call."""
        machine = self.machine
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
        arguments = [
            machine.place(a) if isinstance(a, bytes) else a or 0
            for a in c_arguments(calls.op, places, sizes)
        ]
        with machine.counting() as blocks:
            machine.call(function, *arguments)
        return machine.instructions(blocks), self.timing.cycles(blocks)


def product(t: int, o: int, k: int) -> Calls:
    """Return a matrix product of random numbers."""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-127, 128, n * k).astype(np.int8).tobytes() for n in (t, o))
    sx, sw, bias = (rng.random(n, np.float32).tobytes() for n in (t, o, o))
    return Calls("", "gemm_s8", [bytes(4 * t * o), x, sx, w, sw, bias, t, o, k], {}, 1)


def measure(elf: Path, model: Path, steps: int) -> KernelFigures:
    """Count the kernels in `elf` (`make -C native m33`, or a firmware) for a picture."""
    counter = Counter(elf)
    whole = counter.cost(product(*PRODUCT))
    macs = PRODUCT[0] * PRODUCT[1] * PRODUCT[2]
    picture: dict[tuple[str, str], Cost] = {}
    for calls in track(record(model, steps), description="ops"):
        key = calls.phase, calls.op
        picture[key] = picture.get(key, Cost()) + counter.cost(calls).times(calls.count)
    return KernelFigures(whole.instructions / macs, whole.portable / macs, picture)
