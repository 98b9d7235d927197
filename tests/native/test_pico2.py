"""The kernels inside the Pico 2's firmware equal numpy, on an emulated Cortex-M33."""

from itertools import islice
from pathlib import Path

import sweep
from emulated_library import EmulatedKernels, EmulatedMemory
from kernel_library import SIGNATURES
from ttikit.emulator import CortexM33, read_image


def test_kernels_of_the_firmware_equal_numpy(pico2: Path) -> None:
    machine = CortexM33(read_image(pico2 / "firmware.elf"))
    counts = sweep.run(EmulatedKernels(machine), lambda: EmulatedMemory(machine))
    assert counts.total() >= sweep.MINIMUM
    assert set(counts) == set(SIGNATURES)


def test_ops_of_two_cores_equal_numpy_on_one(pico2: Path) -> None:
    """Nothing has started core 1 here: the layer finds that out from the port."""
    machine = CortexM33(read_image(pico2 / "firmware.elf"))
    ops = {op for op in SIGNATURES if f"tti_split_{op}" in machine.image.symbols}
    assert len(ops) == 9
    cases = (case for case in islice(sweep.all_cases(), 0, None, 5) if case.op in ops)
    split = EmulatedKernels(machine, "tti_split_")
    assert set(sweep.run(split, lambda: EmulatedMemory(machine), cases)) == ops
