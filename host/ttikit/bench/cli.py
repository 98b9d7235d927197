"""`ttikit bench`: time and memory of a picture, the speed of the renderer; `ttikit kernels`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ttikit.options import AsJson


def bench(
    firmware: Annotated[Path, typer.Option(help="MicroPython built by `make firmware`.")],
    model: Annotated[Path, typer.Option(help="The .tti file to draw with.")],
    rounds: Annotated[int, typer.Option(min=1, help="Pictures to take the median of.")] = 7,
    render: Annotated[bool, typer.Option(help="Also measure the renderer.")] = True,
    as_json: AsJson = False,
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
    elf: Annotated[Path, typer.Option(help="Kernels or a firmware, with symbols.")],
    model: Annotated[Path, typer.Option(help="The .tti file to draw with.")],
    steps: Annotated[int, typer.Option(min=1, help="Steps of the picture.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Count instructions on an emulated chip and model the time of a picture.

    The ELF file tells which chip: a Cortex-M33 stands for an RP2350, an Xtensa for an ESP32-S3,
    for which only the kernels of `make -C native lx7` will do.
    """
    from ttikit.bench.kernel_report import as_dict, report
    from ttikit.bench.kernels import measure

    figures = measure(elf, model, steps)
    print(json.dumps(as_dict(figures)) if as_json else "\n".join(report(figures, steps)))
