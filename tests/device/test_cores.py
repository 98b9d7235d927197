"""Two cores draw what one draws; whatever happens to a picture, the second core is given back."""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from ttikit import simulator

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "pictures.json").read_text("utf-8"))
ROW = next(row for row in ROWS if row["steps"] == 1)

# `threads()` counts those of the process, `sha()` draws the golden picture of one step.
START = """
import _thread, _tti, binascii, gc, hashlib, os, sys, time, tti
pipe = tti.load(sys.argv[1])
pipe.cores = 2
out = bytearray(tti.PICTURE_BYTES)
ARGS = ({prompt!r}, {seed}, {steps}, {guidance})
def lives(thread):
    try:
        with open("/proc/self/task/" + thread + "/stat") as file:
            return not int(file.read().rsplit(")", 1)[1].split()[6]) & 4  # PF_EXITING
    except OSError:
        return False
def threads():  # a joined thread may be listed for a moment more
    return sum(lives(thread) for thread in os.listdir("/proc/self/task"))
def of(data):
    return binascii.hexlify(hashlib.sha256(data).digest()).decode()
def sha():
    pipe.generate_into(out, *ARGS)
    return of(out)
def stages(into, pipeline=pipe):
    return pipeline.stages(ARGS[0], into, *ARGS[1:])
def second():  # whether a picture that begins now has a second core, and gives it back
    picture = stages(bytearray(12288))
    next(picture)
    before = threads()
    picture.close()
    return before - threads()
""".format(**ROW)


@pytest.fixture
def run(run_mpy, shipped):
    """Run the code after START; its lines."""

    def run(code, timeout=60):
        done = run_mpy(START + code, str(shipped), timeout=timeout)
        assert done.rc == 0, done.stderr + done.stdout
        return done.stdout.splitlines()

    return run


def test_golden_pictures_with_two_cores(run):
    lines = run(f"""
for prompt, seed, steps, guidance in {[tuple(r.values())[:4] for r in ROWS]!r}:
    for name, _ in pipe.stages(prompt, out, seed, steps, guidance):
        if name == "noise":
            assert threads() == 2
    print(of(out))
""")
    assert lines == [row["sha256"] for row in ROWS]


def test_one_core_starts_no_thread(run):
    code = "pipe.cores = 1\nprint(second(), sha(), threads(), _tti.cores(1).count())"
    assert run(code) == [f"0 {ROW['sha256']} 1 1"]


def test_a_pc_draws_with_one_core_unless_told(run):
    assert run("print(tti.Pipeline(pipe.weights).cores, _tti.cores(0).count())") == ["0 1"]


def test_fifty_pictures_leave_no_thread(run):
    lines = run("""
gc.collect()
for i in range(50):
    pipe.generate_into(out, "a", i, 1)
    assert threads() == 1, i
print(sha())
""")
    assert lines == [ROW["sha256"]]


def test_cores_are_taken_and_given_back(run):
    lines = run("""
a = _tti.cores(2)
print(a.count(), threads())
b = _tti.cores(2)
print(a.count(), b.count(), threads())
a.end()
print(b.count(), threads())
b.end()
b.end()
print(b.count(), threads())
c = _tti.cores(2)
_tti.cores(1)
gc.collect()
print(c.count(), threads())
def lose():
    _tti.cores(2)
def deep(n):
    return deep(n - 1) if n else [bytearray(64) for _ in range(100)]
lose()
deep(20)
gc.collect()
print(threads())
""")
    assert lines == ["2 2", "1 2 2", "2 2", "1 1", "2 2", "1"]


@pytest.mark.parametrize("n", [-1, 3, 1000, None, "2", 2.0])
def test_a_number_of_cores_that_cannot_be(run_mpy, n):
    with pytest.raises((TypeError, ValueError)) as error:
        simulator.cores(n)
    done = run_mpy(f"""
import _tti
try:
    _tti.cores({n!r})
except (TypeError, ValueError) as error:
    print(type(error).__name__, error)
""")
    assert done.stdout.strip() == f"{type(error.value).__name__} {error.value}"


def test_the_simulator_has_one_core():
    cores = simulator.cores(2)
    cores.end()
    assert cores.count() == 1


def test_an_exception_at_every_stage(run):
    lines = run("""
names = [name for name, _ in stages(out)]
for stop in range(len(names)):
    picture = stages(bytearray(12288))
    for _ in range(stop + 1):
        next(picture)
    assert threads() == 2, stop
    try:
        picture.throw(ValueError("enough"))
    except ValueError as error:
        assert threads() == 1, stop
print(len(names) > 15, sha())
""")
    assert lines == [f"True {ROW['sha256']}"]


def test_a_picture_dropped_half_way(run):
    lines = run("""
def drop():
    picture = stages(bytearray(12288))
    for _ in range(6):
        next(picture)
    print(threads())
def deep(n):
    return deep(n - 1) if n else [bytearray(64) for _ in range(100)]
drop()
deep(20)
gc.collect()
print(threads(), sha(), threads())
""")
    assert lines == ["2", f"1 {ROW['sha256']} 1"]


