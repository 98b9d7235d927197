"""`tti.memory()`: what a picture takes and what there is, without loading anything."""

import importlib
import re
import sys

import pytest

REPORT = """
import gc, tti
{before}
free = gc.mem_free()
tti.memory()
gc.collect()
assert gc.mem_free() > free - 4096, "the report kept memory"
"""

FRAGMENTED = """
import gc, hashlib, sys, tti
keep = [bytearray(2000) for _ in range({count})]
for i in range(len(keep)):
    if i % {every}:
        keep[i] = None
tti.memory()
pipeline = tti.load(sys.argv[1], 81920)
print(len(pipeline.arena.parts))
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, "девушка", 1, 1)
print(hashlib.sha256(out).digest().hex())
"""


def lines(done):
    assert done.rc == 0, done.stderr + done.stdout
    return done.stdout.splitlines()


def test_a_large_memory(run_mpy):
    arena, graphs, picture, model, free, verdict = lines(run_mpy(REPORT.format(before="")))
    assert arena.split()[:3] == ["arena", "167,680", "bytes"]
    assert graphs.split(":")[1].startswith(" text encoder ")
    assert picture.split()[1] == "12,288"
    assert re.fullmatch(r"model    3,\d\d\d,\d\d\d bytes, in memory \(models/faces.tti\)", model)
    assert int(free.split()[1].replace(",", "")) > 30_000_000
    assert verdict == "enough memory"


@pytest.mark.parametrize(
    ("heap", "model", "verdict"),
    [
        ("1m", "piece by piece", "enough memory"),
        (
            "170k",
            "piece by piece",
            r"too little memory: 1\d\d,\d\d\d bytes are short; free what you can",
        ),
    ],
)
def test_a_small_memory(run_mpy, heap, model, verdict):
    said = lines(run_mpy(REPORT.format(before=""), options=("-X", f"heapsize={heap}")))
    assert model in said[3]
    assert re.match(verdict, said[5]), said


def test_what_is_loaded_is_not_needed_once_more(run_mpy, shipped):
    said = lines(run_mpy(REPORT.format(before=f"tti.load({str(shipped)!r}, 81920)")))
    assert said[0] == "arena    167,680 bytes, allocated"
    assert said[3] == "model    loaded, read from the file piece by piece"


def test_no_model(run_mpy, tmp_path):
    said = lines(run_mpy(REPORT.format(before=""), cwd=tmp_path))
    assert said[3] == "model    none found"
    assert said[-1].startswith("there is no model; copy faces.tti to the board")


def test_a_heap_in_pieces_splits_the_arena_and_draws_the_same(run_mpy, shipped):
    plain = lines(run_mpy(FRAGMENTED.format(count=0, every=1), str(shipped)))
    code = FRAGMENTED.format(count=350, every=60)
    split = lines(run_mpy(code, str(shipped), options=("-X", "heapsize=760k")))
    assert "enough memory, but in pieces" in split[5]
    assert plain[-2] == "1" and int(split[-2]) > 1
    assert split[-1] == plain[-1]


def test_too_little_memory_is_one_sentence_and_passes(run_mpy, shipped):
    done = run_mpy(
        "import sys, tti\nhog = bytearray(400_000)\n"
        "try:\n    tti.load(sys.argv[1], 81920)\nexcept MemoryError as e:\n    print(e)\n"
        "hog = None\ntti.generate('девушка', 1, 1, show=False)\nprint('drawn')",
        str(shipped),
        options=("-X", "heapsize=680k"),
    )
    sentence, drawn = lines(done)
    assert sentence.startswith("not enough memory for a picture: 167680 bytes are needed")
    assert drawn == "drawn"


def test_pieces_of_the_plan_fit_every_choice(tti):
    arena = sys.modules["tti.arena"]
    budget = importlib.import_module("tti.budget")
    graphs = sys.modules["tti.pipeline"].buffers(
        sys.modules["tti.text_encoder"].TextEncoder(None, 0),
        sys.modules["tti.dit"].DiT(None, 0),
        sys.modules["tti.decoder"].Decoder(None, 16),
    )
    largest = [max(arena.plan(graphs, limits)[0]) for limits in arena.CHOICES]
    assert largest == sorted(largest, reverse=True) and largest[-1] <= 61_440
    assert budget.plan()[0] == 167_680
