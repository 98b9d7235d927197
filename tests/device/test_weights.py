"""Model files that are missing, damaged or made for something else."""

import sys

import pytest
from ttikit.model_file import Tensor, write_model


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
    meta = {"tokenizer": {"forms": {"девуш": 1}}, "text": {"depth": 3}, "dit": {"depth": 6}}
    write_model(path, {"other": Tensor(bytes_of_zeros())}, meta)
    pipe = tti.Pipeline(load(str(path)))
    with pytest.raises(ValueError, match=r"has no tensor text\.embed; use the model made for"):
        pipe.generate_into(bytearray(12288), "девушка")


def bytes_of_zeros():
    import numpy as np

    return np.zeros(16, np.int8)
