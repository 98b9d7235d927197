"""What the ESP32-S3's data cache fetches of a model while a picture is drawn."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from ttikit.bench.calls import Read


@dataclass(frozen=True)
class Cache:
    """Geometry of a cache that drops the line that was used longest ago."""

    size: int
    ways: int
    line: int


def fetched(reads: Iterable[Read], cache: Cache) -> Counter[tuple[str, str]]:
    """Return the bytes fetched by phase and op.

    Each call reads its part of the model once from front to back; all other data are in SRAM,
    which has no cache.
    """
    count = cache.size // (cache.ways * cache.line)
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(count)]
    total: Counter[tuple[str, str]] = Counter()
    for read in reads:
        missed = 0
        for start, size in read.parts:
            for line in range(start // cache.line, -(-(start + size) // cache.line)):
                ways = sets[line % count]
                if line not in ways:
                    missed += 1
                    if len(ways) == cache.ways:
                        ways.popitem(last=False)
                ways[line] = None
                ways.move_to_end(line)
        total[read.phase, read.op] += missed * cache.line
    return total
