"""The functions of `_tti` that read a model file and name the build.

They go through `ttikit.model_file`, which checks the same things in the same order as the reader
in C, with the same sentences.
"""

import zlib
from typing import Any

import numpy as np

from ttikit.model_file import ModelFile, ModelFileError, read_model
from ttikit.model_file.format import NO_SCALE
from ttikit.simulator.arguments import Arguments

Found = tuple[int, int, int, tuple[int, ...], int]


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
    """Check header, directory and metadata of the model file in `buf`.

    Returns (offset of the metadata, its bytes, CRC-32 of the data: a fingerprint of the weights).

    Raises:
        ValueError: it is damaged; the text says where and what to do.
    """
    header = _open("model_check", buf).header
    return header.metadata_offset, header.metadata_bytes, header.data_crc


def model_verify(buf: Any) -> None:
    """Check every byte of the model file in `buf`; raises as `model_check`."""
    model = _open("model_verify", buf)
    try:
        model.verify()
    except ModelFileError as error:
        raise ValueError(str(error)) from None


def model_find(buf: Any, name: str) -> Found | None:
    """Return (offset, bytes, dtype code, shape, index of the scale tensor or −1), or None.

    Raises as `model_check`.
    """
    for entry in _open("model_find", buf).entries:
        if entry.name == name:
            scale = -1 if entry.scale == NO_SCALE else entry.scale
            return entry.offset, entry.bytes, entry.dtype, entry.shape, scale
    return None


def build() -> str:
    """Name the implementation that runs the ops."""
    return "numpy"
