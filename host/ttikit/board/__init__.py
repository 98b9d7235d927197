"""Boards: the emulated one, and the images that go into a board's flash."""

from ttikit.board.emulator import BoardError, EmulatedBoard
from ttikit.board.flash import write_flash
from ttikit.board.romfs import RomFile, RomfsError, build_romfs, read_romfs

__all__ = [
    "BoardError",
    "EmulatedBoard",
    "RomFile",
    "RomfsError",
    "build_romfs",
    "read_romfs",
    "write_flash",
]
