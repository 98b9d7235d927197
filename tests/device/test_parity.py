"""The firmware and the simulator compute the same bytes, stage by stage."""

import hashlib
import importlib
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "pictures.json"
ROWS = json.loads(GOLDEN.read_text("utf-8"))

DRAW = """
import sys, hashlib, tti
pipeline = tti.load(sys.argv[1])
prompt, seed, steps, guidance = sys.argv[2:]
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, prompt, int(seed), int(steps), float(guidance))
print(hashlib.sha256(out).digest().hex())
"""


@pytest.mark.parametrize(
    ("prompt", "seed", "steps", "guidance"),
    [
        ("пожилой мужчина", 1, 2, 3),
        ("девушка со светлыми волосами", 4294967295, 1, 4.25),
        ("кот", 0, 1, 1),
        ("мужчина " * 40, 12345, 3, 5),
    ],
)
def test_every_stage_is_equal(tti, run_mpy, model, prompt, seed, steps, guidance):
    script = Path(__file__).with_name("stages.py")
    done = run_mpy(script, str(model), prompt, str(seed), str(steps), str(guidance))
    assert done.rc == 0, done.stderr + done.stdout
    stages = importlib.import_module("stages")
    expected = list(stages.stages(str(model), prompt, seed, steps, guidance))
    got = done.stdout.splitlines()
    different = [(a, b) for a, b in zip(expected, got, strict=True) if a != b]
    assert not different, f"first stage that differs (simulator, firmware): {different[0]}"


def test_there_are_enough_golden_pictures():
    assert len(ROWS) >= 12
    assert len({row["sha256"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['prompt']}-{row['seed']}")
def test_golden_picture_on_the_firmware(run_mpy, shipped, row):
    args = [str(row[key]) for key in ("prompt", "seed", "steps", "guidance")]
    done = run_mpy(DRAW, str(shipped), *args)
    assert done.rc == 0, done.stderr + done.stdout
    assert done.stdout.strip() == row["sha256"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['prompt']}-{row['seed']}")
def test_golden_picture_on_the_simulator(tti, shipped, row):
    out = bytearray(tti.PICTURE_BYTES)
    tti.load(str(shipped)).generate_into(
        out, row["prompt"], row["seed"], row["steps"], row["guidance"]
    )
    assert hashlib.sha256(out).hexdigest() == row["sha256"]
