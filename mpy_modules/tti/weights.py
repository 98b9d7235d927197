# The model file as tensors.
#
# A graph asks a provider for a tensor, or for a piece of one, and gets a buffer; it can't tell
# where the bytes lie. A buffer is good until the graph has asked for `KEPT` bytes more: long
# enough for one op, not for two.

import json
import os

import _tti as ops

KEPT = 40960  # the weights of one op with all that belongs to them
CACHE = 98304  # bytes of FileWeights: KEPT, and what is used again soon
_AHEAD = 1024  # bytes read at a time: scale and bias of a layer lie side by side
_SLICE = 4096
_HEADER = 64
_FILE_BYTES = 16  # where the header has the size of the file
_S8 = 1  # types in the file, see docs/model-file.md
_F32 = 7


class Provider:
    """Tensors by name. A subclass says where the bytes of the file are: `read(offset, size)`
    returns a bytes-like of `size` bytes that begins at an address divisible by 16.

    head: header and directory of the file; metadata: bytes of its JSON; fingerprint: CRC of the
    data."""

    where = "from a provider of your own"

    def __init__(self, head, metadata, fingerprint):
        self.head = head
        self.metadata = json.loads(bytes(metadata))
        self.fingerprint = fingerprint
        self._places = {}

    def _place(self, name):
        place = self._places.get(name)
        if place is None:
            found = ops.model_find(self.head, name)
            if found is None:
                raise ValueError(
                    "the model file has no tensor %s; use the model made for this version of tti"
                    % name
                )
            if found[2] != (_S8 if name.endswith(".weight") else _F32):
                raise ValueError("the tensor %s of the model file has another type" % name)
            place = self._places[name] = found[:2]
        return place

    def has(self, name):
        """Tell whether the file has a tensor `name`."""
        return ops.model_find(self.head, name) is not None

    def size(self, name):
        """Return the bytes of the tensor `name`; raises ValueError if the file has none."""
        return self._place(name)[1]

    def tensor(self, name):
        """Return the tensor `name`; raises ValueError if the file has none."""
        offset, size = self._place(name)
        return self.read(offset, size)

    def piece(self, name, index, size):
        """Return the index-th `size` bytes of the tensor `name`, fewer at its end."""
        offset, whole = self._place(name)
        at = index * size
        return self.read(offset + at, max(0, min(size, whole - at)))

    def verify(self):
        """Check every byte of the data; raises ValueError if one is wrong."""
        end = int.from_bytes(self.head[_FILE_BYTES : _FILE_BYTES + 4], "little")
        at = ops.model_check_head(self.head, end)[3]
        crc = 0
        while at < end:
            part = self.read(at, min(_SLICE, end - at))
            crc = ops.crc32(crc, part)
            at += _SLICE
        if crc != self.fingerprint:
            raise ValueError("the model file is damaged; copy it again")

    def linear(self, name):
        """Return (weight int8, scale float32, bias float32) of the layer `name`."""
        return (
            self.tensor(name + ".weight"),
            self.tensor(name + ".scale"),
            self.tensor(name + ".bias"),
        )


class Weights(Provider):
    """A model file in memory: `data` is bytes-like, 16-byte aligned, flash that is mapped or RAM.

    Raises ValueError that names what is wrong with the file."""

    where = "in place"

    def __init__(self, data):
        offset, size, fingerprint = ops.model_check(data)
        self.data = memoryview(data)
        super().__init__(self.data, self.data[offset : offset + size], fingerprint)

    def read(self, offset, size):
        """Bytes of the file, without a copy."""
        return self.data[offset : offset + size]

    def verify(self):
        """Check every byte of the file; raises ValueError that names the damaged part."""
        ops.model_verify(self.data)


