"""The flash of an emulated board: a file of the host, which QEMU maps into the board's memory.

The first part holds a ROMFS, the rest the board's own file system (littlefs), which the board
makes by itself when it finds none. board_configs/emulated/mpconfig_emulated.h has the same sizes.
"""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ttikit.board.romfs import build_romfs
from ttikit.errors import TtiError

FLASH_BYTES = 16 * 1024 * 1024
ROMFS_BYTES = 12 * 1024 * 1024
ERASED = b"\xff"


def write_flash(path: Path, rom: Mapping[str, bytes]) -> None:
    """Put the files `rom`, by path, into the ROMFS of the flash file at `path`.

    A missing file is made, with an empty file system; the file system of an existing one is kept.
    Raises TtiError if the files are too large, `path` is no flash file, or a board uses it.
    """
    image = build_romfs(rom)
    if len(image) > ROMFS_BYTES:
        raise TtiError(
            f"the files for /rom take {len(image):,} bytes, and the emulated board has "
            f"{ROMFS_BYTES:,}; leave some out"
        )
    if not path.exists():
        path.write_bytes(ERASED * FLASH_BYTES)
    elif path.stat().st_size != FLASH_BYTES:
        raise TtiError(f"{path} is no flash of an emulated board; name another file or delete it")
    with open_flash(path) as file:
        file.write(image + ERASED * (ROMFS_BYTES - len(image)))


def open_flash(path: Path) -> IO[bytes]:
    """Open a flash file and keep others from it until it is closed; TtiError if it is in use."""
    file = path.open("r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise TtiError(f"another emulated board runs with {path}; stop it first") from None
    return file
