"""The functions of `_tti` that read a model file and name the build.

They go through `ttikit.model_file`, which checks the same things in the same order as the reader
in C, with the same sentences.
"""

import zlib
from typing import Any

import numpy as np

from ttikit.model_file import (
    ModelFile,
    ModelFileError,
    format,
    head_bytes,
    read_head,
    read_model,
)
from ttikit.simulator.arguments import Arguments

Found = tuple[int, int, int, tuple[int, ...], int]
NO_SCALE = -1


def crc32(crc: int, buf: Any) -> int:
    """Return the CRC-32 (as in zlib) of `buf` continued from `crc`, at first 0."""
    check = Arguments("crc32")
    start = check.integer("crc", crc, 0, 0xFFFFFFFF)
    return zlib.crc32(check.all("buf", buf, np.uint8).data, start)


def _open(op: str, buf: Any) -> ModelFile:
    """Parse the model file in `buf`; ValueError with one sentence if its structure is damaged."""
    data = Arguments(op).all("buf", buf, np.uint8)
    try:
        return read_model(data.tobytes())
    except ModelFileError as error:
        raise ValueError(str(error)) from None


def model_check(buf: Any) -> tuple[int, int, int]:
    """Check header, directory and metadata; (metadata offset, metadata bytes, CRC of the data).

    Raises:
        TypeError: `buf` is no buffer.
        ValueError: the model file in it is damaged; the text says where and what to do.
    """
    header = _open("model_check", buf).header
    return header.metadata_offset, header.metadata_bytes, header.data_crc


def model_head_bytes(header: Any, file_bytes: int) -> int:
    """Return the bytes of header and directory, from the first 64 of a file of `file_bytes`.

    Raises as `model_check`.
    """
    check = Arguments("model_head_bytes")
    data = check.all("header", header, np.uint8)
    size = check.integer("file_bytes", file_bytes, 0, 0xFFFFFFFF)
    try:
        return head_bytes(data.tobytes(), size)
    except ModelFileError as error:
        raise ValueError(str(error)) from None


def model_check_head(head: Any, file_bytes: int) -> tuple[int, int, int, int, int]:
    """Check header and directory, with which `head` begins, of a file of `file_bytes`.

    Returns (metadata offset, metadata bytes, CRC of those and the padding after them, data
    offset, CRC of the data); raises as `model_check`.
    """
    check = Arguments("model_check_head")
    data = check.all("head", head, np.uint8)
    size = check.integer("file_bytes", file_bytes, 0, 0xFFFFFFFF)
    try:
        header, _ = read_head(data.tobytes(), size)
    except ModelFileError as error:
        raise ValueError(str(error)) from None
    return (
        header.metadata_offset,
        header.metadata_bytes,
        header.metadata_crc,
        header.data_offset,
        header.data_crc,
    )


def model_verify(buf: Any) -> None:
    """Check every byte of the model file in `buf`; raises as `model_check`."""
    model = _open("model_verify", buf)
    try:
        model.verify()
    except ModelFileError as error:
        raise ValueError(str(error)) from None


def model_find(buf: Any, name: str) -> Found | None:
    """Return (offset, bytes, dtype code, shape, index of the scale tensor or −1) of a tensor.

    None if the file has no tensor of this name. Offsets count from the start of the file. A
    look-up is quick: it trusts a directory behind an intact header, which `model_check` has seen.

    Raises:
        TypeError: `buf` is no buffer or `name` no string.
        ValueError: the header is damaged.
    """
    head = Arguments("model_find").all("buf", buf, np.uint8).data
    if not isinstance(name, str):
        raise TypeError("model_find: name must be a string")
    wanted = name.encode().ljust(format.NAME_FIELD, b"\0")
    for at in _entry_offsets(head):
        if head[at : at + format.NAME_FIELD] == wanted:
            _, dtype, _, scale, *dims, offset, size, _ = format.ENTRY_STRUCT.unpack_from(head, at)
            shape = tuple(dims[: [*dims, 0].index(0)])
            return offset, size, dtype, shape, NO_SCALE if scale == format.NO_SCALE else scale
    return None


def _entry_offsets(head: memoryview) -> range:
    """Offsets of the directory's entries; ValueError if the header is damaged."""
    if len(head) >= format.HEADER_BYTES:
        magic, version, count, *_ = format.HEADER_STRUCT.unpack_from(head)
        end = format.HEADER_BYTES + count * format.ENTRY_BYTES
        crc = zlib.crc32(head[: format.HEADER_BYTES - 4])
        stored = int.from_bytes(head[format.HEADER_BYTES - 4 : format.HEADER_BYTES], "little")
        known = magic == format.MAGIC and version == format.VERSION
        if known and crc == stored and 1 <= count <= format.MAX_TENSORS and end <= len(head):
            return range(format.HEADER_BYTES, end, format.ENTRY_BYTES)
    _open("model_find", head)  # says what is wrong
    raise ValueError("model_find: the header is damaged; copy the file again")


def build() -> tuple[tuple[str, str], ...]:
    """Return (kernel, implementation) for each kernel that boards may have a faster one of."""
    kernels = ("gemm_s8", "attention", "conv3x3_s8", "quantize", "layernorm", "gelu")
    return tuple((name, "numpy") for name in kernels)


def portable(on: bool) -> bool:
    """Boards compute with their references while this is on; numpy has nothing else.

    Returns whether it was on before.
    """
    return False
