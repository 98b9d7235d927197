"""The model file `.tti`: one writer, one reader, and comparison of two files.

The format is written down in docs/model-file.md. Boards read it by native/core/model_file.c.
"""

from ttikit.model_file.compare import Comparison, MetadataChange, TensorChange, compare_models
from ttikit.model_file.format import Entry, ModelFileError, Status, Tensor
from ttikit.model_file.reader import ModelFile, head_bytes, read_head, read_model
from ttikit.model_file.writer import encode_model, write_model

__all__ = [
    "Comparison",
    "Entry",
    "MetadataChange",
    "ModelFile",
    "ModelFileError",
    "Status",
    "Tensor",
    "TensorChange",
    "compare_models",
    "encode_model",
    "head_bytes",
    "read_head",
    "read_model",
    "write_model",
]
