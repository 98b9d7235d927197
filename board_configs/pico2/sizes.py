"""Show what a Pico 2's firmware takes of flash and RAM; exit with 1 if it is too much.

usage: sizes.py firmware.elf [size of the ROMFS image in bytes]
"""

import subprocess
import sys

import layout

NM = "arm-none-eabi-nm"
RAM_BYTES = 520 * 1024
# What is fixed at link time: vectors, data, bss. Python's heap, which holds a picture's buffers,
# is what this and the stack leave.
STATIC_LIMIT = 28 * 1024


def symbols(elf: str) -> dict[str, int]:
    """Return the addresses of the ELF file's symbols."""
    listing = subprocess.run([NM, elf], check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in listing.splitlines())
    return {fields[2]: int(fields[0], 16) for fields in words if len(fields) == 3}


def regions(at: dict[str, int], romfs: int) -> list[tuple[str, int, int]]:
    """Return (name, bytes taken, bytes there are) of every part of flash and RAM."""
    static = at["__bss_end__"] - at["ram_vector_table"]
    data = at["__data_end__"] - at["__data_start__"]
    heap = at["__GcHeapEnd"] - at["__GcHeapStart"]
    stack = at["__StackTop"] - at["__StackBottom"]
    firmware = at["__flash_binary_end"] - layout.FLASH_BASE
    return [
        ("flash: firmware", firmware, layout.FIRMWARE_BYTES),
        ("flash: ROMFS with the model", romfs, layout.ROMFS_BYTES),
        ("flash: files", layout.FILES_BYTES, layout.FILES_BYTES),
        ("RAM: vectors, data, bss", static, STATIC_LIMIT),
        ("  of that: data, with code that runs in RAM", data, STATIC_LIMIT),
        ("RAM: stack of core 0", stack, stack),
        ("RAM: Python's heap", heap, RAM_BYTES - STATIC_LIMIT - stack),
    ]


def main() -> int:
    """Print the table; return 1 if a limit is exceeded."""
    elf, *romfs = sys.argv[1:]
    rows = regions(symbols(elf), int(romfs[0]) if romfs else 0)
    print(f"{'bytes':>55} {'limit':>19}")
    *bounded, (name, heap, least) = rows
    for row in bounded:
        print("{:<44} {:>10,} {:>19,}".format(*row))
    print(f"{name:<44} {heap:>10,} {f'at least {least:,}':>19}")
    for name, taken, limit in bounded:
        if taken > limit:
            print(f"{name.strip()} takes {taken:,} bytes; {limit:,} are allowed", file=sys.stderr)
    if heap < least:
        print(f"Python's heap has {heap:,} bytes; {least:,} are needed", file=sys.stderr)
    return int(heap < least or any(taken > limit for _, taken, limit in bounded))


if __name__ == "__main__":
    sys.exit(main())
