"""Ops computed by two cores equal numpy, whatever the number of rows, and do not race."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matrix_cases
import pytest
import sweep
from conftest import make_native
from emulated_library import EmulatedKernels, EmulatedMemory
from kernel_library import SIGNATURES, Kernels
from native_cases import Buffer, Case, Maker
from ttikit.emulator import XtensaLX7, read_image

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
        ("freertos_worker_two", "1 tasks, 1476 jobs\n"),
        ("freertos_worker_one", "0 tasks, 0 jobs\n"),
    ],
)
def test_threads_do_not_race(split_build: Path, program: str, said: str) -> None:
    # ThreadSanitizer wants its addresses where they are without randomisation.
    command = ["setarch", "--addr-no-randomize", str(split_build / program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == said


def test_a_task_needs_a_notification_of_its_own(repo: Path) -> None:
    native, chip = repo / "native", repo / "tests" / "native" / "freertos"
    command = ["gcc", "-fsyntax-only", f"-I{chip}", native / "parallel" / "parallel_freertos.c"]
    entries = "-DCONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES"
    for count, fails in ((1, True), (2, False)):
        done = subprocess.run([*command, f"{entries}={count}"], capture_output=True, text=True)
        assert bool(done.returncode) == fails
        assert ("CONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES=2" in done.stderr) == fails


IN_TURN = """
#include "parallel.h"
bool tti_parallel_run(tti_work_t work, const void *job) {
    work(job, 0);
    work(job, 1);
    return true;
}
"""


@pytest.fixture(scope="module")
def in_turn(
    repo: Path, native_build: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[XtensaLX7]:
    """An emulated LX7 that does the part of one core, and then that of the other."""
    folder = tmp_path_factory.mktemp("in_turn")
    core = shutil.copytree(repo / "native" / "core", folder / "core")
    for name in ("split.c", "split.h", "parallel.h"):
        shutil.copy2(repo / "native" / "parallel" / name, core)
    (core / "in_turn.c").write_text(IN_TURN)
    shutil.copytree(native_build / "lx7", folder / "lx7")
    make_native(repo, "lx7", f"CORE={core}", f"BUILD={folder}")
    cpu = XtensaLX7(read_image(folder / "tti_lx7.elf"), folder / "lx7_counts.so")
    yield cpu
    cpu.close()


def ops_in_vectors() -> Iterator[Case]:
    """Calls whose buffers and sizes no vector kernel leaves to its reference."""
    m = Maker(0)
    x, n = m.uniform(-3, 3, 16, 192), 16 * 192
    row, q, scale = m.f32(x[0]), m.out_s8(n), m.out_f32(192)
    yield matrix_cases.product(m, False, 16, 24, 192, ("random", "random"))
    yield matrix_cases.product(m, True, 16, 24, 192, ("random", "random"))
    yield Case("softmax_s8", (q, scale, m.f32(x[:, :128]), 16, 128, 128))
    yield Case("quantize_rows", (q, scale, m.f32(x), 16, 192))
    yield Case("gelu", (m.out_f32(n), m.f32(x), m.f32(m.normal(2048)), n))
    args = (q, scale, m.f32(x), row, row, m.out_f32(192), 16, 192)
    yield Case("layernorm_modulate_s8", args)
    pixels, w, patches = m.s8(m.codes("random", 8, 8, 16)), m.s8(m.codes("random", 8, 144)), 40
    buffers = (m.out_s8(512), pixels, w, row, row, None, None, m.out_s8(144 * patches))
    yield Case("conv3x3_s8", (*buffers, 8, 8, 16, 8, 0, 0, 8, 0, 0))


@pytest.mark.parametrize("case", list(ops_in_vectors()), ids=lambda case: case.op)
def test_both_cores_of_an_esp32_s3_compute_in_vectors(in_turn: XtensaLX7, case: Case) -> None:
    """Scratch and rows of the second one are aligned too: references would give the same bytes."""
    aligned = [replace(a, align=0) if isinstance(a, Buffer) else a for a in case.args]
    memory, symbols = EmulatedMemory(in_turn), in_turn.image.symbols
    places = [memory.place(a) if isinstance(a, Buffer) else a for a in aligned]
    sizes = [len(a.data) if isinstance(a, Buffer) else 0 for a in aligned]
    with in_turn.counting() as blocks:
        EmulatedKernels(in_turn, "tti_split_").call(case, places, sizes)
    entered = {address: n for (address, _), n in blocks.items()}
    references = {symbols[f"tti_ref_{case.op}"], symbols["tti_product_ref"]}
    assert not references & set(entered)
    name = "product" if "gemm" in case.op else case.op
    assert entered[symbols[f"tti_{name}"]] >= 2
