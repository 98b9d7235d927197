"""Where things lie in the flash of an ESP32-S3 N16R8: the numbers of partitions.csv, in bytes.

Run as a script it prints the address of the ROMFS.
"""

from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).resolve().parent / "partitions.csv"
FLASH_BYTES = 16 * 1024 * 1024


class Partition(NamedTuple):
    """A line of the table."""

    type: str
    offset: int
    size: int


def partitions() -> dict[str, Partition]:
    """Return the partitions by name; every one says where it begins."""
    rows = [line.split(",") for line in TABLE.read_text().splitlines() if line[0] != "#"]
    return {
        name.strip(): Partition(kind.strip(), int(offset, 0), int(size, 0))
        for name, kind, _, offset, size, *_ in rows
    }


if __name__ == "__main__":
    print(hex(partitions()["romfs"].offset))
