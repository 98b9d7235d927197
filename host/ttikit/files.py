"""Files that are written as a whole or not at all."""

import errno
import os
from pathlib import Path


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths, through whatever links, name one file, which may not be there yet."""
    return os.path.realpath(one) == os.path.realpath(other)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path`; after a crash or a power cut it holds the old bytes or the new ones.

    Raises OSError and then leaves no part behind; what is there and no file is not replaced.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is no regular file", str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
