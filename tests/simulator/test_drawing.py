"""Whole pictures by `ttikit simulate`, with a model of random weights."""

import hashlib
import importlib.util
import json

import numpy as np
import pytest
from PIL import Image
from ttikit.cli import app
from ttikit.errors import TtiError
from ttikit.simulator.drawing import Simulator
from typer.testing import CliRunner

PROMPT = "пожилой мужчина"
QUICK = ["--seed", "7", "--steps", "1", "--guidance", "1"]


@pytest.fixture(scope="module")
def model(repo, tmp_path_factory):
    place = repo / "tests" / "device" / "random_model.py"
    spec = importlib.util.spec_from_file_location("random_model_of_the_simulator", place)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker.write(tmp_path_factory.mktemp("model") / "random.tti")


@pytest.fixture(scope="module")
def simulator(model):
    return Simulator(model)


def run(*args):
    return CliRunner().invoke(app, ["simulate", *map(str, args)])


def test_record_names_the_bytes_of_the_saved_picture(model, simulator, tmp_path):
    out = tmp_path / "face.png"
    done = run(PROMPT, *QUICK, "--model", model, "-o", out, "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    saved = Image.open(out)
    assert saved.format == "PNG"
    pixels = np.asarray(saved.convert("RGB"))
    assert pixels.shape == (64, 64, 3)
    assert record["sha256"] == hashlib.sha256(pixels.tobytes()).hexdigest()
    assert record["sha256"] == simulator.draw(PROMPT, 7, 1, 1.0).sha256
    assert (record["prompt"], record["seed"], record["steps"]) == (PROMPT, 7, 1)
    assert (record["guidance"], record["notes"], record["out"]) == (1.0, [], str(out))
    assert "stages" not in record


def test_a_seed_that_is_not_given_is_random_and_told(model):
    done = [run(PROMPT, *QUICK[2:], "--model", model, "--json") for _ in range(2)]
    first, second = (json.loads(run.stdout) for run in done)
    assert first["seed"] != second["seed"]
    assert first["sha256"] != second["sha256"]


def test_stages_name_every_intermediate_tensor(model):
    args = ["--seed", 7, "--steps", 2, "--model", model, "--json", "--stages"]
    stages = json.loads(run(PROMPT, *args).stdout)["stages"]
    names = [stage["stage"] for stage in stages]
    blocks = [f"dit.blocks.{i}" for i in range(6)]
    assert names[:6] == ["tokens", *(f"text.blocks.{i}" for i in range(3)), "text", "noise"]
    assert names[6:20] == [*blocks, "step", *blocks, "step"]
    assert len(stages) == len({stage["sha256"] for stage in stages[:-1]}) + 1
    assert stages[0] == {
        "stage": "tokens",
        "bytes": 32,
        "sha256": hashlib.sha256(bytes([1, 2] + 30 * [0])).hexdigest(),
    }


def test_picture_in_the_terminal(model):
    lines = run(PROMPT, *QUICK, "--model", model, "--ascii").stdout.splitlines()
    assert [len(line) for line in lines[:32]] == [64] * 32
    assert all(line.isascii() for line in lines[:32])
    assert lines[32].startswith("sha256 ")


def test_notes_go_to_standard_error(model):
    done = run("мужчина zzz", *QUICK, "--model", model, "--ascii")
    assert "«zzz»" in done.stderr
    assert "zzz" not in done.stdout


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((" ",), "the prompt has no letters"),
        ((b"\xff\xfe".decode("utf-8", "surrogateescape"),), "not valid UTF-8"),
        ((PROMPT, "--seed", "-1"), "seed must be"),
        ((PROMPT, "--seed", "4294967296"), "seed must be"),
        ((PROMPT, "--steps", "0"), "steps must be"),
        ((PROMPT, "--steps", "1000"), "steps must be"),
        ((PROMPT, "--guidance", "nan"), "guidance must be"),
        ((PROMPT, "-o", "face.gif"), "saved as .png or .bmp"),
        ((PROMPT, "-o", "/no/such/folder/face.png"), "folder"),
        ((PROMPT, "--model", "/no/such.tti"), "there is no model file"),
    ],
)
def test_refused_input(model, args, text):
    done = run("--model", model, *args)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_target_is_checked_before_anything_else():
    done = run(PROMPT, "--model", "/no/such.tti", "-o", "face.gif")
    assert "saved as .png or .bmp" in done.stderr


def test_damaged_model_is_refused(model, tmp_path):
    broken = tmp_path / "broken.tti"
    data = bytearray(model.read_bytes())
    data[-1000] ^= 1
    broken.write_bytes(data)
    with pytest.raises(TtiError, match="CRC"):
        Simulator(broken)


def test_model_for_something_else_is_refused(tmp_path):
    from ttikit.model_file import Tensor, write_model

    write_model(tmp_path / "other.tti", {"a": Tensor(np.zeros(3, np.float32))}, {})
    with pytest.raises(TtiError, match="not one that tti draws with"):
        Simulator(tmp_path / "other.tti")


def test_the_simulator_draws_again_after_an_error(simulator):
    before = simulator.draw(PROMPT, 1, 1, 1.0).sha256
    with pytest.raises(TtiError):
        simulator.draw(PROMPT, 1, 0, 1.0)
    assert simulator.draw(PROMPT, 1, 1, 1.0).sha256 == before
    assert simulator.draw(PROMPT, 2, 1, 1.0).sha256 != before
