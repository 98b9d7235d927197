"""What `ttikit kernels` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ttikit.bench.kernels import Cost, KernelFigures

PARTS = 2  # functions of a product that are shown
FUNCTIONS = 12  # of a picture


def _sizes(sizes: tuple[int, int, int]) -> str:
    return "×".join(map(str, sizes))


def as_dict(figures: KernelFigures) -> dict[str, Any]:
    """Return the figures for JSON."""
    total = figures.total
    return {
        "products": {
            _sizes(sizes): {
                "instructions_per_mac": cost.instructions / cost.macs,
                "portable_per_mac": cost.portable / cost.macs,
                "cycles_per_16_mac": cost.per_16,
                "functions": dict(cost.functions.most_common()),
            }
            for sizes, cost in figures.products.items()
        },
        "instructions": total.instructions,
        "portable": total.portable,
        "cycles": total.cycles,
        "fetched_bytes": total.fetched,
        "seconds": {
            memory: [total.seconds(figures.chip, cores, memory) for cores in (1, 2)]
            for memory in figures.chip.memories
        },
        "ops": {
            f"{phase} {op}": {
                "calls": cost.calls,
                "cycles": cost.cycles,
                "part_cycles": cost.part_cycles,
                "macs": cost.macs,
                "fetched_bytes": cost.fetched,
            }
            for (phase, op), cost in figures.picture.items()
        },
        "functions": dict(total.functions.most_common()),
    }


def report(figures: KernelFigures, steps: int) -> Iterator[str]:
    """Yield the lines that tell of the figures."""
    chip = figures.chip
    yield f"matrix products on one core of {chip.core}, per multiplication:"
    yield "                 instr.  portable  cycles for 16"
    for sizes, cost in figures.products.items():
        parts = [
            f"{name} {cycles * 16 / cost.macs:.2f}"
            for name, cycles in cost.functions.most_common(PARTS)
        ]
        yield (
            f"  {_sizes(sizes):12} {cost.instructions / cost.macs:8.3f}"
            f"  {cost.portable / cost.macs:8.3f} {cost.per_16:8.2f}  {', '.join(parts)}"
        )
    yield f"one picture, {steps} steps; millions, time of two cores:"
    yield (
        "  phase   op                       calls  instr.  portable  cycles"
        "  per 16 MAC  fetched      ms"
    )
    rows = sorted(figures.picture.items(), key=lambda row: -row[1].cycles)
    for (phase, op), cost in [*rows, (("", "total"), figures.total)]:
        yield _row(figures, phase, op, cost)
    if figures.total.functions:
        yield "cycles of one core by function, millions:"
    for name, cycles in figures.total.functions.most_common(FUNCTIONS):
        yield f"  {name:31} {cycles / 1e6:7.1f}"
    yield f"modelled time of a picture on {chip.name} (cycles and memory, not silicon):"
    for memory in chip.memories:
        one, two = (figures.total.seconds(chip, cores, memory) for cores in (1, 2))
        yield f"  model in {memory}: one core {one:5.2f} s    two cores {two:5.2f} s"


def _row(figures: KernelFigures, phase: str, op: str, cost: Cost) -> str:
    per_16 = f"{cost.per_16:10.2f}" if cost.macs and op != "total" else " " * 10
    return (
        f"  {phase:7} {op:23} {cost.calls:6} {cost.instructions / 1e6:7.1f}"
        f"  {cost.portable / 1e6:8.1f} {cost.cycles / 1e6:7.1f}  {per_16}"
        f"  {cost.fetched / 1e6:7.2f} {1000 * cost.seconds(figures.chip, 2):7.1f}"
    )
