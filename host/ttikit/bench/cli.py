"""`ttikit bench`: time and memory of a picture, the speed of the renderer; `ttikit kernels`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def bench(
    firmware: Annotated[Path, typer.Option(help="MicroPython built by `make firmware`.")],
    model: Annotated[Path, typer.Option(help="The .tti file to draw with.")],
    rounds: Annotated[int, typer.Option(min=1, help="Pictures to take the median of.")] = 7,
    render: Annotated[bool, typer.Option(help="Also measure the renderer.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure on this PC; figures of different runs or machines do not compare."""
    from ttikit.bench.memory import arena_plan
    from ttikit.bench.picture import STEPS, measure

    times = measure(firmware, model, rounds)
    plan = arena_plan(model)
    figures: dict[str, object] = {
        "firmware_seconds": times.firmware,
        "torch_seconds": times.torch,
        "ratio": times.ratio,
        "arena_bytes": plan.parts,
        "arena_text_dit_bytes": plan.text_and_dit,
    }
    if render:
        from ttikit.data.bench import bench_render

        figures["render_per_second"] = bench_render(2, 200).per_second
    if as_json:
        print(json.dumps(figures))
        return
    print(f"one picture, {STEPS} steps, one core, median of {rounds}:")
    print(f"  firmware (int8, portable C)    {times.firmware:6.3f} s")
    print(f"  torch (float32, one thread)    {times.torch:6.3f} s")
    print(f"  firmware / torch               {times.ratio:6.2f}")
    print(
        f"arena: {sum(plan.parts):,} bytes in parts of {', '.join(f'{n:,}' for n in plan.parts)}"
    )
    print(f"  text encoder and DiT alone: {plan.text_and_dit:,} bytes")
    if render:
        print(f"renderer, 2 processes: {figures['render_per_second']:.1f} pictures a second")


def kernels(
    elf: Annotated[Path, typer.Option(help="Kernels or a firmware for Cortex-M33, with symbols.")],
    model: Annotated[Path, typer.Option(help="The .tti file to draw with.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps of the picture.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Count instructions on an emulated Cortex-M33 and model the time of a picture."""
    from ttikit.bench.kernels import PRODUCT, measure

    figures = measure(elf, model, steps)
    total = figures.total
    if as_json:
        print(
            json.dumps(
                {
                    "per_mac": figures.per_mac,
                    "portable_per_mac": figures.portable_per_mac,
                    "instructions": total.instructions,
                    "portable": total.portable,
                    "flash_bytes": total.flash,
                    "seconds_one_core": total.seconds(1),
                    "seconds_two_cores": total.seconds(2),
                }
            )
        )
        return
    print(f"matrix product {'×'.join(map(str, PRODUCT))}, instructions per multiplication:")
    print(f"  Cortex-M33 {figures.per_mac:6.3f}    portable C {figures.portable_per_mac:6.3f}")
    print(f"one picture, {steps} steps, millions:")
    print("  phase   op                       calls  instr.  portable  cycles  flash bytes")
    rows = sorted(figures.picture.items(), key=lambda row: -row[1].cycles)
    for (phase, op), cost in [*rows, (("", "total"), total)]:
        print(
            f"  {phase:7} {op:23} {cost.calls:6} {cost.instructions / 1e6:7.1f}"
            f"  {cost.portable / 1e6:8.1f} {cost.cycles / 1e6:7.1f}  {cost.flash / 1e6:11.2f}"
        )
    print("modelled time of a picture on RP2350 at 150 MHz (cycles and flash, not silicon):")
    print(f"  one core {total.seconds(1):5.2f} s    two cores {total.seconds(2):5.2f} s")
