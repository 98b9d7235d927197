"""Write what goes into a Pico 2's flash besides the firmware, for picotool to make UF2 files of.

usage: images.py firmware.bin model.tti FOLDER
  FOLDER/romfs.bin  the read-only file system with the model as faces.tti, whole sectors
  FOLDER/full.bin   the firmware and, at its place, that file system
"""

import sys
from pathlib import Path

import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "host"))

from ttikit.board.images import model_image, padded
from ttikit.errors import TtiError


def main() -> int:
    """Write both images; return 1 if the model does not fit."""
    firmware, model, folder = map(Path, sys.argv[1:])
    try:
        romfs = model_image(model, layout.ROMFS_BYTES, "Pico 2")
    except TtiError as error:
        print(error, file=sys.stderr)
        return 1
    (folder / "romfs.bin").write_bytes(romfs)
    full = padded(firmware.read_bytes(), layout.FIRMWARE_BYTES) + romfs
    (folder / "full.bin").write_bytes(full)
    return 0


if __name__ == "__main__":
    sys.exit(main())
