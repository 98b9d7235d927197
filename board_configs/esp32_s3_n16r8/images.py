"""Write what goes into an ESP32-S3's flash, and show how full that gets.

usage: images.py FOLDER model.tti
  FOLDER/firmware.bin           what the port has built: bootloader, partition table, MicroPython
  FOLDER/tti-esp32s3.bin        the same; all of these files are written from address 0 on, but
  FOLDER/tti-esp32s3-model.bin  the read-only file system with the model, which has its own address
  FOLDER/tti-esp32s3-full.bin   the firmware and, at its place, that file system
"""

import sys
from pathlib import Path

import layout

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "host"))

from ttikit.board.images import model_image, padded
from ttikit.errors import TtiError


def show(parts: dict[str, layout.Partition], taken: dict[str, int]) -> None:
    """Print the partitions with what is in them."""
    print(f"{'bytes':>40} {'limit':>12} {'from':>9}")
    for name, part in parts.items():
        used = f"{taken[name]:,}" if name in taken else ""
        print(f"flash: {name:<20} {used:>12} {part.size:>12,} {part.offset:#9x}")


def main() -> int:
    """Write the images; return 1 if something does not fit."""
    folder, model = map(Path, sys.argv[1:])
    parts = layout.partitions()
    romfs, app = parts["romfs"], parts["factory"]
    firmware = (folder / "firmware.bin").read_bytes()
    taken = len(firmware) - app.offset
    try:
        image = model_image(model, romfs.size, "ESP32-S3 N16R8")
        if taken > app.size:
            raise TtiError(
                f"MicroPython takes {taken:,} bytes; the partition factory has {app.size:,}: move "
                f"the others in {layout.TABLE}"
            )
    except TtiError as error:
        print(error, file=sys.stderr)
        return 1
    (folder / "tti-esp32s3.bin").write_bytes(firmware)
    (folder / "tti-esp32s3-model.bin").write_bytes(image)
    (folder / "tti-esp32s3-full.bin").write_bytes(padded(firmware, romfs.offset) + image)
    show(parts, {"factory": taken, "romfs": len(image)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
