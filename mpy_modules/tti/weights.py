# The model file as tensors.
#
# A graph asks for a tensor by name and gets a buffer; it can't tell where the bytes lie. A file in
# a ROMFS is used in place (flash, zero copy), any other file is read into memory.

import json
import os

import _tti as ops

_S8 = 1  # types in the file, see docs/model-file.md
_F32 = 7


class Weights:
    """The tensors of a model file held in `data` (bytes-like, 16-byte aligned).

    Raises ValueError that names what is wrong with the file."""

    def __init__(self, data):
        offset, size, self.fingerprint = ops.model_check(data)
        self.data = memoryview(data)
        self.metadata = json.loads(bytes(self.data[offset : offset + size]))
        self._views = {}

    def tensor(self, name):
        """Return the bytes of the tensor `name`; raises ValueError if the file has none."""
        view = self._views.get(name)
        if view is None:
            found = ops.model_find(self.data, name)
            if found is None:
                raise ValueError(
                    "the model file has no tensor %s; use the model made for this version of tti"
                    % name
                )
            if found[2] != (_S8 if name.endswith(".weight") else _F32):
                raise ValueError("the tensor %s of the model file has another type" % name)
            view = self._views[name] = self.data[found[0] : found[0] + found[1]]
        return view

    def has(self, name):
        """Tell whether the file has a tensor `name`."""
        return ops.model_find(self.data, name) is not None

    def linear(self, name):
        """Return (weight int8, scale float32, bias float32) of the layer `name`."""
        return (
            self.tensor(name + ".weight"),
            self.tensor(name + ".scale"),
            self.tensor(name + ".bias"),
        )

    def verify(self):
        """Check every byte of the file; raises ValueError that names the damaged part."""
        ops.model_verify(self.data)


def load(path):
    """Open the model file at `path`. Raises OSError, MemoryError or ValueError, one sentence
    each."""
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
    with file:
        try:
            data = memoryview(file)  # a ROMFS gives the flash itself
        except TypeError:
            data = None
        mapped = data is not None
        if not mapped:
            try:
                data = bytearray(file.seek(0, 2))
                file.seek(0)
                file.readinto(data)
            except MemoryError:
                raise MemoryError(
                    "not enough memory to read %s; put it into a ROMFS, which needs none" % path
                )
    try:
        weights = Weights(data)
        if not mapped:
            weights.verify()  # a copy in memory is checked whole, once
    except ValueError as error:
        raise ValueError("%s: %s" % (path, error))
    return weights
