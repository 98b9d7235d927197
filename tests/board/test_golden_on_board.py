"""The emulated board draws the same bytes as the PC."""

import json
from pathlib import Path

import pytest
from board_driver import Terminal

GOLDEN = Path(__file__).parents[1] / "golden" / "pictures.json"
ROWS = json.loads(GOLDEN.read_text("utf-8"))
QUICK = [row for row in ROWS if row["steps"] == 2]
(SHORTEST,) = [row for row in ROWS if row["steps"] == 1]  # for the board that is slower

DRAW = """
import hashlib, tti
pipeline = tti.load()
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, {prompt!r}, {seed}, {steps}, {guidance})
print(hashlib.sha256(out).digest().hex())
"""


def name(row):
    return f"{row['prompt']}-{row['seed']}-{row['steps']}"


def test_there_are_enough_quick_rows():
    assert len({row["prompt"] for row in QUICK}) >= 4


@pytest.mark.parametrize("row", QUICK, ids=name)
def test_golden_picture(mpremote, row):
    assert mpremote("exec", DRAW.format(**row), timeout=300).text.strip() == row["sha256"]


@pytest.mark.long
@pytest.mark.parametrize("row", [row for row in ROWS if row not in QUICK], ids=name)
def test_golden_picture_with_other_steps(mpremote, row):
    assert mpremote("exec", DRAW.format(**row), timeout=900).text.strip() == row["sha256"]


@pytest.mark.parametrize("cpu", ["lx7"], indirect=True, scope="session")
def test_golden_picture_by_vector_instructions(mpremote):
    code = DRAW.format(**SHORTEST)
    assert mpremote("exec", code, timeout=600).text.strip() == SHORTEST["sha256"]


@pytest.mark.long
@pytest.mark.parametrize("cpu", ["lx7"], indirect=True, scope="session")
@pytest.mark.parametrize("row", [row for row in ROWS if row != SHORTEST], ids=name)
def test_every_golden_picture_by_vector_instructions(mpremote, row):
    assert mpremote("exec", DRAW.format(**row), timeout=1800).text.strip() == row["sha256"]


def test_ctrl_c_in_the_middle_of_a_picture(board, mpremote):
    with Terminal(board.port) as terminal:
        terminal.prompt()
        terminal.type(
            b"import tti; tti.generate('old man', steps=50, show=False, progress=True)\r"
        )
        terminal.read_until(b"step 1 of 50", 120)
        terminal.type(b"\x03")
        terminal.read_until(b"KeyboardInterrupt: \r\n>>> ")
    row = QUICK[0]
    assert (
        mpremote("resume", "exec", DRAW.format(**row), timeout=300).text.strip() == row["sha256"]
    )
