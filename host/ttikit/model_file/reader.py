"""Reader of model files: the same checks, in the same order, as native/core/model_file.c."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ttikit.model_file import format as f
from ttikit.model_file.format import Entry, Header, ModelFileError, Status, Tensor


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model whose structure has been checked; `verify()` also checks every byte of the data.

    `tensors` maps names, in the order of the file, to read-only views into `raw`.
    """

    raw: bytes = field(repr=False)
    header: Header = field(repr=False)
    entries: tuple[Entry, ...] = field(repr=False)
    metadata: dict[str, Any]
    tensors: dict[str, Tensor] = field(repr=False)
    path: str = ""

    def verify(self) -> None:
        """Check padding and all CRCs of the data; raise ModelFileError at the first damage."""
        try:
            _check_data(self.raw, self.header, self.entries)
        except ModelFileError as error:
            raise error.at(self.path) from None

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the values of a tensor; ModelFileError if there is none of this name."""
        if name not in self.tensors:
            raise ModelFileError(Status.NOT_FOUND, tensor=name, path=self.path)
        return self.tensors[name].values


def read_model(source: str | PathLike[str] | bytes, *, verify: bool = False) -> ModelFile:
    """Read a model from a path or from the bytes of a file and check its structure.

    With `verify` every data byte is checked too. Raises ModelFileError.
    """
    if isinstance(source, bytes):
        raw, path = source, ""
    else:
        path = str(source)
        raw = _read_bytes(path)
    try:
        header, entries = _check_structure(raw)
        metadata = _parse_metadata(raw, header)
    except ModelFileError as error:
        raise error.at(path) from None
    tensors = {entry.name: _view(raw, entry, entries) for entry in entries}
    model = ModelFile(raw, header, entries, metadata, tensors, path)
    if verify:
        model.verify()
    return model


def _read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        detail = f"the file cannot be read ({error.strerror}); check the path"
        raise ModelFileError(Status.UNREADABLE, path=path, detail=detail) from None


def _check_structure(raw: bytes) -> tuple[Header, tuple[Entry, ...]]:
    header, entries = read_head(raw, len(raw))
    _check_metadata_bytes(raw, header)
    return header, entries


def read_head(head: bytes, file_bytes: int) -> tuple[Header, tuple[Entry, ...]]:
    """Check header and directory, with which ``head`` begins, of a file of ``file_bytes``.

    Raises ModelFileError; metadata and data are not looked at.
    """
    header = _check_header(head, file_bytes)
    if len(head) < header.metadata_offset:
        raise ModelFileError(Status.TOO_SHORT)
    directory = head[header.directory_offset : header.metadata_offset]
    if zlib.crc32(directory) != header.directory_crc:
        raise ModelFileError(Status.DIRECTORY_CRC)
    entries = tuple(_unpack_entry(*fields) for fields in f.ENTRY_STRUCT.iter_unpack(directory))
    _check_entries(header, entries)
    return header, entries


def head_bytes(header: bytes, file_bytes: int) -> int:
    """Bytes of header and directory, from the first 64 bytes of a file of ``file_bytes``.

    Raises ModelFileError if those are not a header.
    """
    count = _check_signature(header).tensor_count
    if not 1 <= count <= f.MAX_TENSORS:
        _check_header(header, file_bytes)  # says what is wrong
    return f.HEADER_BYTES + count * f.ENTRY_BYTES


def _check_signature(raw: bytes) -> Header:
    if len(raw) < f.HEADER_BYTES:
        raise ModelFileError(Status.TOO_SHORT)
    magic, version, *numbers = f.HEADER_STRUCT.unpack_from(raw)
    if magic != f.MAGIC:
        raise ModelFileError(Status.TEXT_MODE if magic[1:4] == f.MAGIC[1:4] else Status.MAGIC)
    if version != f.VERSION:
        raise ModelFileError(Status.VERSION)
    body, stored = raw[: f.HEADER_BYTES - 4], raw[f.HEADER_BYTES - 4 : f.HEADER_BYTES]
    if struct.pack("<I", zlib.crc32(body)) != stored:
        raise ModelFileError(Status.HEADER_CRC)
    header = Header(*numbers)
    if header.reserved != 0:
        raise ModelFileError(Status.RESERVED)
    return header


def _check_header(raw: bytes, file_bytes: int) -> Header:
    header = _check_signature(raw)
    if file_bytes != header.file_bytes:
        short = file_bytes < header.file_bytes
        raise ModelFileError(Status.TRUNCATED if short else Status.TRAILING)
    if not 1 <= header.tensor_count <= f.MAX_TENSORS:
        raise ModelFileError(Status.COUNT)
    if not _sections_join(header):
        raise ModelFileError(Status.SECTIONS)
    return header


def _sections_join(header: Header) -> bool:
    metadata_end = header.metadata_offset + header.metadata_bytes
    return (
        header.directory_offset == f.HEADER_BYTES
        and header.directory_bytes == header.tensor_count * f.ENTRY_BYTES
        and header.metadata_offset == header.directory_offset + header.directory_bytes
        and 1 <= header.metadata_bytes <= f.MAX_METADATA_BYTES
        and header.data_offset == f.align_up(metadata_end)
        and header.data_bytes == header.file_bytes - header.data_offset
        and header.data_bytes >= f.TAIL_BYTES
    )


def _unpack_entry(*fields: Any) -> Entry:
    name, dtype, layout, scale, d0, d1, d2, d3, offset, size, crc = fields
    return Entry(name, dtype, layout, scale, (d0, d1, d2, d3), offset, size, crc)


def _check_entries(header: Header, entries: tuple[Entry, ...]) -> None:
    names: set[bytes] = set()
    expected = header.data_offset
    limit = header.file_bytes - f.TAIL_BYTES
    for entry in entries:
        status = _entry_status(entry, names, expected, limit)
        if status is not Status.OK:
            raise ModelFileError(status, tensor=entry.name)
        names.add(entry.raw_name)
        expected = f.align_up(entry.offset + entry.bytes)
    for entry in entries:
        if not _scale_suits(entry, entries):
            raise ModelFileError(Status.SCALE, tensor=entry.name)
    if expected != limit:
        raise ModelFileError(Status.TAIL)


def _entry_status(entry: Entry, names: set[bytes], expected: int, limit: int) -> Status:
    stem = entry.raw_name.rstrip(b"\0")
    if not f.NAME_PATTERN.fullmatch(stem):
        return Status.NAME
    if entry.raw_name in names:
        return Status.DUPLICATE
    if entry.dtype not in f.DTYPES:
        return Status.DTYPE
    if entry.layout != 0:
        return Status.LAYOUT
    size = entry.elements * f.DTYPES[entry.dtype][1].itemsize
    if any(entry.dims[len(entry.shape) :]) or size > f.MAX_FILE_BYTES:
        return Status.SHAPE
    if entry.bytes != size:
        return Status.BYTES
    if entry.offset != expected or entry.offset + entry.bytes > limit:
        return Status.OFFSET
    return Status.OK


def _scale_suits(entry: Entry, entries: tuple[Entry, ...]) -> bool:
    if entry.scale == f.NO_SCALE:
        return True
    if entry.scale >= len(entries) or entry.dtype == f.F32:
        return False
    scale = entries[entry.scale]
    rows = entry.shape[0] if entry.shape else 1
    return scale.dtype == f.F32 and scale.scale == f.NO_SCALE and scale.elements in (1, rows)


def _check_metadata_bytes(raw: bytes, header: Header) -> None:
    section = raw[header.metadata_offset : header.data_offset]
    if zlib.crc32(section) != header.metadata_crc:
        raise ModelFileError(Status.METADATA_CRC)
    if any(section[header.metadata_bytes :]):
        raise ModelFileError(Status.PADDING)


def _parse_metadata(raw: bytes, header: Header) -> dict[str, Any]:
    text = raw[header.metadata_offset : header.metadata_offset + header.metadata_bytes]
    try:
        metadata = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # both bad UTF-8 and bad JSON are ValueErrors
        raise ModelFileError(Status.METADATA) from None
    if not isinstance(metadata, dict):
        raise ModelFileError(Status.METADATA)
    return metadata


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _view(raw: bytes, entry: Entry, entries: tuple[Entry, ...]) -> Tensor:
    dtype = f.DTYPES[entry.dtype][1]
    values = np.frombuffer(raw, dtype, entry.elements, entry.offset).reshape(entry.shape)
    scale = None if entry.scale == f.NO_SCALE else entries[entry.scale].name
    return Tensor(values, scale)


def _check_data(raw: bytes, header: Header, entries: tuple[Entry, ...]) -> None:
    view = memoryview(raw)
    ends = [entry.offset for entry in entries[1:]] + [header.file_bytes]
    for entry, end in zip(entries, ends, strict=True):
        tensor_end = entry.offset + entry.bytes
        if zlib.crc32(view[entry.offset : tensor_end]) != entry.crc:
            raise ModelFileError(Status.TENSOR_CRC, tensor=entry.name)
        if any(view[tensor_end:end]):
            raise ModelFileError(Status.PADDING, tensor=entry.name)
    if zlib.crc32(view[header.data_offset :]) != header.data_crc:
        raise ModelFileError(Status.DATA_CRC)
