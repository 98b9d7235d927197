"""`ttikit model show|verify|diff` and the comparison behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ttikit.model_file import (
    ModelFileError,
    Tensor,
    compare_models,
    encode_model,
    read_model,
    write_model,
)
from ttikit.model_file.cli import app
from typer.testing import CliRunner, Result

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny.tti"
WEIGHT = np.array([[1, -2], [3, 4]], np.int8)
SCALE = np.array([0.5, 0.25], np.float32)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def compare(a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
    return compare_models(read_model(encode_model(*a)), read_model(encode_model(*b)))


def test_show_prints_every_tensor_and_the_metadata() -> None:
    out = run("show", GOLDEN).output
    for entry in read_model(GOLDEN).entries:
        assert entry.name in out
    assert "944 bytes in all" in out
    assert "…" not in out
    assert "4294967295" in out
    assert "пожилой" in out


def test_show_counts_what_is_too_long_to_read(tmp_path: Path) -> None:
    few, many = {f"word{i}": i for i in range(40)}, {f"form{i}": i for i in range(1100)}
    path = tmp_path / "long.tti"
    nest: Any = "core"
    for _ in range(400):
        nest = [nest]
    metadata = {
        **{"few": few, "deep": [{"many": many}], "row": [7] * 41, "nest": nest},
        **{"text": "a" * 5000, "wide": [["wide"] * 40] * 40, "b" * 5000: 1, "c\x1b[31m": 1},
        **{f"zkey{i:02d}": i for i in range(50)},
    }
    write_model(path, {"w": Tensor(SCALE)}, metadata)
    out = run("show", path).output
    assert "word39" in out and "form" not in out
    assert '"many": "(1,100 entries, see --json)"' in out
    assert '"row": "(41 entries, see --json)"' in out
    assert "zkey20" in out and "zkey49" not in out and "core" not in out
    assert "(58 entries in all, see --json)" in out
    assert "aaa… (5,010 characters, see --json)" in out and "bbb… (" in out
    assert r"c\u001b[31m" in out and "\x1b[31m" not in out
    assert out.count("wide") < 200 and len(out.splitlines()) < 150
    assert "1 tensors, 8 bytes in them" in out.splitlines()[-1]
    assert json.loads(run("show", path, "--json").output)["metadata"] == metadata


def test_show_json() -> None:
    data = json.loads(run("show", GOLDEN, "--json").output)
    assert (data["tensors"], data["bytes"]) == (9, 944)
    first = data["list"][0]
    assert first["name"] == "dit.blocks.5.mlp.fc1.weight"
    assert (first["dtype"], first["shape"], first["bytes"]) == ("s8", [3, 5], 15)
    assert (first["min"], first["max"]) == (-127, 99)
    assert first["scale"] == "dit.blocks.5.mlp.fc1.scale"


def test_show_lists_a_damaged_model_and_then_fails(tmp_path: Path) -> None:
    content = bytearray(GOLDEN.read_bytes())
    content[-40] ^= 1
    path = tmp_path / "bad.tti"
    path.write_bytes(content)
    result = run("show", path)
    assert "table.u32" in result.output
    assert isinstance(result.exception, ModelFileError)


def test_verify() -> None:
    result = run("verify", GOLDEN)
    assert result.exit_code == 0
    assert "in order, 9 tensors, 944 bytes" in result.output


def test_verify_json_of_a_damaged_file(tmp_path: Path) -> None:
    content = bytearray(GOLDEN.read_bytes())
    content[-40] ^= 1
    path = tmp_path / "bad.tti"
    path.write_bytes(content)
    result = run("verify", path, "--json")
    assert isinstance(result.exception, ModelFileError)
    assert json.loads(result.output) == {
        "file": str(path),
        "ok": False,
        "status": "tensor_crc",
        "tensor": "table.u32",
    }


def test_diff_of_equal_files() -> None:
    result = run("diff", GOLDEN, GOLDEN)
    assert (result.exit_code, result.output) == (0, "no difference\n")


def test_diff_names_what_changed(tmp_path: Path) -> None:
    a, b = tmp_path / "a.tti", tmp_path / "b.tti"
    changed = WEIGHT.copy()
    changed[0, 1] = 2
    write_model(a, {"w": Tensor(WEIGHT, "s"), "s": SCALE, "old": SCALE}, {"steps": 8, "x": 1})
    write_model(b, {"w": Tensor(changed, "s"), "s": SCALE, "new": SCALE}, {"steps": 9, "y": None})
    result = run("diff", a, b)
    assert result.exit_code == 1
    for text in ("1 of 4", "metadata steps: 8 → 9", "x: 1 → (absent)", "y: (absent) → null"):
        assert text in result.output
    data = json.loads(run("diff", a, b, "--json").output)
    assert not data["same"]
    assert [(c["name"], c["what"]) for c in data["tensors"]] == [
        ("w", "values"),
        ("old", "removed"),
        ("new", "added"),
    ]
    assert (data["tensors"][0]["max_abs"], data["tensors"][0]["mean_abs"]) == (4.0, 1.0)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (Tensor(WEIGHT), Tensor(WEIGHT.astype(np.int16)), "type"),
        (Tensor(WEIGHT), Tensor(WEIGHT.reshape(4)), "shape"),
        (Tensor(WEIGHT), Tensor(WEIGHT, "s"), "scale"),
        (Tensor(np.float32(0.0).reshape(1)), Tensor(np.float32(-0.0).reshape(1)), "values"),
        (Tensor(np.array(1, np.int8)), Tensor(np.array(2, np.int8)), "values"),
    ],
)
def test_kinds_of_change(before: Tensor, after: Tensor, what: str) -> None:
    comparison = compare(({"t": before, "s": SCALE}, {}), ({"t": after, "s": SCALE}, {}))
    assert [(c.name, c.what) for c in comparison.tensors] == [("t", what)]
    assert not comparison.same


def test_order_and_json_types_count() -> None:
    assert compare(({"a": SCALE, "b": SCALE}, {}), ({"b": SCALE, "a": SCALE}, {})).order_changed
    comparison = compare(({"a": SCALE}, {"k": {"n": 1}}), ({"a": SCALE}, {"k": {"n": True}}))
    assert [(c.key, c.what) for c in comparison.metadata] == [("k.n", "changed")]
    assert compare(({"a": SCALE}, {"k": [{}]}), ({"a": SCALE}, {"k": [{}]})).same
