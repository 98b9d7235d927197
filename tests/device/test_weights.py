"""Model files that are missing, damaged or made for something else."""

import json
import sys

import numpy as np
import pytest
from ttikit.model_file import Tensor, read_model, write_model


@pytest.fixture(scope="module")
def load(tti):
    return sys.modules["tti.weights"].load


def test_a_missing_file(load, tmp_path):
    with pytest.raises(
        OSError, match=r"there is no model file .*none\.tti; copy faces\.tti there"
    ):
        load(str(tmp_path / "none.tti"))


@pytest.mark.parametrize("keep", [0, 1, 63, 64, 5000, 100_000, -1])
def test_a_truncated_file(load, model, tmp_path, keep):
    path = tmp_path / "cut.tti"
    path.write_bytes(model.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"cut\.tti: .+"):
        load(str(path))


@pytest.mark.parametrize("at", [0, 9, 20, 70, 20_000, 1_000_000, -1])
def test_one_flipped_bit(load, model, tmp_path, at):
    data = bytearray(model.read_bytes())
    data[at] ^= 4
    path = tmp_path / "flipped.tti"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"flipped\.tti: .+"):
        load(str(path))


def test_a_model_for_something_else_names_the_missing_tensor(tti, load, tmp_path):
    path = tmp_path / "other.tti"
    write_model(path, {"other": Tensor(bytes_of_zeros())}, {})
    with pytest.raises(ValueError, match="not one that tti draws with"):
        tti.Pipeline(load(str(path)))


def bytes_of_zeros():
    return np.zeros(16, np.int8)


def changed(model, path, change):
    """Write a copy of the model whose tensors and metadata `change` has edited."""
    old = read_model(model)
    tensors, metadata = dict(old.tensors), json.loads(json.dumps(old.metadata))
    change(tensors, metadata)
    write_model(path, tensors, metadata)
    return str(path)


BLOCKS = "does not have the 5 blocks of dit|does not have the 1000 blocks of dit"
METADATA = [  # keys, value, sentence
    (("format",), "other", "not one that tti draws with"),
    (("format",), "tti text-to-image 1", "made for an older tti; use a newer file"),
    (("dit", "depth"), 5, BLOCKS),
    (("dit", "depth"), 1000, BLOCKS),
    (("dit", "depth"), 0, "does not say how many blocks dit has"),
    (("dit", "depth"), True, "does not say how many blocks dit has"),
    (("text", "depth"), "x", "does not say how many blocks text has"),
    (("text",), [1], "does not say how many blocks text has"),
    (("tokenizer",), {}, "has no vocabulary"),
    (("tokenizer", "forms"), ["a"], "has no vocabulary"),
    (("tokenizer", "forms"), {}, "has no vocabulary"),
    (("tokenizer", "forms"), {"девуш": 64}, "no token for «девуш»"),
    (("tokenizer", "forms"), {"девуш": 0}, "no token for «девуш»"),
    (("tokenizer", "forms"), {"девуш": None}, "no token for «девуш»"),
    (("tokenizer", "forms"), {"девуш": [1, 64]}, "no token for «девуш»"),
    (("tokenizer", "forms"), {"девуш": [[1]]}, "no token for «девуш»"),
]


@pytest.mark.parametrize(("keys", "value", "sentence"), METADATA)
def test_metadata_that_does_not_fit_is_refused(tti, load, model, tmp_path, keys, value, sentence):
    def change(tensors, metadata):
        for key in keys[:-1]:
            metadata = metadata[key]
        metadata[keys[-1]] = value

    weights = load(changed(model, tmp_path / "odd.tti", change))
    with pytest.raises(ValueError, match=sentence):
        tti.Pipeline(weights)


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("null", np.zeros(191, np.float32), "tensor null .* another size"),
        ("dit.guide", np.zeros((4, 192), np.float32), r"tensor dit\.guide .* another size"),
        ("dit.pace", np.zeros((6, 192), np.float32), r"tensor dit\.pace .* another size"),
        ("dit.final.bias", np.zeros(16, np.int32), r"tensor dit\.final\.bias .* another type"),
        ("dit.blocks.0.fc1.bias", np.zeros(96, np.float32), "gemm_s8: bias needs 384 bytes"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(tti, load, model, tmp_path, name, values, sentence):
    def change(tensors, metadata):
        tensors[name] = Tensor(values)

    path = changed(model, tmp_path / "odd.tti", change)
    with pytest.raises(ValueError, match=sentence):
        tti.Pipeline(load(path)).generate_into(bytearray(12288), "девушка", 1, 1)


def test_a_folder_and_a_number_are_no_models(load, tmp_path):
    with pytest.raises(OSError, match="is a folder; give the path of a model file"):
        load(str(tmp_path))
    with pytest.raises(TypeError, match="a model is named by its path"):
        load(5)


@pytest.mark.parametrize("wrong", ["typo.tti", ".", 5])
def test_a_load_of_no_file_changes_nothing(tti, model, wrong):
    pipeline = tti.load(str(model))
    with pytest.raises((OSError, TypeError)):
        tti.load(wrong)
    assert tti.load() is pipeline


def test_after_a_damaged_file_no_other_model_is_used(tti, model, tmp_path, monkeypatch):
    (tmp_path / "faces.tti").write_bytes(model.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert tti.load("faces.tti") is tti.load()
    (tmp_path / "bad.tti").write_bytes(model.read_bytes()[:1000])
    for call in (lambda: tti.load("bad.tti"), tti.load, lambda: tti.generate("девушка")):
        with pytest.raises(ValueError, match=r"bad\.tti: "):
            call()
    assert tti.load("faces.tti") is tti.load()
