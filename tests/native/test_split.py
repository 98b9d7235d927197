"""Ops computed by two cores equal numpy, whatever the number of rows, and do not race."""

import re
import subprocess
from pathlib import Path

import pytest
import sweep
from conftest import make_native
from kernel_library import SIGNATURES, Kernels

TASKS = Path("/proc/self/task")


@pytest.fixture(scope="module")
def split_build(repo: Path) -> Path:
    """Folder with libtti_split.so and the programs for ThreadSanitizer, up to date."""
    folder = repo / "build" / "native"
    make_native(repo, "split", f"BUILD={folder}")
    return folder


def threads() -> set[str]:
    return {task.name for task in TASKS.iterdir()}


@pytest.mark.parametrize("library", ["libtti_split.so", "libtti_split_columns.so"])
def test_two_cores_equal_numpy(split_build: Path, library: str) -> None:
    before = threads()
    kernels = Kernels(split_build / library, split=True)
    assert kernels.library.tti_parallel_start()
    (worker,) = threads() - before
    ops = {op for op in SIGNATURES if hasattr(kernels.library, f"tti_split_{op}")}
    counts = sweep.run(
        kernels, sweep.GuardedMemory, (case for case in sweep.all_cases() if case.op in ops)
    )
    status = (TASKS / worker / "status").read_text()
    kernels.library.tti_parallel_stop()
    assert threads() == before
    slept = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])  # type: ignore[index]
    print(f"{counts.total()} cases over {len(counts)} ops; the worker slept {slept} times")
    assert set(counts) == ops
    assert len(ops) == 9
    assert slept > counts.total() / 2


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("split_race", "200 rounds twice\n"),
        ("rp2_worker", "304 resets\n"),
        ("freertos_worker_own", "1 tasks, 1476 jobs\n"),
        ("freertos_worker_shared", "1 tasks, 1476 jobs\n"),
        ("freertos_worker_alone", "0 tasks, 0 jobs\n"),
    ],
)
def test_threads_do_not_race(split_build: Path, program: str, said: str) -> None:
    # ThreadSanitizer wants its addresses where they are without randomisation.
    command = ["setarch", "--addr-no-randomize", str(split_build / program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == said
