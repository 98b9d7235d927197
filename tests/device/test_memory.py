"""Memory on the firmware: small allocations per op, none that stay, and no growth."""

from pathlib import Path

OP_LIMIT = 1024  # bytes that one op call may allocate
CALL_LIMIT = 256  # bytes of Python objects (slices, names) around one op call, on average

MANY = """
import gc, sys, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
seen = []
for seed in range(6):
    pipeline.generate_into(out, "девушка", seed, 1)
    gc.collect()
    seen.append(gc.mem_alloc())
print(max(seen[1:]) - min(seen[1:]))
"""

SHORT_OF_MEMORY = """
import gc, sys, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, "девушка", 1, 1)
first = bytes(out)
failed = 0
import micropython
for _ in range(3):
    stages = pipeline.stages("мужчина", out, 2, 2)
    next(stages)
    micropython.heap_lock()
    try:
        for stage in stages:
            pass
    except MemoryError:
        failed += 1
    finally:
        micropython.heap_unlock()
pipeline.generate_into(out, "девушка", 1, 1)
print(failed, bytes(out) == first)
"""


def test_allocations_of_a_step_are_small(run_mpy, model):
    done = run_mpy(Path(__file__).with_name("allocations.py"), str(model))
    assert done.rc == 0, done.stdout + done.stderr
    op, step, calls = map(int, done.stdout.split())
    assert calls > 500
    assert op <= OP_LIMIT
    assert step <= calls * CALL_LIMIT


def test_pictures_in_a_row_do_not_grow_the_heap(run_mpy, model):
    done = run_mpy(MANY, str(model))
    assert done.rc == 0, done.stdout + done.stderr
    assert int(done.stdout) <= 256


def test_running_out_of_memory_leaves_the_pipeline_usable(run_mpy, model):
    done = run_mpy(SHORT_OF_MEMORY, str(model))
    assert done.stdout.split() == ["3", "True"], done.stdout + done.stderr


PROGRESS = """
import os, sys, tti
tti.load(sys.argv[1])
seen = []
def save(done, steps):
    seen.append((done, steps))
    with open(sys.argv[2], "ab") as file:
        file.write(bytes([done]) * 100)
plain = tti.generate("девушка", 1, 3, show=False)
same = tti.generate("девушка", 1, 3, show=False, progress=save)
print(seen, plain.data == same.data, os.stat(sys.argv[2])[6])
def stop(done, steps):
    if done == 2:
        raise RuntimeError("enough")
try:
    tti.generate("девушка", 1, 3, progress=stop)
except RuntimeError as error:
    print(error)
print(tti.generate("девушка", 1, 3, show=False).data == plain.data)
"""


NOTES = """
import tti
tti.load(sys.argv[1])
first = tti.generate("девушка и кот", 1, 1, show=False)
second = tti.generate("девушка", 1, 1, show=False, progress=lambda done, steps: None)
print(*first.notes, second.notes)
"""


def test_a_silent_picture_knows_what_was_not_understood(run_mpy, model):
    done = run_mpy("import sys" + NOTES, str(model))
    assert done.stdout == "ignored, not in the vocabulary: «и», «кот» []\n", done.stderr


def test_progress_is_told_to_a_function_that_may_save_files_or_stop(run_mpy, model, tmp_path):
    done = run_mpy(PROGRESS, str(model), str(tmp_path / "log.bin"))
    assert done.rc == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[(0, 3), (1, 3), (2, 3), (3, 3)] True 400",
        "enough",
        "True",
    ]
