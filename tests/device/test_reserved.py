"""The arena in memory that a board has set aside at boot: the PC's firmware, linked with a board.

The same objects as the firmware's, and reserve_on_pc.c."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "pictures.json").read_text("utf-8"))
ROW = next(row for row in ROWS if row["steps"] == 1)

START = """
import _tti, binascii, gc, hashlib, sys, tti
from tti.arena import Arena
ARGS = ({prompt!r}, {seed}, {steps}, {guidance})
def load():
    return tti.Pipeline(tti.load_weights(sys.argv[1]))
def sha(pipe):
    out = bytearray(tti.PICTURE_BYTES)
    pipe.generate_into(out, *ARGS)
    return binascii.hexlify(hashlib.sha256(out).digest()).decode()
def left():  # parts that one could have now, without a collection
    lent = _tti.reserved()
    n = len(lent.parts())
    lent.end()
    return n
def deep(n):  # so that no stale pointer is left on the stack
    return deep(n - 1) if n else [bytearray(64) for _ in range(100)]
""".format(**ROW)


def objects(repo: Path, firmware: Path) -> list[Path]:
    """The objects that the firmware is linked from; an old build may have left others there."""
    found = sorted(firmware.parent.rglob("*.o"))
    native = firmware.parent / "native"
    sources = {
        path.relative_to(repo).with_suffix("") for path in (repo / "native").rglob("*.[cS]")
    }
    return [
        path
        for path in found
        if native not in path.parents
        or path.relative_to(firmware.parent).with_suffix("") in sources
    ]


@pytest.fixture(scope="module")
def board(repo: Path, firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The firmware with a start-up of its own."""
    program = tmp_path_factory.mktemp("board") / "tti"
    editor = (repo / "native" / "readline" / "editor.c").read_text()
    wraps = sorted(set(re.findall(r"__wrap_(\w+)\(", editor)))
    assert len(wraps) == 6
    linked = program.with_name("objects")  # a command line would be long
    linked.write_text("\n".join(map(str, objects(repo, firmware))))
    done = subprocess.run(
        [
            *("cc", "-o", program, "-I", repo / "native" / "reserve"),
            *(f"-Wl,--wrap={name}" for name in wraps),
            *(Path(__file__).with_name("reserve_on_pc.c"), f"@{linked}", "-lm", "-lpthread"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return program


@pytest.fixture
def run(board, shipped, repo):
    """Run the code after START; its lines."""

    def run(code, largest="200000"):
        done = subprocess.run(
            [board, "-c", START + code, shipped],
            env={**os.environ, "TTI_LARGEST": largest},
            cwd=repo,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize(("largest", "parts"), [("200000", 1), ("110000", 2), ("62000", 4)])
def test_pictures_are_drawn_in_it(run, largest, parts):
    lines = run(
        "pipe = load()\nprint(sha(pipe), pipe.arena.where, len(pipe.arena.parts))\n", largest
    )
    assert lines == [f"{ROW['sha256']} set aside at boot {parts}"]


def test_a_board_that_sets_nothing_aside(run):
    lines = run(
        "print(_tti.reserved().parts())\npipe = load()\nprint(sha(pipe), pipe.arena.where)\n", "0"
    )
    assert lines == ["()", f"{ROW['sha256']} allocated"]


def test_a_second_arena_is_allocated(run):
    lines = run("""
a, b = load(), load()
print(a.arena.where, "/", b.arena.where, sha(a) == sha(b) == sha(a))
""")
    assert lines == ["set aside at boot / allocated True"]


def test_what_is_dropped_is_lent_again(run):
    lines = run("""
gc.disable()
def use():
    print(load().arena.where)
use()
deep(20)
gc.collect()
others = [[] for _ in range(500)]  # take the places of what was collected
print(left())
use()
deep(20)
tti.load(sys.argv[1])
tti.load(sys.argv[1])
print(tti.load().arena.where, sha(tti.load()))
""")
    aside = "set aside at boot"
    assert lines == [aside, "1", aside, f"{aside} {ROW['sha256']}"]


def test_it_outlives_collections(run):
    lines = run("""
pipe = load()
for _ in range(5):
    gc.collect()
    deep(20)
print(sha(pipe), _tti.reserved().parts())
""")
    assert lines == [f"{ROW['sha256']} ()"]


def test_it_is_given_back(run):
    lines = run("""
a, b = _tti.reserved(), _tti.reserved()
print(len(a.parts()), len(b.parts()))
b.end()
print(len(a.parts()), len(b.parts()))
a.end()
a.end()
c = _tti.reserved()
print(len(a.parts()), len(c.parts()))
part = c.parts()[0]
part[0], part[-1] = 1, 2
same = c.parts()[0]
print(len(part), same[0], same[-1], hasattr(part, "append"))
""")
    assert lines == ["1 0", "1 0", "0 1", "167680 1 2 False"]


def test_limits_and_larger_arenas_take_the_heap(run):
    lines = run("""
weights = tti.load_weights(sys.argv[1])
for kinds in ({"limits": (229376,)}, {"stripe": 32}, {}):
    pipe = tti.Pipeline(weights, **kinds)
    print(pipe.arena.where, left())
""")
    assert lines == ["allocated 1", "allocated 1", "set aside at boot 0"]


def test_memory_says_where_it_is(run):
    lines = run("""
tti.memory()
print("left", left())
tti.load(sys.argv[1])
tti.memory()
print("left", left())
""")
    told = "arena    167,680 bytes, set aside at boot"
    assert [line for line in lines if line.startswith(("arena", "left"))] == [
        *(told, "left 1"),
        *(told, "left 0"),
    ]


def test_memory_of_a_small_heap(board, shipped, repo):
    """What is set aside is not asked of the heap."""
    said = []
    for largest in ("200000", "0"):
        done = subprocess.run(
            [board, "-X", "heapsize=170k", "-c", "import tti\ntti.memory()"],
            env={**os.environ, "TTI_LARGEST": largest},
            cwd=repo,
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout.splitlines()[-1])
    assert said[0].startswith("enough memory")
    assert said[1].startswith("too little memory")
