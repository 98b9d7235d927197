"""The chips whose kernels are counted on an emulator: what a function costs there.

A chip is chosen by the ELF file. Counted are instructions; cycles are modelled by published rules,
and so are the times of memories.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttikit.bench.calls import Read
from ttikit.bench.traffic import Cache, fetched
from ttikit.emulator import CortexM33, Image, XtensaLX7, read_image
from ttikit.emulator.flash import LINE, LINE_CYCLES, FlashCache
from ttikit.emulator.timing import Timing
from ttikit.errors import TtiError
from ttikit.pie.program import Program

Functions = Counter[str]  # cycles by function of the C code


@dataclass(frozen=True)
class Counted:
    """A call of a function: instructions, modelled cycles, bytes fetched from the model."""

    instructions: int
    cycles: int
    fetched: int = 0
    functions: Functions = field(default_factory=Functions)


class Chip(ABC):
    """A chip with an ELF file in its memory.

    memories: where a model may lie, with the seconds that a byte of it takes on its way into the
    cache; the first is the usual place. shares_columns: two cores share the columns of a matrix
    product, not its rows (native/parallel/split.c).
    """

    name: str
    core: str
    clock: float  # Hz
    memories: dict[str, float]
    shares_columns = False
    machine: Any  # places buffers and calls functions

    @property
    def image(self) -> Image:
        """The ELF file."""
        image: Image = self.machine.image
        return image

    @abstractmethod
    def count(self, function: str, arguments: Sequence[int], *, fetching: bool = False) -> Counted:
        """Call a function and count; bytes fetched only if they are asked for."""

    def fetched(self, reads: Iterable[Read]) -> Counter[tuple[str, str]] | None:
        """Bytes fetched from the model by phase and op; None if `count` tells them."""
        return None

    def seconds(self, cycles: float, fetched: float, memory: str | None = None) -> float:
        """Return the modelled time of some cycles and of the model's way into the cache."""
        return cycles / self.clock + fetched * self.memories[memory or next(iter(self.memories))]


class Rp2350(Chip):
    """An RP2350 at 150 MHz, with the model in its flash (docs/kernels.md)."""

    name = "RP2350 at 150 MHz"
    core = "Cortex-M33"
    clock = 150e6

    def __init__(self, elf: Path):
        self.memories = {"flash": LINE_CYCLES / LINE / self.clock}
        self.machine = CortexM33(read_image(elf))
        self._timing = Timing(elf)

    def count(self, function: str, arguments: Sequence[int], *, fetching: bool = False) -> Counted:
        """Call a function and count; the cache is empty when a call begins."""
        cache = FlashCache()
        reading = self.machine.reading(cache.read) if fetching else nullcontext()
        with reading, self.machine.counting() as blocks:
            self.machine.call(function, *arguments)
        instructions = self.machine.instructions(blocks)
        return Counted(instructions, self._timing.cycles(blocks), cache.misses * LINE)


# The compiler's library on a chip is another than the emulated core's. A division: 4.47 million a
# second at 240 MHz, a published measurement.
LIBRARY = {"__divsf3": 54}


class Esp32S3(Chip):
    """An ESP32-S3 at 240 MHz, with the model in its flash or copied to its PSRAM (docs/pie.md).

    The ELF file is that of `make -C native lx7`, with lx7_counts.so beside it.
    """

    name = "ESP32-S3 at 240 MHz"
    core = "Xtensa LX7"
    clock = 240e6
    shares_columns = True
    cache = Cache(32 * 1024, 8, 64)  # board_configs/esp32_s3_n16r8/sdkconfig.board

    def __init__(self, elf: Path):
        # A line of 32 bytes takes about 259 cycles from flash (QIO, 80 MHz); PSRAM (octal, 80 MHz)
        # streams about 60 MB/s. Both are published measurements.
        self.memories = {"flash": 259 / self.clock / 32, "PSRAM": 1 / 60e6}
        image, counter = read_image(elf), elf.with_name("lx7_counts.so")
        if "pie_counts" not in image.symbols or not counter.is_file():
            raise TtiError(
                f"{elf} cannot be counted: for an Xtensa it takes the tti_lx7.elf of "
                "`make -C native lx7`, with lx7_counts.so beside it"
            )
        self.machine = XtensaLX7(image, counter)
        self._program = Program(elf)

    def count(self, function: str, arguments: Sequence[int], *, fetching: bool = False) -> Counted:
        """Call a function and count; bytes fetched are told by `fetched`."""
        with self.machine.counting() as blocks:
            self.machine.call(function, *arguments)
        counts = self._program.addresses(blocks)
        functions = self._program.cycles(counts)
        for name, cycles in LIBRARY.items():
            if name in functions:
                functions[name] = cycles * counts[self._program.names[name]]
        return Counted(blocks.total(), functions.total(), functions=functions)

    def fetched(self, reads: Iterable[Read]) -> Counter[tuple[str, str]]:
        """Bytes that the data cache fetches of the model, by phase and op."""
        return fetched(reads, self.cache)


CHIPS: dict[str, Callable[[Path], Chip]] = {"EM_ARM": Rp2350, "EM_XTENSA": Esp32S3}


def open_chip(elf: Path) -> Chip:
    """Return the chip that an ELF file is for.

    Raises:
        TtiError: the file cannot be read, or is for none of the chips.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with elf.open("rb") as file:
            machine = ELFFile(file)["e_machine"]
    except OSError as error:
        raise TtiError(f"{elf} cannot be read: {error.strerror}") from None
    except ELFError as error:
        raise TtiError(f"{elf} is not an ELF file: {error}") from None
    if machine not in CHIPS:
        raise TtiError(f"{elf} is for {machine}; there are models of {', '.join(CHIPS)}")
    return CHIPS[machine](elf)
