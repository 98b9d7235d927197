"""Write what goes into a Pico 2's flash besides the firmware, for picotool to make UF2 files of.

usage: images.py firmware.bin model.tti FOLDER
  FOLDER/romfs.bin  the read-only file system with the model as faces.tti, whole sectors
  FOLDER/full.bin   the firmware and, at its place, that file system
"""

import sys
from pathlib import Path

import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "host"))

from ttikit.board.romfs import build_romfs

SECTOR = 4096  # bytes that the flash erases at once


def padded(image: bytes, size: int) -> bytes:
    """Return the image with erased flash after it, `size` bytes in all."""
    return image + b"\xff" * (size - len(image))


def main() -> int:
    """Write both images; return 1 if the model does not fit."""
    firmware, model, folder = map(Path, sys.argv[1:])
    romfs = build_romfs({"faces.tti": model.read_bytes()})
    if len(romfs) > layout.ROMFS_BYTES:
        print(
            f"{model} with its file system takes {len(romfs):,} bytes; the Pico 2 has "
            f"{layout.ROMFS_BYTES:,} for it: choose a smaller MODEL",
            file=sys.stderr,
        )
        return 1
    romfs = padded(romfs, -(-len(romfs) // SECTOR) * SECTOR)
    (folder / "romfs.bin").write_bytes(romfs)
    full = padded(firmware.read_bytes(), layout.FIRMWARE_BYTES) + romfs
    (folder / "full.bin").write_bytes(full)
    return 0


if __name__ == "__main__":
    sys.exit(main())
