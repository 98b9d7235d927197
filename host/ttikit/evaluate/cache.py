"""Pictures kept between evaluations: a file of fixed records per setting, appended to.

A record is a 16-byte key (of prompt and seed), the 12,288 bytes of the picture and a CRC-32 of
both. A program that is stopped leaves at most one record unfinished; damaged records are dropped
when a file is opened.
"""

from __future__ import annotations

import fcntl
import hashlib
import zlib
from pathlib import Path
from typing import BinaryIO

from ttikit.errors import TtiError
from ttikit.evaluate.firmware import PICTURE_BYTES, Job
from ttikit.files import write_atomically

KEY = 16
CRC = 4
RECORD = KEY + PICTURE_BYTES + CRC


class PictureCache:
    """The pictures of one model in `folder`, by job. One program at a time may use it."""

    def __init__(self, folder: Path) -> None:
        """Open or make the folder; TtiError if that is impossible or another program is in it."""
        self.folder = folder
        self._known: dict[Path, dict[bytes, int]] = {}
        self._files: dict[Path, BinaryIO] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / "lock").open("wb")
        except OSError as error:
            raise TtiError(f"{error}: choose another folder with --cache") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise TtiError(
                f"another evaluation is using {folder}: wait for it, or give another --cache"
            ) from None

    def __contains__(self, job: Job) -> bool:
        return _key(job) in self._index(self._path(job))

    def get(self, job: Job) -> bytes | None:
        """Return the picture, or None if it is not there whole."""
        path = self._path(job)
        at = self._index(path).get(_key(job))
        if at is None:
            return None
        file = self._open(path)
        file.seek(at)
        return _checked(file.read(RECORD), _key(job))

    def put(self, job: Job, picture: bytes) -> None:
        """Keep a picture of 12,288 bytes."""
        path = self._path(job)
        index = self._index(path)
        head = _key(job) + picture
        file = self._open(path)
        file.seek(0, 2)
        at = file.tell()
        file.write(head + zlib.crc32(head).to_bytes(CRC, "little"))
        file.flush()
        index[_key(job)] = at

    def forget(self, job: Job) -> None:
        """Drop all pictures of the job's setting."""
        path = self._path(job)
        if path in self._files:
            self._files.pop(path).close()
        path.unlink(missing_ok=True)
        self._known[path] = {}

    def close(self) -> None:
        """Let other programs use the folder."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._lock.close()

    def __enter__(self) -> PictureCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, job: Job) -> Path:
        return self.folder / f"steps{job.steps}-guidance{job.guidance}.pictures"

    def _open(self, path: Path) -> BinaryIO:
        if path not in self._files:
            self._files[path] = path.open("a+b")
        return self._files[path]

    def _index(self, path: Path) -> dict[bytes, int]:
        if path not in self._known:
            self._known[path] = _mended(path)
        return self._known[path]


def _key(job: Job) -> bytes:
    text = f"{job.seed} {job.prompt}"
    return hashlib.blake2b(text.encode(), digest_size=KEY).digest()


def _checked(record: bytes, key: bytes | None = None) -> bytes | None:
    """Return the picture of a record, or None if the record is damaged or of another key."""
    body, crc = record[:-CRC], record[-CRC:]
    if len(record) != RECORD or zlib.crc32(body) != int.from_bytes(crc, "little"):
        return None
    return None if key is not None and body[:KEY] != key else body[KEY:]


def _mended(path: Path) -> dict[bytes, int]:
    """Return where each record of a file begins, after dropping what is damaged in it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    records = [content[at : at + RECORD] for at in range(0, len(content), RECORD)]
    whole = [record for record in records if _checked(record) is not None]
    if len(whole) < len(records):
        write_atomically(path, b"".join(whole))
    return {record[:KEY]: i * RECORD for i, record in enumerate(whole)}
