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
    static, heap = at["_sheap"] - at["_sdata"], at["_eheap"] - at["_sheap"]
    stack = at["_estack"] - at["_sstack"]
    for name, size in (
        ("flash: code and constants", at["_sidata"] - at["vectors"] + data),
        ("RAM: data and bss", static),
        ("  of that data, with code that runs in RAM", data),
        ("RAM: Python's heap", heap),
        ("RAM: stack", stack),
        ("RAM: all of it", static + heap + stack),
    ):
        print(f"{name:<44} {size:>9,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
