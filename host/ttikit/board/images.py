"""Images of a board's flash, from firmware and model."""

from pathlib import Path

from ttikit.board.romfs import build_romfs
from ttikit.errors import TtiError

SECTOR = 4096  # bytes that the flash erases at once


def padded(image: bytes, size: int) -> bytes:
    """Return the image with erased flash after it, `size` bytes in all."""
    return image + b"\xff" * (size - len(image))


def model_image(model: Path, limit: int, board: str) -> bytes:
    """Return the ROMFS with the model as faces.tti, in whole sectors.

    Raises TtiError if the model cannot be read or takes more than the `limit` that `board` has.
    """
    try:
        romfs = build_romfs({"faces.tti": model.read_bytes()})
    except OSError as error:
        raise TtiError(f"{model} cannot be read: {error.strerror}; pass MODEL=<file>") from None
    if len(romfs) > limit:
        raise TtiError(
            f"{model} with its file system takes {len(romfs):,} bytes; the {board} has {limit:,} "
            "for it: choose a smaller MODEL"
        )
    return padded(romfs, -(-len(romfs) // SECTOR) * SECTOR)
