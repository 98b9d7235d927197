"""Checks of op arguments: the same ones, in the same words, as the binding of `_tti`.

An op takes any object with the buffer protocol and views it as an array of its own element type,
as a C kernel does, whatever the buffer's declared format. Buffers may be longer than needed.
"""

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Float32 = NDArray[np.float32]
Int8 = NDArray[np.int8]
UInt8 = NDArray[np.uint8]
Int32 = NDArray[np.int32]

MAX_SIZE = 65536  # rows, columns, channels …; a sum of as many int8 products fits int32 (§1)
MAX_LENGTH = 1 << 24  # of a vector
MAX_STEPS = 65535


class Arguments:
    """Views and checks the arguments of one call; every error names the op and the argument."""

    def __init__(self, op: str):
        self.op = op

    def integer(self, name: str, value: Any, low: int = 1, high: int = MAX_SIZE) -> int:
        """Return `value` as an int within low…high.

        Raises:
            TypeError: it is no integer.
            ValueError: it lies outside the range.
        """
        kind = type(value).__name__
        if isinstance(value, bool):
            raise TypeError(f"{self.op}: {name} must be an integer, not {kind}")
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{self.op}: {name} must be an integer, not {kind}") from None
        if not low <= number <= high:
            raise ValueError(f"{self.op}: {name} must be {low} to {high}, not {number}")
        return number

    def length(self, name: str, value: Any) -> int:
        """Return `value` as the length of a vector; raises as `integer`."""
        return self.integer(name, value, 1, MAX_LENGTH)

    def multiple(self, name: str, value: int, of: int) -> None:
        """Raise ValueError unless `value` is a multiple of `of`."""
        if value % of:
            raise ValueError(f"{self.op}: {name} must be a multiple of {of}, not {value}")

    def read(
        self, name: str, buffer: Any, dtype: DTypeLike, shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """View the first elements of `buffer` as an array of this type and shape.

        Raises:
            TypeError: `buffer` has no contiguous buffer.
            ValueError: it is too short, or float32 data does not lie on a multiple of 4.
        """
        flat = self.all(name, buffer, dtype)
        count = math.prod(shape)
        if flat.size < count:
            raise ValueError(
                f"{self.op}: {name} needs {count * flat.itemsize} bytes, has {_bytes(buffer)}"
            )
        return flat[:count].reshape(shape)

    def write(
        self, name: str, buffer: Any, dtype: DTypeLike, shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """Do the same as `read` for a buffer that the op fills.

        Raises:
            TypeError: as `read`, and when the buffer is read-only.
            ValueError: as `read`.
        """
        view = self.read(name, buffer, dtype, shape)
        if not view.flags.writeable:
            raise TypeError(f"{self.op}: {name} must be a writable buffer")
        return view

    def all(self, name: str, buffer: Any, dtype: DTypeLike) -> NDArray[Any]:
        """View all whole elements of `buffer`; raises as `read`."""
        kind = np.dtype(dtype)
        try:
            octets = np.frombuffer(buffer, np.uint8) if _bytes(buffer) else np.empty(0, np.uint8)
        except (TypeError, ValueError, BufferError):
            given = type(buffer).__name__
            raise TypeError(f"{self.op}: {name} must be a buffer, not {given}") from None
        flat = octets[: octets.size // kind.itemsize * kind.itemsize].view(kind)
        if not flat.flags.aligned:
            raise ValueError(f"{self.op}: {name} must begin at an address divisible by 4")
        return flat


def _bytes(buffer: Any) -> int:
    """Length of a buffer in bytes; TypeError when it is none."""
    return memoryview(buffer).nbytes