def test_an_exception_in_the_callback_gives_the_core_back_at_once(run):
    lines = run("""
gc.disable()
def progress(done, steps):
    print(done, threads())
    if done == 1:
        raise ValueError("enough")
try:
    tti.generate("a", 1, 2, show=False, progress=progress)
except ValueError as error:
    print(error, threads())
""")
    assert lines == ["0 1", "1 2", "enough 1"]


def test_two_pictures_in_turns(run):
    lines = run("""
other = tti.Pipeline(pipe.weights)
other.cores = 2
a, b = bytearray(12288), bytearray(12288)
first, then = stages(a), stages(b, other)
running = [first, then]
while running:
    for picture in running[:]:
        try:
            next(picture)
        except StopIteration:
            running.remove(picture)
    assert threads() <= 2
print(of(a) == of(b), of(a), threads())
""")
    assert lines == [f"True {ROW['sha256']} 1"]


def test_files_written_while_a_picture_is_drawn(run, tmp_path):
    lines = run(f"""
n = 0
for name, _ in stages(out):
    n += 1
    with open({str(tmp_path / "log")!r}, "ab") as file:
        file.write(bytes([n]) * 700)
    assert threads() == 2
data = open({str(tmp_path / "log")!r}, "rb").read()
print(of(out), data == b"".join([bytes([i]) * 700 for i in range(1, n + 1)]))
""")
    assert lines == [f"{ROW['sha256']} True"]


def test_too_little_memory_in_the_middle(run):
    lines = run("""
import micropython
picture = stages(out)
next(picture)
micropython.heap_lock()
try:
    for _ in picture:
        pass
except MemoryError:
    kind = "MemoryError"
finally:
    micropython.heap_unlock()
print(kind, threads(), sha())
""")
    assert lines == [f"MemoryError 1 {ROW['sha256']}"]


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_thread_of_the_user(run, when):
    lines = run(f"""
going, turns = True, 0
def work():
    global turns
    while going:
        turns += 1
        [bytearray(50) for _ in range(20)]
        time.sleep_ms(1)
def start():
    _thread.start_new_thread(work, ())
    while not turns:
        time.sleep_ms(1)
if {when == "before"}:
    start()
for name, _ in stages(out):
    if name == "noise" and {when == "during"}:
        start()
going = False
while threads() > 1:
    time.sleep_ms(1)
print(of(out), turns > 0)
""")
    assert lines == [f"{ROW['sha256']} True"]


def test_two_threads_draw_at_once(run):
    lines = run("""
other = tti.Pipeline(pipe.weights)
other.cores = 2
ready, seen = [], []
def work():
    for _ in range(5):
        mine = bytearray(12288)
        other.generate_into(mine, *ARGS)
        seen.append(of(mine))
    ready.append(1)
_thread.stack_size(256 * 1024)
_thread.start_new_thread(work, ())
for _ in range(5):
    seen.append(sha())
while not ready or threads() > 1:
    time.sleep_ms(1)
print(len(seen), set(seen))
""")
    assert lines == [f"10 {{'{ROW['sha256']}'}}"]


STOPPED = """
print("ready")
for i in range(10000):
    try:
        while True:
            print("drawing")
            sha()
    except KeyboardInterrupt:
        print("stopped", threads())
    if i == int(sys.argv[2]) - 1:
        print(sha(), threads())
        break
"""


@pytest.mark.parametrize("moments", [25, pytest.param(500, marks=pytest.mark.long)])
def test_ctrl_c_at_random_moments(firmware, shipped, tmp_path, moments):
    script = tmp_path / "script.py"
    script.write_text(START + STOPPED, encoding="utf-8")
    rng = random.Random(moments)
    command = [str(firmware), str(script), str(shipped), str(moments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(20 + moments, process.kill)
        watchdog.start()
        lines = iter(process.stdout.readline, "")
        assert next(lines) == "ready\n"
        for _ in range(moments):
            assert next(line for line in lines if line == "drawing\n")
            time.sleep(rng.uniform(0, 0.05))
            os.kill(process.pid, signal.SIGINT)
            stopped = next(line for line in lines if line != "drawing\n")
            assert re.fullmatch(r"stopped 1\n", stopped)
        assert list(lines)[-1] == f"{ROW['sha256']} 1\n"
        watchdog.cancel()
    assert process.returncode == 0


ONE_PIPELINE = """
import _thread
right = sha()
_thread.stack_size(256 * 1024)
for i in range(10):
    said = []
    def work():
        try:
            said.append(str(sha() == right))
        except RuntimeError as error:
            said.append(str(error)[:25])
    _thread.start_new_thread(work, ())
    time.sleep(i / 200)
    _thread.start_new_thread(work, ())
    while len(said) < 2:
        time.sleep(0.01)
    print(sorted(said))
print(sha() == right)
"""


def test_two_threads_on_one_pipeline_get_the_picture_or_a_sentence(run_mpy, shipped):
    done = run_mpy(START + ONE_PIPELINE, str(shipped))
    assert done.rc == 0, done.stderr
    *rounds, last = done.stdout.splitlines()
    assert last == "True" and len(rounds) == 10
    for said in rounds:
        assert "True" in said and "False" not in said, rounds
