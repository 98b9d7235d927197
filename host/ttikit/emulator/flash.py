"""Traffic of an RP2350 with its flash: what its cache does not have.

The cache has 16 KB in two ways of lines of 8 bytes. Each line is a transfer of its own: 12 clocks
for address, mode and waiting and 16 for 8 bytes over four wires, at half the system clock (RP2350
datasheet, chapters XIP and QMI; the pico-sdk's boot stage 2 for a Pico 2). The real interface goes
on with a transfer while the addresses follow each other, so this is the slow end.
"""

from __future__ import annotations

LINE = 8
WAYS = 2
SETS = 16 * 1024 // (LINE * WAYS)
LINE_CYCLES = (12 + 16) * 2


class FlashCache:
    """An empty cache that counts the lines it has to fetch."""

    def __init__(self) -> None:
        self.misses = 0
        self._sets: list[list[int]] = [[] for _ in range(SETS)]

    def read(self, address: int, size: int) -> None:
        """Note a read of `size` bytes."""
        for line in range(address // LINE, (address + size - 1) // LINE + 1):
            ways = self._sets[line % SETS]
            if line in ways:
                ways.remove(line)
            else:
                self.misses += 1
                del ways[: len(ways) - WAYS + 1]
            ways.append(line)
