"""The writer: what goes in comes out, the same in gives the same bytes, nonsense is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ttikit.errors import TtiError
from ttikit.model_file import (
    ModelFileError,
    Status,
    Tensor,
    encode_model,
    read_model,
    write_model,
)

ONE = np.ones(1, np.float32)
TYPES = ["<i1", "<u1", "<i2", "<u2", "<i4", "<u4", "<f4", ">i2", ">f4"]

names = st.text("abcXYZ019._/-", min_size=1, max_size=31)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=7)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    elements = {"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else None
    return draw(hnp.arrays(dtype, draw(shapes), elements=elements))


@st.composite
def models(draw: st.DrawFn) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for name in draw(st.lists(names, min_size=1, max_size=6, unique=True)):
        values = draw(arrays())
        scale = f"{name[:29]}:s".replace(":", ".")
        if values.dtype.kind != "f" and scale not in tensors and draw(st.booleans()):
            rows = values.shape[0] if values.ndim and draw(st.booleans()) else 1
            tensors[scale] = Tensor(np.linspace(0, 1, rows, dtype=np.float32))
            tensors[name] = Tensor(values, scale)
        else:
            tensors[name] = Tensor(values)
    # A later tensor may have taken the place of a scale; then its type and size no longer suit.
    return {
        name: Tensor(t.values, t.scale if _suits(t, tensors) else None)
        for name, t in tensors.items()
    }


def _suits(tensor: Tensor, tensors: dict[str, Tensor]) -> bool:
    if tensor.scale is None:
        return False
    scale = tensors[tensor.scale]
    rows = tensor.values.shape[0] if tensor.values.ndim else 1
    fits = scale.values.dtype == np.float32 and scale.values.size in (1, rows)
    return fits and bool((scale.values >= 0).all())


@settings(max_examples=250, deadline=None)
@given(tensors=models(), metadata=st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_round_trip(probe, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    try:
        content = encode_model(tensors, metadata)
    except ModelFileError as error:
        assert error.status is Status.METADATA  # lone surrogates are no UTF-8
        assert any(0xD800 <= ord(c) <= 0xDFFF for c in str(metadata)) or "\\ud" in str(metadata)
        return
    model = read_model(content, verify=True)
    assert model.metadata == metadata
    assert list(model.tensors) == list(tensors)
    for name, tensor in tensors.items():
        assert model[name].shape == tensor.values.shape
        np.testing.assert_array_equal(model[name], tensor.values)
        assert model.tensors[name].scale == tensor.scale
    assert encode_model(model.tensors, model.metadata) == content
    assert probe.ask(content) == ("0 the model file is in order", probe.expected_lines(model))


def test_order_of_metadata_keys_and_memory_layout_do_not_matter() -> None:
    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    a = encode_model({"x": values}, {"b": {"y": 1, "x": 2}, "a": 1})
    b = encode_model({"x": np.asfortranarray(values)}, {"a": 1, "b": {"x": 2, "y": 1}})
    assert a == b == encode_model({"x": values.astype(">i2")}, {"a": 1, "b": {"x": 2, "y": 1}})


def test_tensors_are_aligned_and_end_with_32_zero_bytes() -> None:
    content = encode_model({f"t{n}": np.full(n, 255, np.uint8) for n in range(1, 34)}, {})
    entries = read_model(content).entries
    assert all(entry.offset % 16 == 0 for entry in entries)
    end = entries[-1].offset + entries[-1].bytes
    assert len(content) - end >= 32
    assert not any(content[end:])


@pytest.mark.parametrize(
    ("status", "tensors"),
    [
        (Status.COUNT, {}),
        (Status.COUNT, {f"t{i}": ONE for i in range(1025)}),
        (Status.NAME, {"": ONE}),
        (Status.NAME, {"a" * 32: ONE}),
        (Status.NAME, {"вес": ONE}),
        (Status.NAME, {"a b": ONE}),
        (Status.NAME, {"a\n": ONE}),
        (Status.DUPLICATE, [("a", ONE), ("a", ONE)]),
        (Status.DTYPE, {"a": np.ones(1)}),
        (Status.DTYPE, {"a": np.ones(1, np.int64)}),
        (Status.DTYPE, {"a": np.ones(1, np.float16)}),
        (Status.DTYPE, {"a": np.ones(1, bool)}),
        (Status.DTYPE, {"a": [1, 2]}),
        (Status.SHAPE, {"a": np.ones((1, 1, 1, 1, 1), np.int8)}),
        (Status.SHAPE, {"a": np.ones((3, 0), np.int8)}),
        (Status.VALUES, {"a": np.array([1, np.nan], np.float32)}),
        (Status.VALUES, {"a": np.array([-np.inf], np.float32)}),
        (Status.SCALE, {"a": Tensor(np.ones(2, np.int8), "s")}),
        (Status.SCALE, {"a": Tensor(ONE, "s"), "s": ONE}),
        (Status.SCALE, {"a": Tensor(np.ones(2, np.int8), "a")}),
        (Status.SCALE, {"a": Tensor(np.ones(2, np.int8), "s"), "s": np.ones(1, np.int32)}),
        (Status.SCALE, {"a": Tensor(np.ones((2, 3), np.int8), "s"), "s": np.ones(3, np.float32)}),
        (Status.SCALE, {"a": Tensor(np.ones(2, np.int8), "s"), "s": -ONE}),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, status: Status, tensors: Any) -> None:
    path = tmp_path / "x.tti"
    with pytest.raises(ModelFileError) as caught:
        write_model(path, tensors, {})
    assert caught.value.status is status
    assert str(path) in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": float("nan")},
        {"a": b"x"},
        {1: "a"},
        {"a": (1, 2)},
        {"a": "\ud800"},
        {"a": "x" * 65536},
        [("a", 1), 2],
    ],
)
def test_metadata_that_json_would_change_is_refused(metadata: Any) -> None:
    with pytest.raises(ModelFileError) as caught:
        encode_model({"a": ONE}, metadata)
    assert caught.value.status is Status.METADATA


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.tti"
    write_model(path, {"a": ONE}, {})
    old = path.read_bytes()

    def no_space(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ModelFileError, match="No space left"):
        write_model(path, {"a": 2 * ONE}, {})
    assert [p.name for p in tmp_path.iterdir()] == ["x.tti"]
    assert path.read_bytes() == old


def test_missing_places_give_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TtiError, match="cannot be written"):
        write_model(tmp_path / "no" / "x.tti", {"a": ONE}, {})
    with pytest.raises(TtiError, match="cannot be read"):
        read_model(tmp_path / "no.tti")
    with pytest.raises(TtiError, match="cannot be read"):
        read_model(tmp_path)


def test_absent_tensor_is_named() -> None:
    model = read_model(encode_model({"a": ONE}, {}))
    with pytest.raises(ModelFileError, match="tensor b: the model has no tensor"):
        model["b"]


def test_values_cannot_be_changed_in_place() -> None:
    model = read_model(encode_model({"a": ONE}, {}))
    with pytest.raises(ValueError, match="read-only"):
        model["a"][0] = 2
