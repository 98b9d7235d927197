"""ROMFS images: the read-only file system that MicroPython uses in place, in flash.

`build_romfs` writes an image in which the data of every file begin at a multiple of `align` bytes
from the image's start, so that a model in it can be used without a copy; `read_romfs` reads any
image. The image knows nothing of where it will lie: the flash has to begin at a multiple of
`align` too.

The format (described at the top of MicroPython's extmod/vfs_rom.c): a record is its kind, the
length of its payload, and the payload. Both numbers are varuints: 7 bits a byte, the highest
first, the top bit set in all bytes but the last; leading 0x80 bytes change nothing, which lets a
length have a fixed width. The image is one record that holds the others, and has an even size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ttikit.errors import TtiError

ALIGN = 16  # bytes; what a tensor of a model file needs (docs/model-file.md)

_FILESYSTEM = 0x14A6B1  # its three bytes spell RM1, with the top bits of the first two set
_UNUSED, _PADDING, _VERBATIM, _POINTER, _DIRECTORY, _FILE = range(6)

_WIDTH = 5  # bytes of a length: enough for 32 bits
_RECORD = 1 + _WIDTH  # bytes before a record's payload
_LARGEST = 1 << 32  # no number of an image is beyond it
_DEPTH = 100  # folders in folders at most


class RomfsError(TtiError):
    """A tree that no ROMFS can hold, or an image that is damaged."""


@dataclass(frozen=True)
class RomFile:
    """A file of an image: where its data begin, in bytes from the image's start, and the data."""

    offset: int
    data: bytes


def build_romfs(files: Mapping[str, bytes], align: int = ALIGN) -> bytes:
    """Return an image with `files`, by path such as "lib/a.mpy".

    The data of each begin at a multiple of `align` bytes, a power of two. Raises RomfsError if a
    path is no good or names a file and a folder at once.
    """
    if align < 1 or align & (align - 1):
        raise RomfsError(f"align must be a power of two, not {align}")
    tree: dict[str, _Node] = {}
    for path, data in files.items():
        _plant(tree, path, data)
    start = len(_varuint(_FILESYSTEM)) + _WIDTH
    body = b"".join(_entries(tree, start, align))
    if (start + len(body)) % 2:
        body += _record(_PADDING, b"", width=2)  # 3 bytes
    return _varuint(_FILESYSTEM) + _length(len(body)) + body


def read_romfs(image: bytes) -> dict[str, RomFile]:
    """Return the files of an image by path; bytes after the image's end are ignored.

    Raises RomfsError, with the offset, if the image is damaged.
    """
    kind, start, end = _read_record(image, 0, len(image))
    if kind != _FILESYSTEM:
        raise RomfsError("this is no ROMFS image; it does not begin with its three letters")
    return dict(_read_entries(image, start, end, start, ""))


_Node = bytes | dict[str, "_Node"]


def _plant(tree: dict[str, _Node], path: str, data: bytes) -> None:
    *folders, name = path.split("/")
    for part in (*folders, name):
        if not _is_name(part):
            raise RomfsError(f"a ROMFS cannot hold the path {path!r}; write it like lib/name.py")
    if len(folders) > _DEPTH:
        raise RomfsError(f"{path[:40]}… has more than {_DEPTH} folders in each other")
    for folder in folders:
        below = tree.setdefault(folder, {})
        if not isinstance(below, dict):
            raise RomfsError(
                f"{path}: {folder} is a file and a folder at once; rename one of them"
            )
        tree = below
    if name in tree:
        raise RomfsError(f"{path} is a file and a folder at once; rename one of them")
    tree[name] = bytes(data)


def _is_name(part: str) -> bool:
    return (
        part not in ("", ".", "..")
        and "\0" not in part
        and not any("\ud800" <= letter <= "\udfff" for letter in part)
    )


