"""The record of a picture's stages in the model file, and the self-test that follows it."""

import json
import sys

import pytest
from ttikit.export.probe import probe
from ttikit.model_file import read_model, write_model

TEST = """
import sys, tti
tti.load(sys.argv[1])
print(tti.selftest())
"""

BROKEN = """
import sys, tti, _tti
from tti import transformer
class Broken:
    calls = 0
    def __getattr__(self, name):
        op = getattr(_tti, name)
        if name != "gelu":
            return op
        def gelu(out, x, table, n):
            op(out, x, table, n)
            Broken.calls += 1
            if Broken.calls == 3 * 3 + 2 * 6 + 1:  # in the third block of the DiT
                for i in range(3, 400, 4):
                    out[i] = out[i] ^ 128
        return gelu
tti.load(sys.argv[1])
transformer.ops = Broken()
print(tti.selftest())
"""


@pytest.fixture(scope="module")
def recorded(model, tmp_path_factory):
    """A random model with a record."""
    old = read_model(model)
    metadata = json.loads(json.dumps(old.metadata))
    metadata["probe"] = probe(model.read_bytes(), metadata["tokenizer"]["forms"])
    path = tmp_path_factory.mktemp("probe") / "recorded.tti"
    write_model(path, old.tensors, metadata)
    return path


def said(run_mpy, code, *args):
    done = run_mpy(code, *map(str, args))
    assert done.rc == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


def test_the_firmware_follows_the_record(run_mpy, recorded):
    stages = read_model(recorded).metadata["probe"]["stages"]
    names = [name for name, _ in stages]
    assert len(set(names)) >= 16 and names[0] == "tokens" and names[-1] == "picture"
    kernels, file, dots, verdict = said(run_mpy, TEST, recorded)
    assert kernels.startswith("kernels: gemm_s8 ")
    assert file == "model file ... whole"
    assert dots == f"stages {'.' * len(stages)} {len(stages)}, each equal to the record"
    assert verdict == "True"


def test_the_shipped_model_has_a_record_that_the_firmware_follows(run_mpy, shipped):
    assert said(run_mpy, TEST, shipped)[-1] == "True"


def test_the_first_stage_that_differs_is_named(run_mpy, recorded):
    *_, sentence, verdict = said(run_mpy, BROKEN, recorded)
    assert sentence.startswith("dit.blocks.2 differs after 8 stages that are right")
    assert verdict == "False"


def test_damage_of_the_file_is_named(run_mpy, recorded, tmp_path):
    data = bytearray(recorded.read_bytes())
    data[2_000_000] ^= 1
    (tmp_path / "bad.tti").write_bytes(data)
    code = TEST.replace("sys.argv[1]", "sys.argv[1], 98304")
    _, damage, verdict = said(run_mpy, code, tmp_path / "bad.tti")
    assert damage == "model file ... the model file is damaged; copy it again"
    assert verdict == "False"


@pytest.mark.parametrize("change", [lambda s: s.pop(), lambda s: s.append(["x", 1])])
def test_a_record_of_other_stages_differs(tti, recorded, change):
    pipeline = tti.Pipeline(sys.modules["tti.weights"].load(str(recorded)))
    change(pipeline.weights.metadata["probe"]["stages"])
    from tti import probe as device

    assert not all(same for _, same in device.stages(pipeline))


def test_a_model_without_a_record_says_so(run_mpy, model):
    done = run_mpy(TEST, str(model))
    assert "ValueError: the model file has no record to test with" in done.stderr


@pytest.mark.parametrize("name", ["prompt", "seed", "steps", "guidance", "stages"])
@pytest.mark.parametrize("value", [..., None, {"a": 1}, -1])
def test_a_record_that_is_no_record_says_so(tti, recorded, name, value):
    pipeline = tti.Pipeline(sys.modules["tti.weights"].load(str(recorded)))
    record = pipeline.weights.metadata["probe"]
    if value is ...:
        del record[name]
    else:
        record[name] = value
    from tti import probe as device

    with pytest.raises(ValueError, match="no record to test with"):
        list(device.stages(pipeline))
