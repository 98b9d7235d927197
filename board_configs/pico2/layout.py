"""Where things lie in a Pico 2's flash: the numbers of mpconfigboard.h, in bytes.

Run as a script it prints the address of the ROMFS.
"""

import re
from pathlib import Path

FLASH_BASE = 0x10000000
FLASH_BYTES = 4 * 1024 * 1024


def _configured(name: str) -> int:
    text = (Path(__file__).resolve().parent / "mpconfigboard.h").read_text()
    (kilobytes,) = re.findall(rf"^#define {name} +\((\d+) \* 1024\)$", text, re.MULTILINE)
    return int(kilobytes) * 1024


FILES_BYTES = _configured("MICROPY_HW_FLASH_STORAGE_BYTES")
ROMFS_BYTES = _configured("MICROPY_HW_ROMFS_BYTES")
FILES_BASE = FLASH_BASE + FLASH_BYTES - FILES_BYTES
ROMFS_BASE = FILES_BASE - ROMFS_BYTES
FIRMWARE_BYTES = ROMFS_BASE - FLASH_BASE

if __name__ == "__main__":
    print(hex(ROMFS_BASE))
