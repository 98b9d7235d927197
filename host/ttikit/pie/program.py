"""Cycles of a program for the ESP32-S3, from how often each of its instructions was executed.

Instructions wait as in `ttikit.pie.pipeline`: those of a zero-overhead loop as in its first round
once each time that it is entered and as in its steady state otherwise, all others for what came
before them in the source; what is jumped to waits for nothing. A jump that is taken costs two
cycles, and one more if the instruction that it goes to lies across two words of memory (Xtensa
ISA manual, 8.4.2). Not modelled: exceptions of register windows, caches, full write buffers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttikit.errors import TtiError
from ttikit.pie.assemble import split_operands
from ttikit.pie.pipeline import TAKEN, Instruction, Pipeline, run, steady_round
from ttikit.pie.stages import base_name

_RELATIVE = re.compile(r"\. ([+-]0?x?[0-9a-f]+)")


@dataclass(frozen=True)
class Placed:
    """An instruction in memory."""

    instruction: Instruction
    size: int

    @property
    def address(self) -> int:
        """Where it begins."""
        return self.instruction.where

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.address + self.size

    @property
    def goes(self) -> str:
        """Whether it jumps: "branch" if it may, "jump" if it does."""
        return self.instruction.effects.goes

    @property
    def returns(self) -> bool:
        """Whether a jump comes back to the instruction behind it."""
        return base_name(self.instruction.name).startswith("call")

    @property
    def target(self) -> int | None:
        """Where it jumps to, or where its loop ends; None for calls and addresses in registers."""
        operands = self.instruction.operands
        match = _RELATIVE.fullmatch(operands[-1]) if operands and not self.returns else None
        return self.address + int(match.group(1), 0) if match else None

    @property
    def refill(self) -> int:
        """Cycles lost by a jump to it."""
        return TAKEN + (self.address % 4 + self.size > 4)


@dataclass
class Routine:
    """A function: its instructions in order, and how long each waits."""

    name: str
    code: list[Placed]
    _jumps_to: Counter[int] = field(init=False)  # how many instructions jump to an address
    _first: list[int] = field(init=False)
    _steady: dict[int, int] = field(init=False)  # by the place in `code`
    _entry: dict[int, int] = field(init=False)  # place of the loop instruction, likewise

    def __post_init__(self) -> None:
        self.at = {placed.address: i for i, placed in enumerate(self.code)}
        self._jumps_to = Counter(
            placed.target for placed in self.code if placed.goes and placed.target is not None
        )
        self._first = self._straight()
        self._steady, self._entry = {}, {}
        for i, placed in enumerate(self.code):
            if base_name(placed.instruction.name).startswith("loop") and placed.target:
                body = [j for j, p in enumerate(self.code) if i < j and p.address < placed.target]
                steady = steady_round([self.code[j].instruction for j in body])
                for j, wait in zip(body, steady.waits, strict=True):
                    self._steady[j] = wait.cycles
                    self._entry[j] = i

    def _straight(self) -> list[int]:
        waits = []
        pipeline = Pipeline()
        for placed in self.code:
            waits.append(run([placed.instruction], pipeline).waits[0].cycles)
            if placed.goes == "jump":
                pipeline = Pipeline()
        return waits

    def cycles(self, counts: Mapping[int, int]) -> int:
        """Return the cycles of this function, given executions by address."""
        taken = self.taken(counts)
        total = 0
        for i, placed in enumerate(self.code):
            n = counts.get(placed.address, 0)
            came = n  # from the instruction before
            if i in self._entry:
                came = min(n, counts.get(self.code[self._entry[i]].address, 0))
            elif self._jumps_to[placed.address] and i:
                came = min(n, counts.get(self.code[i - 1].address, 0) - taken[i - 1])
            waits = came * self._first[i] + (n - came) * self._steady.get(i, 0)
            total += n * placed.instruction.effects.holds + waits
        return total + sum(self._lost(counts, taken))

    def _lost(self, counts: Mapping[int, int], taken: Mapping[int, int]) -> Iterator[int]:
        """Cycles lost by jumps."""
        for i, placed in enumerate(self.code):
            if not placed.goes:
                continue
            lost = TAKEN
            if placed.target in self.at:
                lost = self.code[self.at[placed.target]].refill
            yield taken[i] * lost
            if placed.returns and i + 1 < len(self.code):
                crosses = self.code[i + 1].refill - TAKEN
                yield counts.get(placed.address, 0) * crosses

    def taken(self, counts: Mapping[int, int]) -> dict[int, int]:
        """Return how often each jump was taken, by its place; where counts do not tell, always."""
        found = {}
        for i, placed in enumerate(self.code):
            n = counts.get(placed.address, 0)
            found[i] = n if placed.goes else 0
            if placed.goes == "branch":
                if not self._jumps_to[placed.end]:  # all that is run behind it came from here
                    found[i] = n - min(n, counts.get(placed.end, 0))
                elif self._jumps_to[placed.target or 0] == 1 and placed.target in self.at:
                    found[i] = min(n, self._arrived(self.at[placed.target], counts))
        return found

    def _arrived(self, i: int, counts: Mapping[int, int]) -> int:
        """How often the instruction `i` was reached by the only branch to it, at most."""
        n = counts.get(self.code[i].address, 0)
        before = self.code[i - 1] if i else None
        if before is None or before.goes or i in self._entry:
            return n  # how often it was reached otherwise is not known
        return n - min(n, counts.get(before.address, 0))


class Program:
    """The functions of an ELF file, looked at when one of their instructions has been executed."""

    def __init__(self, path: Path):
        """Read the functions that have a size.

        Raises:
            TtiError: the file is missing, or is not for Xtensa.
        """
        import capstone
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        self._tool = capstone.Cs(capstone.CS_ARCH_XTENSA, capstone.CS_MODE_XTENSA_ESP32S3)
        found: dict[int, tuple[str, bytes]] = {}
        try:
            with path.open("rb") as file:
                elf = ELFFile(file)
                if elf["e_machine"] != "EM_XTENSA":
                    raise TtiError(f"{path} is not for Xtensa but for {elf['e_machine']}")
                for symbol in _functions(elf):
                    section = elf.get_section(symbol["st_shndx"])
                    offset = symbol["st_value"] - section["sh_addr"]
                    code = section.data()[offset : offset + symbol["st_size"]]
                    found[symbol["st_value"]] = symbol.name, code
        except OSError as error:
            raise TtiError(f"{path} cannot be read: {error.strerror}") from None
        except ELFError as error:
            raise TtiError(f"{path} is not an ELF file: {error}") from None
        self._found = found
        self._starts = sorted(found)
        self._routines: dict[int, Routine] = {}

    @property
    def names(self) -> dict[str, int]:
        """Names and addresses of the functions."""
        return {self._found[start][0]: start for start in self._starts}

    def routine_at(self, address: int) -> Routine | None:
        """Return the function that an address is in."""
        i = bisect_right(self._starts, address) - 1
        if i < 0:
            return None
        start = self._starts[i]
        name, code = self._found[start]
        if address >= start + len(code):
            return None
        if start not in self._routines:
            placed = [
                Placed(Instruction(name, tuple(split_operands(text)), at), size)
                for at, size, name, text in self._tool.disasm_lite(code, start)
            ]
            self._routines[start] = Routine(name, placed)
        return self._routines[start]

    def addresses(self, blocks: Mapping[tuple[int, int], int]) -> Counter[int]:
        """Return executions by address, given those of blocks (address, bytes)."""
        counts: Counter[int] = Counter()
        for (start, size), n in blocks.items():
            routine = self.routine_at(start)
            if routine:
                for placed in routine.code[routine.at[start] :]:
                    if placed.address >= start + size:
                        break
                    counts[placed.address] += n
        return counts

    def cycles(self, counts: Mapping[int, int]) -> Counter[str]:
        """Return the cycles of each function that was executed."""
        called = {id(r): r for r in map(self.routine_at, counts) if r}
        return Counter({r.name: r.cycles(counts) for r in called.values()})


def _functions(elf: Any) -> Iterator[Any]:
    table = elf.get_section_by_name(".symtab")
    for symbol in table.iter_symbols() if table else ():
        is_function = symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]
        if is_function and symbol["st_shndx"] != "SHN_UNDEF":
            yield symbol
