"""Comparison of two model files, tensor by tensor."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ttikit.model_file.format import DTYPE_CODES, DTYPES, Tensor
from ttikit.model_file.reader import ModelFile


@dataclass(frozen=True)
class TensorChange:
    """How one tensor differs; `what` is added, removed, type, shape, scale or values.

    The figures are about values as stored (integers without their scale): number of different
    elements, largest and mean absolute difference. They are None where nothing can be subtracted.
    """

    name: str
    what: str
    before: str = ""
    after: str = ""
    changed: int | None = None
    elements: int | None = None
    max_abs: float | None = None
    mean_abs: float | None = None


@dataclass(frozen=True)
class MetadataChange:
    """How one entry of the metadata differs; `what` is added, removed or changed.

    `key` joins the keys of nested objects by dots.
    """

    key: str
    what: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True)
class Comparison:
    """All differences of two models."""

    tensors: tuple[TensorChange, ...]
    metadata: tuple[MetadataChange, ...]
    order_changed: bool

    @property
    def same(self) -> bool:
        """Whether both files say the same."""
        return not (self.tensors or self.metadata or self.order_changed)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "same": self.same,
            "order_changed": self.order_changed,
            "tensors": [asdict(change) for change in self.tensors],
            "metadata": [asdict(change) for change in self.metadata],
        }


def compare_models(before: ModelFile, after: ModelFile) -> Comparison:
    """Compare two models by the names of their tensors and by the keys of their metadata."""
    changes: list[TensorChange] = []
    for name in [*before.tensors, *(n for n in after.tensors if n not in before.tensors)]:
        changes += _compare_tensor(name, before.tensors.get(name), after.tensors.get(name))
    metadata = _compare_metadata(_flatten(before.metadata), _flatten(after.metadata))
    common = before.tensors.keys() & after.tensors.keys()
    order_changed = [n for n in before.tensors if n in common] != [
        n for n in after.tensors if n in common
    ]
    return Comparison(tuple(changes), tuple(metadata), order_changed)


def _compare_tensor(name: str, a: Tensor | None, b: Tensor | None) -> list[TensorChange]:
    if a is None or b is None:
        what = "added" if a is None else "removed"
        return [TensorChange(name, what, _kind(a), _kind(b))]
    if a.values.dtype != b.values.dtype:
        return [TensorChange(name, "type", _kind(a), _kind(b))]
    if a.values.shape != b.values.shape:
        return [TensorChange(name, "shape", _kind(a), _kind(b))]
    changes = []
    if a.scale != b.scale:
        changes.append(TensorChange(name, "scale", a.scale or "none", b.scale or "none"))
    # Bytes decide, so that -0.0 and 0.0 count as different.
    if a.values.tobytes() != b.values.tobytes():
        changes.append(_compare_values(name, a, b))
    return changes


def _compare_values(name: str, a: Tensor, b: Tensor) -> TensorChange:
    word = np.dtype(f"<u{a.values.dtype.itemsize}")
    changed = int(np.count_nonzero(a.values.view(word) != b.values.view(word)))
    with np.errstate(invalid="ignore"):  # a file of another writer may hold infinities
        delta = np.abs(a.values.astype(np.float64) - b.values.astype(np.float64))
    finite = bool(np.isfinite(delta).all())
    return TensorChange(
        *(name, "values", _kind(a), _kind(b), changed, a.values.size),
        max_abs=float(delta.max()) if finite else None,
        mean_abs=float(delta.mean()) if finite else None,
    )


def _kind(tensor: Tensor | None) -> str:
    if tensor is None:
        return ""
    name = DTYPES[DTYPE_CODES[tensor.values.dtype]][0]
    return f"{name} {'×'.join(map(str, tensor.values.shape)) or 'scalar'}"


def _compare_metadata(left: dict[str, Any], right: dict[str, Any]) -> list[MetadataChange]:
    changes = []
    for key in sorted(left.keys() | right.keys()):
        if key not in left:
            changes.append(MetadataChange(key, "added", after=right[key]))
        elif key not in right:
            changes.append(MetadataChange(key, "removed", before=left[key]))
        elif _canonical(left[key]) != _canonical(right[key]):
            changes.append(MetadataChange(key, "changed", left[key], right[key]))
    return changes


def _flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Turn nested dicts into one with dotted keys; lists stay whole."""
    if not isinstance(value, dict) or (not value and prefix):
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, item in value.items():
        flat |= _flatten(item, f"{prefix}.{key}" if prefix else key)
    return flat


def _canonical(value: Any) -> str:
    """Return JSON text, in which 1, 1.0 and true are three different things."""
    return json.dumps(value, sort_keys=True)
