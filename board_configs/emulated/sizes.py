"""Show what an emulated board's firmware takes of flash and RAM.

usage: sizes.py NM firmware.elf
"""

import subprocess
import sys


def main(nm: str, elf: str) -> None:
    """Print bytes of flash and of every part of RAM."""
    listing = subprocess.run([nm, elf], check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in listing.splitlines())
    at = {fields[2]: int(fields[0], 16) for fields in words if len(fields) == 3}
    data = at["_edata"] - at["_sdata"]
    for name, size in (
        ("flash: code and constants", at["_sidata"] - at["vectors"] + data),
        ("RAM: data and bss", at["_sheap"] - at["_sdata"]),
        ("  of that data, with code that runs in RAM", data),
        ("RAM: Python's heap", at["_eheap"] - at["_sheap"]),
        ("RAM: stack", at["_estack"] - at["_sstack"]),
        ("RAM: all of it", at["_estack"] - at["_sdata"]),
    ):
        print(f"{name:<44} {size:>9,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
