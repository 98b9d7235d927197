"""Constants, records and errors that the writer and the reader of model files share.

Everything is little-endian. Numbers of statuses, types and limits equal those of
native/core/model_file.h; tests compare them.
"""

from __future__ import annotations

import enum
import math
import re
import struct
from dataclasses import dataclass

import numpy as np

from ttikit.errors import TtiError

MAGIC = b"\x89TTI\r\n\x1a\n"
VERSION = 1
HEADER_BYTES = 64
ENTRY_BYTES = 64
NAME_FIELD = 32
MAX_NAME_BYTES = 31
MAX_TENSORS = 1024
MAX_METADATA_BYTES = 65536
MAX_RANK = 4
MAX_FILE_BYTES = 0xFFFFFFFF
ALIGN = 16
TAIL_BYTES = 32
NO_SCALE = 0xFFFF

NAME_PATTERN = re.compile(rb"[A-Za-z0-9._/-]{1,31}")

# Code in the file → (short name, numpy type).
DTYPES: dict[int, tuple[str, np.dtype]] = {
    1: ("s8", np.dtype("<i1")),
    2: ("u8", np.dtype("<u1")),
    3: ("s16", np.dtype("<i2")),
    4: ("u16", np.dtype("<u2")),
    5: ("s32", np.dtype("<i4")),
    6: ("u32", np.dtype("<u4")),
    7: ("f32", np.dtype("<f4")),
}
F32 = 7
DTYPE_CODES: dict[np.dtype, int] = {dtype: code for code, (_, dtype) in DTYPES.items()}


class Status(enum.IntEnum):
    """What is wrong with a model file; up to 25 the numbers of the reader in C.

    The codes from 64 on are those that only the PC can find.
    """

    OK = 0
    TOO_SHORT = 1
    MAGIC = 2
    TEXT_MODE = 3
    VERSION = 4
    HEADER_CRC = 5
    RESERVED = 6
    TRUNCATED = 7
    TRAILING = 8
    COUNT = 9
    SECTIONS = 10
    DIRECTORY_CRC = 11
    NAME = 12
    DUPLICATE = 13
    DTYPE = 14
    LAYOUT = 15
    SHAPE = 16
    BYTES = 17
    OFFSET = 18
    TAIL = 19
    SCALE = 20
    METADATA_CRC = 21
    PADDING = 22
    TENSOR_CRC = 23
    DATA_CRC = 24
    NOT_FOUND = 25
    METADATA = 64
    VALUES = 65
    TOO_LARGE = 66
    UNREADABLE = 67

    @property
    def text(self) -> str:
        """One English sentence, the same as `tti_status_text()` gives on a board."""
        return _TEXTS[self]


_AGAIN = "the file is damaged, copy it again"
_EXPORT = "export the model again"

_TEXTS: dict[Status, str] = {
    Status.OK: "the model file is in order",
    Status.TOO_SHORT: "the file is too short for a model file; copy it again",
    Status.MAGIC: "this is not a tti model file; give the path of a .tti file",
    Status.TEXT_MODE: "the signature was changed on the way; copy the file again in binary mode",
    Status.VERSION: f"the file has another format version; {_EXPORT} or update tti",
    Status.HEADER_CRC: f"the CRC of the header does not match; {_AGAIN}",
    Status.RESERVED: f"reserved bytes of the header are not zero; {_EXPORT}",
    Status.TRUNCATED: "the file ends too early; copy it again",
    Status.TRAILING: "there are bytes after the end of the model; copy the file again",
    Status.COUNT: f"the number of tensors is not 1 to 1024; {_EXPORT}",
    Status.SECTIONS: f"header, directory, metadata and data do not join; {_EXPORT}",
    Status.DIRECTORY_CRC: f"the CRC of the directory does not match; {_AGAIN}",
    Status.NAME: f"a name is not 1 to 31 of a-z A-Z 0-9 . _ - /; {_EXPORT}",
    Status.DUPLICATE: f"two tensors have the same name; {_EXPORT}",
    Status.DTYPE: f"the element type is unknown; {_EXPORT} or update tti",
    Status.LAYOUT: "the order of elements is for another chip; export the model for this one",
    Status.SHAPE: f"the shape has a gap or is too large; {_EXPORT}",
    Status.BYTES: f"the number of bytes does not fit the shape; {_EXPORT}",
    Status.OFFSET: f"the tensor is not where it must be in the file; {_EXPORT}",
    Status.TAIL: f"the file does not end 32 bytes after the last tensor; {_EXPORT}",
    Status.SCALE: f"the scale tensor does not suit the tensor; {_EXPORT}",
    Status.METADATA_CRC: f"the CRC of the metadata does not match; {_AGAIN}",
    Status.PADDING: f"padding bytes are not zero; {_AGAIN}",
    Status.TENSOR_CRC: f"the CRC of the tensor does not match; {_AGAIN}",
    Status.DATA_CRC: f"the CRC of the data does not match; {_AGAIN}",
    Status.NOT_FOUND: (
        "the model has no tensor of this name; list the names with `ttikit model show`"
    ),
    Status.METADATA: f"the metadata is not one JSON object in UTF-8; {_EXPORT}",
    Status.VALUES: "the tensor holds values that are not finite; mend them before writing",
    Status.TOO_LARGE: "the model does not fit into 4 GiB; split it",
    Status.UNREADABLE: "the file cannot be read; check the path",
}


class ModelFileError(TtiError):
    """A model that cannot be read or written.

    `status` says what is wrong, `tensor` which tensor it is about (or None).
    """

    def __init__(
        self, status: Status, *, tensor: str | None = None, path: str = "", detail: str = ""
    ):
        self.status = status
        self.tensor = tensor
        self.path = path
        self.detail = detail
        place = f"{path}: " if path else ""
        subject = f"tensor {tensor}: " if tensor is not None else ""
        super().__init__(place + subject + (detail or status.text))

    def at(self, path: str) -> ModelFileError:
        """Return the same error with the path of the file in its text."""
        return ModelFileError(self.status, tensor=self.tensor, path=path, detail=self.detail)


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor for the writer or from the reader.

    `values` is one of int8, uint8, int16, uint16, int32, uint32, float32, with 0 to 4 dimensions.
    `scale` names the float32 tensor that holds one factor, or one per index of the first axis.
    """

    values: np.ndarray
    scale: str | None = None


@dataclass(frozen=True)
class Header:
    """The first 64 bytes without magic, version and the CRC of the header itself."""

    tensor_count: int
    file_bytes: int
    directory_offset: int
    directory_bytes: int
    metadata_offset: int
    metadata_bytes: int
    data_offset: int
    data_bytes: int
    reserved: int
    directory_crc: int
    metadata_crc: int
    data_crc: int


@dataclass(frozen=True)
class Entry:
    """One line of the directory; `offset` counts bytes from the start of the file."""

    raw_name: bytes
    dtype: int
    layout: int
    scale: int
    dims: tuple[int, int, int, int]
    offset: int
    bytes: int
    crc: int

    @property
    def name(self) -> str:
        """Name as text; characters that no name may hold appear as `?`."""
        stem = self.raw_name.split(b"\0", 1)[0]
        return re.sub(rb"[^A-Za-z0-9._/-]", b"?", stem).decode("ascii")

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions before the first 0."""
        return self.dims[: (*self.dims, 0).index(0)]

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


HEADER_STRUCT = struct.Struct("<8sI12I")
ENTRY_STRUCT = struct.Struct("<32sBBH4IIII")


def align_up(n: int) -> int:
    """Round up to the next multiple of 16."""
    return -(-n // ALIGN) * ALIGN
