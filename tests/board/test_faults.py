"""A board that is short of memory, interrupted at any moment, or busy with other things."""

import json
import random
import time
from pathlib import Path

import pytest
from ttikit.board.session import Session, SessionError

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "pictures.json").read_text("utf-8"))
ROW = next(row for row in ROWS if row["steps"] == 1)
LONG = pytest.mark.long

DRAW = """
import binascii, gc, hashlib, os, tti
def sha():
    out = bytearray(tti.PICTURE_BYTES)
    tti.load().generate_into(out, {prompt!a}, {seed}, {steps}, {guidance})
    print(binascii.hexlify(hashlib.sha256(out).digest()).decode())
""".format(**ROW)


@pytest.fixture
def session(board):
    """A conversation with the shared board, fresh from a soft reset, with `sha()` in it."""
    with Session(board.port, soft_reset=True) as session:
        session.run(DRAW)
        yield session


def sha(session):
    return session.run("sha()")[-1]


@pytest.mark.parametrize("moments", [8, pytest.param(50, marks=LONG)])
def test_ctrl_c_at_random_moments(board, moments):
    rng = random.Random(moments)
    stopped = 0
    with Session(board.port, soft_reset=True) as session:
        session.run(DRAW)
        transport = session._transport
        began = time.monotonic()
        assert sha(session) == ROW["sha256"]
        whole = time.monotonic() - began
        for _ in range(moments):
            transport.exec_raw_no_follow("sha()")
            time.sleep(rng.uniform(0, 0.9 * whole))
            transport.serial.write(b"\x03")
            _, error = transport.follow(30)
            stopped += b"KeyboardInterrupt" in error
            assert not error or error.splitlines()[-1].startswith(b"KeyboardInterrupt"), error
        assert stopped > moments // 2
        assert sha(session) == ROW["sha256"]
    with Session(board.port, soft_reset=True) as session:
        session.run(DRAW)
        assert sha(session) == ROW["sha256"]


def test_a_heap_full_of_small_blocks(session):
    session.run("""
keep = [bytearray(64 + i % 7 * 16) for i in range(1500)]
for i in range(len(keep)):
    if i % 3:
        keep[i] = None
gc.collect()
""")
    assert sha(session) == ROW["sha256"]
    lines = session.run("tti.memory()")
    assert lines[0].startswith("arena    167,680 bytes")


def test_too_little_memory_and_then_enough(session):
    session.run("hog = bytearray(340_000)")
    with pytest.raises(SessionError, match="not enough memory for a picture: 167680 bytes are"):
        sha(session)
    said = session.run("tti.memory()")
    assert said[-1].startswith("too little memory: ") and "free what you can" in said[-1]
    session.run("hog = None")
    assert sha(session) == ROW["sha256"]


def test_memory_that_ends_in_the_middle_of_a_picture(session):
    session.run("import micropython\nstages = tti.load().stages('a', bytearray(12288), 1, 1)")
    for _ in range(3):
        with pytest.raises(SessionError, match="the board ran out of memory; free some"):
            session.run("""
next(stages)
micropython.heap_lock()
try:
    for _ in stages:
        pass
finally:
    micropython.heap_unlock()
    stages = tti.load().stages('a', bytearray(12288), 1, 1)
""")
    assert sha(session) == ROW["sha256"]


@pytest.mark.parametrize("pictures", [3, pytest.param(100, marks=LONG)])
def test_pictures_in_a_row_do_not_grow_the_heap(session, pictures):
    sha(session)
    session.run("used = []")
    for _ in range(pictures):
        assert sha(session) == ROW["sha256"]
        session.run("gc.collect()\nused.append(gc.mem_alloc())")
    used = [int(text) for text in session.run("print(*used)")[-1].split()]
    assert max(used) - min(used) <= 64 * pictures  # the list itself


def test_files_written_while_a_picture_is_drawn(session):
    said = session.run(
        """
out, n = bytearray(tti.PICTURE_BYTES), 0
for name, _ in tti.load().stages({prompt!a}, out, {seed}, {steps}, {guidance}):
    n += 1
    with open("/log.bin", "ab" if n > 1 else "wb") as file:
        file.write(bytes([n % 256]) * 700)
print(binascii.hexlify(hashlib.sha256(out).digest()).decode())
data = open("/log.bin", "rb").read()
os.remove("/log.bin")
print(n, data == b"".join([bytes([i % 256]) * 700 for i in range(1, n + 1)]))
""".format(**ROW)
    )
    assert said[-2] == ROW["sha256"]
    assert said[-1].split()[1] == "True" and int(said[-1].split()[0]) > 15


def test_the_peak_of_memory(session):
    """A whole picture, GC heap included, in at most 400 KB of the 520."""
    total, peak = map(
        int,
        session.run("""
gc.collect()
gc.disable()
base = gc.mem_alloc()
tti.load()
peak = 0
out = bytearray(tti.PICTURE_BYTES)
for _ in tti.load().stages("a", out, 1, 1):
    peak = max(peak, gc.mem_alloc())
    gc.collect()
gc.enable()
print(gc.mem_alloc() + gc.mem_free(), peak)
""")[-1].split(),
    )
    print(f"GC heap {total:,} bytes, peak {peak:,}")
    assert peak < 300_000


def test_an_op_called_from_too_deep_is_refused_instead_of_overrunning_the_stack(session):
    said = session.run("""
refused = 0
def deeper(n):
    global refused
    try:
        deeper(n + 1)
    except RuntimeError as error:
        if "too little stack" not in str(error) and "recursion" not in str(error):
            raise
    try:
        sha()
    except RuntimeError as error:
        refused += "too little stack is left; call tti from a function less deep" in str(error)
        return
    raise StopIteration  # drawn: no need to draw from every level above
try:
    deeper(0)
except StopIteration:
    print(refused)
""")
    assert said[0] == ROW["sha256"]
    assert int(said[1]) >= 3
