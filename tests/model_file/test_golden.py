"""The golden file: written byte for byte by the writer, read alike by both readers.

After a wanted change of the format: `python tests/model_file/test_golden.py` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ttikit.model_file import Tensor, encode_model, read_model, write_model

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny.tti"


def tiny_model() -> tuple[dict[str, Tensor], dict[str, object]]:
    """Every type, ranks 0 to 4, scales for rows and for a whole tensor, lengths 1 to 60 bytes."""
    steps = np.arange(60)
    tensors = {
        "dit.blocks.5.mlp.fc1.weight": Tensor(
            ((steps[:15] * 37) % 255 - 127).astype(np.int8).reshape(3, 5),
            "dit.blocks.5.mlp.fc1.scale",
        ),
        "dit.blocks.5.mlp.fc1.scale": Tensor(np.array([0.5, 0.0, 2**-7], np.float32)),
        "decoder/conv-1.weight": Tensor(
            (steps[:54] - 27).astype(np.int8).reshape(2, 3, 3, 3), "decoder/scale"
        ),
        "decoder/scale": Tensor(np.array(0.03125, np.float32)),
        "n": Tensor(np.array([200, 255], np.uint8).reshape(1, 2, 1)),
        "table.s16": Tensor(np.array([-32768, 32767, 1], np.int16)),
        "table.u16": Tensor(np.array([65535], np.uint16)),
        "name-of-exactly-31-characters_x": Tensor(np.array([[-(2**31)], [7]], np.int32)),
        "table.u32": Tensor(np.array([2**32 - 1, 0, 1, 2], np.uint32)),
    }
    return tensors, {"name": "tiny", "vocabulary": ["пожилой", "мужчина"], "steps": 8}


def test_writer_gives_golden_bytes() -> None:
    assert encode_model(*tiny_model()) == GOLDEN.read_bytes()
    assert GOLDEN.stat().st_size < 4096


def test_python_reads_golden() -> None:
    tensors, metadata = tiny_model()
    model = read_model(GOLDEN, verify=True)
    assert model.metadata == metadata
    assert list(model.tensors) == list(tensors)
    for name, tensor in tensors.items():
        assert model[name].dtype == tensor.values.dtype
        assert model.tensors[name].scale == tensor.scale
        np.testing.assert_array_equal(model[name], tensor.values)


def test_c_reads_golden(probe) -> None:
    model = read_model(GOLDEN)
    status, lines = probe.ask(GOLDEN.read_bytes())
    assert status == "0 the model file is in order"
    assert lines == probe.expected_lines(model)
    assert len(lines) == 9


if __name__ == "__main__":
    print(write_model(GOLDEN, *tiny_model()), "bytes")
