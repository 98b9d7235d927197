"""The kernels inside the Pico 2's firmware equal numpy, on an emulated Cortex-M33."""

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
