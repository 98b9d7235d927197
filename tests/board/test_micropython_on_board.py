"""MicroPython's own tests pass on the emulated board, through its terminal."""

import os
import re
import subprocess
import sys

import pytest
from board_driver import on_cpus

FOLDERS = ["basics", "float", "micropython", "misc", "extmod", "stress", "unicode"]
INLINE = {"m33": ["inlineasm/thumb"], "lx7": []}  # assembly in Python
EXCLUDED = {
    # It tunes itself for little stack only where there is little heap; a Pico 2 fails it as well.
    "stress/recursive_iternext.py",
    # These need files of the tree beside them.
    *(f"unicode/{name}.py" for name in ("file1", "file2", "file_invalid")),
}
STEP = {"m33": 8, "lx7": 16}  # `make test` runs every eighth


def own_tests(mpy_dir, cpu):
    """Return the tests of FOLDERS that can run without micropython-lib, by their short paths."""
    tests = mpy_dir / "tests"
    folders = FOLDERS + INLINE[cpu]
    found = [path for folder in folders for path in sorted((tests / folder).glob("*.py"))]
    names = {
        str(path.relative_to(tests)) for path in found if "import unittest" not in path.read_text()
    }
    assert names >= EXCLUDED
    return sorted(names - EXCLUDED)


def run_on(board, mpy_dir, results, names):
    """Run the tests `names` on the board; return how many passed. Any failure fails."""
    done = subprocess.run(
        [sys.executable, "run-tests.py", "-t", board.port, "-r", str(results), *names],
        cwd=mpy_dir / "tests",
        env={
            **os.environ,
            "MICROPY_CPYTHON3": sys.executable,
            # Python must not add its caches to the tree.
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    log = done.stdout + done.stderr
    counted = re.search(r"^(\d+) tests passed", log, re.MULTILINE)
    assert done.returncode == 0 and counted, log[-3000:]
    board.check()
    return int(counted[1])


@on_cpus
def test_a_share_of_micropythons_tests(cpu, own_board, mpy_dir, tmp_path):
    names = own_tests(mpy_dir, cpu)[:: STEP[cpu]]
    assert run_on(own_board, mpy_dir, tmp_path, names) >= 720 / STEP[cpu]


@pytest.mark.long
@on_cpus
def test_all_of_micropythons_tests(cpu, own_board, mpy_dir, tmp_path):
    assert run_on(own_board, mpy_dir, tmp_path, own_tests(mpy_dir, cpu)) >= 800