def _entries(tree: dict[str, _Node], position: int, align: int) -> Iterator[bytes]:
    """Give the records of a folder's entries, the first of which begins at `position`."""
    for name, node in sorted(tree.items()):
        head = _varuint(len(name.encode())) + name.encode()
        if isinstance(node, dict):
            below = b"".join(_entries(node, position + _RECORD + len(head), align))
            entry = _record(_DIRECTORY, head + below)
        else:
            padding = _padding(position + _RECORD + len(head) + _RECORD, align)
            entry = padding + _record(_FILE, head + _record(_VERBATIM, node))
        yield entry
        position += len(entry)


def _padding(position: int, align: int) -> bytes:
    """Return the record that moves what would begin at `position` to a multiple of `align`."""
    missing = -position % align
    if missing == 0:
        return b""
    while missing < _RECORD:
        missing += align
    return _record(_PADDING, bytes(missing - _RECORD))


def _record(kind: int, payload: bytes, width: int = _WIDTH) -> bytes:
    return _varuint(kind) + _length(len(payload), width) + payload


def _length(value: int, width: int = _WIDTH) -> bytes:
    digits = _varuint(value)
    if len(digits) > width:
        raise RomfsError(f"{value:,} bytes are too many for a ROMFS; leave some files out")
    return b"\x80" * (width - len(digits)) + digits


def _varuint(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(0x80 | value & 0x7F)
    return bytes(reversed(digits))


def _read_entries(
    image: bytes, start: int, end: int, base: int, folder: str
) -> Iterator[tuple[str, RomFile]]:
    """Give (path, file) of the records in image[start:end]; `base` is the image's first record."""
    if folder.count("/") > _DEPTH:
        raise RomfsError(f"the ROMFS image has more than {_DEPTH} folders in each other")
    while start < end:
        kind, payload, after = _read_record(image, start, end)
        if kind in (_DIRECTORY, _FILE):
            name, inside = _read_name(image, payload, after)
            if kind == _DIRECTORY:
                yield from _read_entries(image, inside, after, base, f"{folder}{name}/")
            else:
                offset, size = _read_data(image, inside, after, base)
                yield folder + name, RomFile(offset, image[offset : offset + size])
        elif kind == _UNUSED:
            raise RomfsError(f"the ROMFS image is damaged at byte {start:,}; build it anew")
        start = after


def _read_data(image: bytes, start: int, end: int, base: int) -> tuple[int, int]:
    """Return offset and size of a file's data; a file without a data record is empty."""
    while start < end:
        kind, payload, after = _read_record(image, start, end)
        if kind == _VERBATIM:
            return payload, after - payload
        if kind == _POINTER:
            size, payload = _read_varuint(image, payload, after)
            offset, _ = _read_varuint(image, payload, after)
            if base + offset + size > len(image):
                raise RomfsError(f"the ROMFS image ends before the data named at byte {start:,}")
            return base + offset, size
        start = after
    return end, 0


def _read_name(image: bytes, start: int, end: int) -> tuple[str, int]:
    size, start = _read_varuint(image, start, end)
    if start + size > end:
        raise RomfsError(f"the ROMFS image is damaged at byte {start:,}; build it anew")
    try:
        return image[start : start + size].decode(), start + size
    except UnicodeDecodeError:
        raise RomfsError(f"the ROMFS image has a damaged name at byte {start:,}") from None


def _read_record(image: bytes, start: int, end: int) -> tuple[int, int, int]:
    """Return kind, start and end of the payload of the record at `start`."""
    kind, position = _read_varuint(image, start, end)
    size, position = _read_varuint(image, position, end)
    if position + size > end:
        raise RomfsError(f"the ROMFS image ends inside the record at byte {start:,}")
    return kind, position, position + size


def _read_varuint(image: bytes, start: int, end: int) -> tuple[int, int]:
    value = 0
    for position in range(start, end):
        value = value << 7 | image[position] & 0x7F
        if value > _LARGEST:
            break
        if image[position] < 0x80:
            return value, position + 1
    raise RomfsError(f"the ROMFS image ends inside a number at byte {start:,}")
