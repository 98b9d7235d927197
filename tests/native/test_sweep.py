"""The C kernels equal numpy bit for bit, and touch no byte that is not theirs."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import firmware_cases
import pytest
import sweep
from kernel_library import SIGNATURES, Kernels


def test_kernels_equal_numpy(native_build: Path) -> None:
    counts = sweep.run(Kernels(native_build / "libtti.so"), sweep.GuardedMemory)
    print(f"{counts.total()} kernel cases: {dict(counts)}")
    assert counts.total() >= sweep.MINIMUM
    assert set(counts) == set(SIGNATURES)


def _sanitized(native_build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the sweep in a process with gcc's sanitizers."""
    runtimes = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    program = [str(Path(sweep.__file__)), str(native_build / "libtti_sanitized.so"), *options]
    environment = {
        "LD_PRELOAD": " ".join(runtimes),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter's own
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.run(
        [sys.executable, *program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_sanitizers_find_nothing(native_build: Path) -> None:
    done = _sanitized(native_build)
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout.split()[0]) >= sweep.MINIMUM


def test_sanitizers_would_find_a_byte_too_many(native_build: Path) -> None:
    done = _sanitized(native_build, "--overrun")
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr


def test_guards_would_find_a_byte_too_many(native_build: Path) -> None:
    case = next(c for c in sweep.all_cases() if c.op == "quantize_rows")
    out = case.args[0]
    short = case.replaced(0, sweep.Buffer(out.data[:-1], "write"))  # type: ignore[union-attr]
    with pytest.raises(AssertionError, match="outside the buffer"):
        sweep.run_kernel(Kernels(native_build / "libtti.so"), short, sweep.GuardedMemory())


def test_module_equals_numpy(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = list(islice(sweep.all_cases(), 0, None, 3))
    assert {case.op for case in cases} == set(SIGNATURES)
    for case, answer in zip(cases, firmware_cases.run(cases, tmp_path, run_mpy), strict=True):
        assert answer.error is None, f"{case}: {answer.error}"
        wanted = sweep.expected(case)
        written = [
            i
            for i, argument in enumerate(case.args)
            if isinstance(argument, sweep.Buffer) and argument.role == "write"
        ]
        for i, data in zip(written, answer.buffers, strict=True):
            assert data == wanted.get(i, data), f"{case}: argument {i} differs"


# Known answers from the authors' Random123 library, version 1.14, for philox4x32-10.
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox(native_build: Path, counter: list[int], key: list[int], words: list[int]) -> None:
    assert Kernels(native_build / "libtti.so").philox(counter, key) == words
