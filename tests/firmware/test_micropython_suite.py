"""MicroPython's own tests pass on our firmware: our settings break nothing of it."""

import os
import re
import subprocess
import sys

# Folders of MicroPython's tests, and the fewest tests that must have run in them with any
# version from 1.25 on. None is excluded: the tests that are skipped need what the build leaves
# out (double precision, sys.settrace, MicroPython's example C modules).
FOLDERS = ["basics", "float", "micropython", "misc", "io", "import"]
FEWEST = 700


def test_own_tests_of_micropython_pass(firmware, mpy_dir, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            str(mpy_dir / "tests" / "run-tests.py"),
            "-j2",
            *("-r", str(tmp_path)),
            *("-d", *FOLDERS),
        ],
        cwd=mpy_dir / "tests",
        env={
            **os.environ,
            "MICROPY_MICROPYTHON": str(firmware),
            "MICROPY_CPYTHON3": sys.executable,
            # Some tests write files where they are; Python must not add its caches there.
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    log = done.stdout + done.stderr
    counted = re.search(r"^(\d+) tests passed", log, re.MULTILINE)
    assert done.returncode == 0, log[-3000:]
    assert counted and int(counted[1]) >= FEWEST, log[-3000:]
