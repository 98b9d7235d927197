"""Functions that read model files, and the module that takes the place of `_tti`."""

import importlib
import sys
import types
import zlib

import numpy as np
import pytest
import ttikit.simulator as ops
from ttikit.errors import TtiError
from ttikit.model_file import Tensor, encode_model
from ttikit.simulator import installer

DEVICE = ("tti", "_tti", "micropython")


@pytest.fixture(scope="module")
def model():
    tensors = {
        "a.scale": Tensor(np.array([0.5, 2], np.float32)),
        "a.weight": Tensor(np.arange(-6, 6, dtype=np.int8).reshape(2, 6), "a.scale"),
        "one": Tensor(np.array(7, np.float32)),
    }
    return encode_model(tensors, {"name": "лицо"})


def test_check_names_the_metadata(model):
    offset, size, crc = ops.model_check(bytearray(model))
    assert model[offset : offset + size].decode() == '{"name":"лицо"}'
    assert len(model) - 32 > offset + size
    data = (offset + size + 15) // 16 * 16
    assert crc == zlib.crc32(model[data:])


def test_the_head_alone_tells_as_much_as_the_file(model):
    size = ops.model_head_bytes(model[:64], len(model))
    offset, length, crc, data, data_crc = ops.model_check_head(model[:size], len(model))
    assert (offset, length, data_crc) == ops.model_check(model)
    assert offset == size
    assert crc == zlib.crc32(model[offset:data])
    with pytest.raises(ValueError, match="copy it again"):
        ops.model_check_head(model[: size - 1], len(model))


def test_verify_accepts_a_good_file(model):
    assert ops.model_verify(memoryview(model)) is None


def test_find_describes_a_tensor(model):
    offset, size, dtype, shape, scale = ops.model_find(model, "a.weight")
    assert (size, dtype, shape) == (12, 1, (2, 6))
    assert np.frombuffer(model, np.int8, size, offset).tolist() == list(range(-6, 6))
    offset, size, dtype, shape, none = ops.model_find(model, "a.scale")
    assert (size, dtype, shape, none) == (8, 7, (2,), -1)
    assert np.frombuffer(model, np.float32, 2, offset).tolist() == [0.5, 2]
    assert ops.model_find(model, "one")[3:] == ((), -1)
    order = sorted(["a.weight", "a.scale", "one"], key=lambda name: ops.model_find(model, name)[0])
    assert order[scale] == "a.scale"


def test_find_returns_none_for_an_unknown_name(model):
    assert ops.model_find(model, "b") is None
    assert ops.model_find(model, "") is None


@pytest.mark.parametrize("name", ["a.weigh", "a.weights", "a" * 32, "ы" * 40])
def test_find_wants_the_whole_name(model, name):
    assert ops.model_find(model, name) is None


@pytest.mark.parametrize("at", [3, 9, 20, 40, 62])
def test_damage_of_the_header_is_refused_everywhere(model, at):
    broken = bytearray(model)
    broken[at] ^= 1
    for call in (ops.model_check, ops.model_verify, lambda buf: ops.model_find(buf, "one")):
        with pytest.raises(ValueError, match=r"\w+; \w+|\w+, \w+"):
            call(broken)


@pytest.mark.parametrize("size", [0, 5, 63, 64, 200])
def test_truncated_file_is_refused_everywhere(model, size):
    for call in (ops.model_check, ops.model_verify, lambda buf: ops.model_find(buf, "one")):
        with pytest.raises(ValueError, match="copy it again"):
            call(model[:size])


@pytest.mark.parametrize("at", [64, 100, 150])
def test_damage_of_the_directory_is_refused_by_the_check(model, at):
    broken = bytearray(model)
    broken[at] ^= 1
    for call in (ops.model_check, ops.model_verify):
        with pytest.raises(ValueError, match="CRC of the directory"):
            call(broken)


def test_damage_of_the_data_is_found_by_verify(model):
    broken = bytearray(model)
    broken[ops.model_find(model, "a.weight")[0]] ^= 1
    ops.model_check(broken)
    with pytest.raises(
        ValueError, match=r"tensor a\.weight: the CRC of the tensor does not match"
    ):
        ops.model_verify(broken)


def test_model_errors_are_plain_value_errors():
    with pytest.raises(ValueError, match="too short") as caught:
        ops.model_check(b"")
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("call", [ops.model_check, ops.model_verify])
def test_no_buffer(call):
    with pytest.raises(TypeError, match=r"model_\w+: buf must be a buffer, not int"):
        call(3)


def test_name_must_be_a_string(model):
    with pytest.raises(TypeError, match="name must be a string"):
        ops.model_find(model, 3)


def test_crc32():
    assert ops.crc32(0, b"123456789") == 0xCBF43926
    assert ops.crc32(ops.crc32(0, b"1234"), bytearray(b"56789")) == 0xCBF43926
    assert ops.crc32(0, b"") == 0
    with pytest.raises(ValueError, match="crc must be 0 to 4294967295"):
        ops.crc32(-1, b"")


def test_build_is_a_dictionary_in_tuples():
    assert set(dict(ops.build()).values()) == {"numpy"}


def device_modules():
    """Those imported modules that `install()` is about."""
    return {n: m for n, m in sys.modules.items() if n.split(".")[0] in DEVICE}


@pytest.fixture
def clean_modules(monkeypatch):
    """Undo afterwards whatever `install()` does to the interpreter."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = device_modules()
    for name in before:
        del sys.modules[name]
    yield
    for name in device_modules():
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.usefixtures("clean_modules")
def test_install_puts_the_ops_under_the_device_package(repo):
    sys.path[:] = [p for p in sys.path if not p.endswith("mpy_modules")]
    assert ops.install() == repo / "mpy_modules"
    assert ops.install() == repo / "mpy_modules"
    assert sys.path.count(str(repo / "mpy_modules")) == 1
    assert importlib.import_module("_tti") is ops
    assert importlib.import_module("tti.transformer").ops is ops


@pytest.mark.usefixtures("clean_modules")
def test_stand_in_for_the_module_micropython():
    ops.install()
    micropython = importlib.import_module("micropython")
    assert micropython.const(5) == 5
    assert micropython.native(len) is len
    assert micropython.viper(len) is len
    assert micropython.opt_level() == 0
    assert not hasattr(micropython, "mem_info")


@pytest.mark.usefixtures("clean_modules")
def test_a_real_micropython_module_is_kept():
    own = sys.modules["micropython"] = types.ModuleType("micropython")
    ops.install()
    assert sys.modules["micropython"] is own


@pytest.mark.usefixtures("clean_modules")
def test_missing_device_sources(monkeypatch, tmp_path):
    monkeypatch.setattr(installer, "PLACES", (tmp_path,))
    with pytest.raises(TtiError, match="run from a complete checkout"):
        ops.install()
