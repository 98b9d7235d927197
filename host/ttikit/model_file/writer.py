"""Writer of model files: the same tensors and metadata always give the same bytes."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ttikit.files import write_atomically
from ttikit.model_file import format as f
from ttikit.model_file.format import ModelFileError, Status, Tensor

Tensors = Mapping[str, Tensor | np.ndarray] | Iterable[tuple[str, Tensor | np.ndarray]]


def write_model(path: str | PathLike[str], tensors: Tensors, metadata: Mapping[str, Any]) -> int:
    """Write a model file atomically (temporary file beside it, then rename); return its bytes.

    `tensors` keep their order. `metadata` must survive JSON unchanged. Raises ModelFileError.
    """
    target = Path(path)
    try:
        content = encode_model(tensors, metadata)
    except ModelFileError as error:
        raise error.at(str(target)) from None
    try:
        write_atomically(target, content)
    except OSError as error:
        detail = f"the file cannot be written ({error.strerror}); check folder and free space"
        raise ModelFileError(Status.UNREADABLE, path=str(target), detail=detail) from None
    return len(content)


def encode_model(tensors: Tensors, metadata: Mapping[str, Any]) -> bytes:
    """Return the bytes of a model file. Raises ModelFileError for whatever the format forbids."""
    pairs = list(tensors.items() if isinstance(tensors, Mapping) else tensors)
    named = [(name, t if isinstance(t, Tensor) else Tensor(t)) for name, t in pairs]
    if not 1 <= len(named) <= f.MAX_TENSORS:
        detail = f"a model has 1 to {f.MAX_TENSORS} tensors, not {len(named)}"
        raise ModelFileError(Status.COUNT, detail=detail)
    _check_tensors(named)
    text = _encode_metadata(metadata)
    metadata_offset = f.HEADER_BYTES + len(named) * f.ENTRY_BYTES
    data_offset = f.align_up(metadata_offset + len(text))
    section = text.ljust(data_offset - metadata_offset, b"\0")
    directory, data = _lay_out(named, data_offset)
    file_bytes = data_offset + len(data)
    if file_bytes > f.MAX_FILE_BYTES:
        raise ModelFileError(Status.TOO_LARGE)
    header = f.HEADER_STRUCT.pack(
        *(f.MAGIC, f.VERSION, len(named), file_bytes),
        *(f.HEADER_BYTES, len(directory), metadata_offset, len(text), data_offset, len(data)),
        *(0, zlib.crc32(directory), zlib.crc32(section), zlib.crc32(data)),
    )
    return b"".join((header, struct.pack("<I", zlib.crc32(header)), directory, section, data))


def _check_tensors(named: list[tuple[str, Tensor]]) -> None:
    by_name: dict[str, Tensor] = {}
    for name, tensor in named:
        _check_name(name)
        if name in by_name:
            raise ModelFileError(Status.DUPLICATE, tensor=name)
        by_name[name] = tensor
        _check_values(name, tensor.values)
    for name, tensor in named:
        if tensor.scale is not None:
            _check_scale(name, tensor, by_name)


def _check_name(name: str) -> None:
    raw = name.encode("utf-8", "replace") if isinstance(name, str) else b""
    if not f.NAME_PATTERN.fullmatch(raw):
        detail = f"the name must be 1 to {f.MAX_NAME_BYTES} of a-z A-Z 0-9 . _ - /; rename it"
        raise ModelFileError(Status.NAME, tensor=str(name), detail=detail)


def _check_values(name: str, values: np.ndarray) -> None:
    kind = values.dtype.newbyteorder("<") if isinstance(values, np.ndarray) else None
    if kind not in f.DTYPE_CODES:
        known = ", ".join(dtype.name for dtype in f.DTYPE_CODES)
        have = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
        detail = f"the element type {have} is none of {known}; convert it first"
        raise ModelFileError(Status.DTYPE, tensor=name, detail=detail)
    if values.ndim > f.MAX_RANK or values.size == 0:
        detail = f"the shape {values.shape} must have at most {f.MAX_RANK} axes and no empty one"
        raise ModelFileError(Status.SHAPE, tensor=name, detail=detail)
    if values.nbytes > f.MAX_FILE_BYTES:
        raise ModelFileError(Status.TOO_LARGE, tensor=name)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ModelFileError(Status.VALUES, tensor=name)


def _check_scale(name: str, tensor: Tensor, by_name: dict[str, Tensor]) -> None:
    def refuse(why: str) -> ModelFileError:
        return ModelFileError(
            Status.SCALE, tensor=name, detail=f"its scale tensor {tensor.scale} {why}"
        )

    scale = by_name.get(tensor.scale or "")
    if scale is None:
        raise refuse("is not in the model; add it")
    if tensor.values.dtype.kind == "f":
        raise refuse("belongs to integers only; drop it from this float32 tensor")
    if scale.values.dtype.kind != "f" or scale.scale is not None:
        raise refuse("must be float32 and have no scale itself")
    rows = tensor.values.shape[0] if tensor.values.ndim else 1
    if scale.values.size not in (1, rows):
        raise refuse(f"must hold 1 or {rows} values, not {scale.values.size}")
    if (scale.values < 0).any():
        raise refuse("holds a negative value; scales are 0 or more")


def _encode_metadata(metadata: Mapping[str, Any]) -> bytes:
    try:
        plain = dict(metadata)
        text = json.dumps(
            plain, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
        raw = text.encode("utf-8")
        unchanged = json.loads(text) == plain
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"the metadata is no JSON object ({error}); use text, numbers, lists and dicts"
        raise ModelFileError(Status.METADATA, detail=detail) from None
    if not unchanged:
        detail = "the metadata changes in JSON; use text keys and lists instead of tuples"
        raise ModelFileError(Status.METADATA, detail=detail)
    if len(raw) > f.MAX_METADATA_BYTES:
        detail = f"the metadata takes {len(raw)} bytes; at most {f.MAX_METADATA_BYTES} fit"
        raise ModelFileError(Status.METADATA, detail=detail)
    return raw


def _lay_out(named: list[tuple[str, Tensor]], data_offset: int) -> tuple[bytes, bytes]:
    """Return the directory and the data section with all its padding."""
    index = {name: i for i, (name, _) in enumerate(named)}
    directory: list[bytes] = []
    data = bytearray()
    for name, tensor in named:
        values = tensor.values
        kind = values.dtype.newbyteorder("<")
        content = values.astype(kind, copy=False).tobytes(order="C")
        offset = data_offset + len(data)
        if offset + len(content) + f.TAIL_BYTES > f.MAX_FILE_BYTES:
            raise ModelFileError(Status.TOO_LARGE)
        scale = f.NO_SCALE if tensor.scale is None else index[tensor.scale]
        dims = (*values.shape, 0, 0, 0, 0)[: f.MAX_RANK]
        directory.append(
            f.ENTRY_STRUCT.pack(
                *(name.encode("ascii"), f.DTYPE_CODES[kind], 0, scale, *dims),
                *(offset, len(content), zlib.crc32(content)),
            )
        )
        data += content
        data += bytes(f.align_up(len(data)) - len(data))
    return b"".join(directory), bytes(data) + bytes(f.TAIL_BYTES)