class FileWeights(Provider):
    """A model file that stays outside memory, and may be larger: `file` is open for reading and
    can be sought, on flash, an SD card or anything else that MicroPython mounts.

    What is read goes round in `cache` bytes. Raises ValueError that names what is wrong with the
    file, MemoryError if the cache does not fit."""

    where = "read from the file piece by piece"

    def __init__(self, file, cache=CACHE):
        if not isinstance(cache, int) or cache < 2 * KEPT:
            raise ValueError("the cache must have at least %d bytes, not %r" % (2 * KEPT, cache))
        self.file = file
        self._ring = memoryview(bytearray(cache))
        self._next = 0  # place in the ring that the next piece takes
        self._pieces = []  # (offset in the file, bytes, place), oldest first
        self._bytes = file.seek(0, 2)
        head = bytearray(_HEADER)
        self._fill(head, 0)
        head = bytearray(ops.model_head_bytes(head, self._bytes))
        self._fill(head, 0)
        offset, size, crc, data, fingerprint = ops.model_check_head(head, self._bytes)
        section = bytearray(data - offset)
        self._fill(section, offset)
        if ops.crc32(0, section) != crc:
            raise ValueError("the model file's description is damaged; copy the file again")
        super().__init__(head, memoryview(section)[:size], fingerprint)

    def _fill(self, buf, offset):
        self.file.seek(offset)
        if self.file.readinto(buf) != len(buf):
            raise ValueError("the model file ended early; copy it again")

    def read(self, offset, size):
        """Bytes of the file, from the ring if they will stay there long enough."""
        for start, n, place in self._pieces:
            if start <= offset and offset + size <= start + n and self._stays(place):
                at = place + offset - start
                return self._ring[at : at + size]
        return self._fetch(offset, size)

    def _stays(self, place):
        """Tell whether the next KEPT bytes go elsewhere."""
        if place >= self._next:
            return place - self._next >= KEPT
        return place >= KEPT or len(self._ring) - self._next >= KEPT

    def _fetch(self, offset, size):
        n = max(size, min(_AHEAD, self._bytes - offset))
        if n > KEPT:
            raise ValueError(
                "a tensor of %d bytes does not fit the %d that one op may use" % (n, KEPT)
            )
        place = self._next if self._next + n <= len(self._ring) else 0
        end = place + n
        self._pieces = [p for p in self._pieces if p[2] + p[1] <= place or p[2] >= end]
        self._fill(self._ring[place:end], offset)
        self._pieces.append((offset, n, place))
        self._next = (end + 15) // 16 * 16
        return self._ring[place : place + size]

    def verify(self):
        """Check every byte of the file; raises ValueError if one is wrong."""
        self._pieces = []  # what is in the ring may not be in the file any more
        super().verify()


def load(path, cache=None):
    """Open the model file at `path`: in place if it is in a ROMFS, else in memory, else, if that
    is too small for it or `cache` (bytes) is given, piece by piece.

    Raises OSError, MemoryError or ValueError, one sentence each."""
    file = open_model(path)
    keep = False
    try:
        weights = None if cache else _whole(file)
        if weights is None:
            weights = FileWeights(file, cache or CACHE)
            keep = True
        return weights
    except ValueError as error:
        raise ValueError("%s: %s" % (path, error))
    except MemoryError:
        raise MemoryError(
            "not enough memory to read %s; put it into a ROMFS, which needs none" % path
        )
    finally:
        if not keep:
            file.close()


def open_model(path):
    """Return the file at `path`, open for reading; raises TypeError or OSError, one sentence."""
    if not isinstance(path, str):
        raise TypeError("a model is named by its path, such as tti.load('/faces.tti')")
    try:
        folder = os.stat(path)[0] & 0x4000
        file = None if folder else open(path, "rb")
    except OSError:
        raise OSError(
            "there is no model file %s; copy faces.tti there or give its path to tti.load()" % path
        )
    if folder:
        raise OSError("%s is a folder; give the path of a model file" % path)
    return file


def _address(data):
    try:
        import uctypes

        return uctypes.addressof(data)
    except ImportError:  # CPython, which maps no file
        return 0


def _whole(file):
    """The whole file, in place or in memory; None if there is too little memory for it, or if it
    lies in place where vector loads would miss."""
    try:
        data = memoryview(file)  # a ROMFS gives the flash itself
        return None if _address(data) % 16 else Weights(data)
    except TypeError:
        pass
    try:
        data = bytearray(file.seek(0, 2))
    except MemoryError:
        return None
    file.seek(0)
    file.readinto(data)
    weights = Weights(data)
    weights.where = "in memory"
    weights.verify()  # a copy in memory is checked whole, once
    return weights
