"""The kernels of a Cortex-M33 equal numpy on an emulated one, the fast ones and the references."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import sweep
from conftest import make_native
from emulated_library import EmulatedKernels, EmulatedMemory
from kernel_library import SIGNATURES
from ttikit.emulator import CortexM33, EmulatorError, read_image

FAST = (
    "gemm_s8",
    "gemm_s8_add",
    "attention_scores",
    "softmax_s8",
    "attention_values",
    "conv3x3_s8",
    "quantize_rows",
    "quantize_cols_t",
    "layernorm_modulate_s8",
    "gelu",
)


@pytest.fixture(scope="session")
def elf(native_build: Path) -> Path:
    return native_build / "tti_m33.elf"


@pytest.fixture
def machine(elf: Path) -> CortexM33:
    return CortexM33(read_image(elf))


def test_kernels_equal_numpy(machine: CortexM33) -> None:
    counts = sweep.run(EmulatedKernels(machine), lambda: EmulatedMemory(machine))
    assert counts.total() >= sweep.MINIMUM
    assert set(counts) == set(SIGNATURES)


def test_no_kernel_reads_behind_a_buffer(machine: CortexM33) -> None:
    counts = sweep.run(EmulatedKernels(machine), lambda: EmulatedMemory(machine, flush=True))
    assert set(counts) == set(SIGNATURES)


def test_references_stay_callable(machine: CortexM33) -> None:
    kernels = EmulatedKernels(machine, "tti_ref_")
    cases = [case for case in sweep.all_cases() if case.op in FAST][::5]
    counts = sweep.run(kernels, lambda: EmulatedMemory(machine), cases)
    assert set(counts) == set(FAST)
    references = {name for name in machine.image.symbols if name.startswith("tti_ref_")}
    assert references == {f"tti_ref_{op}" for op in FAST}
    for op in FAST:
        assert machine.image.address(f"tti_ref_{op}") != machine.image.address(f"tti_{op}")


def test_constants_of_exp_are_rounded_once(machine: CortexM33) -> None:
    """Weights are integers, which hide the last bits of an exponential."""
    constants = [-87, 1.442695041, 12582912, 0.693359375, -2.12194440e-4]
    constants += [1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1, 126]
    at = machine.image.address("tti_m33_exp_constants")
    assert machine.read(at, 48) == np.array(constants, np.float32).tobytes()


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("dot_m33.S", "smlad   r9, r3, lr, r9", "smlad   r9, r3, r12, r9"),
        ("scale_m33.S", "vmul.f32 s3, s7, s3", "vmul.f32 s3, s6, s3"),
        ("requantize_m33.S", "four    vmaxnm.f32, s13", "four    vmaxnm.f32, s12"),
        ("conv3x3_s8_m33.c", "x + 2 < p->c->width", "x + 1 < p->c->width"),
        ("exp_m33.S", ".float  0.16666666666666666", ".float  0.1666"),
        ("quantize_row_m33.S", "vcvtr.s32.f32", "vcvt.s32.f32"),
        ("normalize_m33.S", "vadd.f32 s3, s3, s7", "vadd.f32 s3, s7, s7"),
        ("gelu_table_m33.S", "usat    \\x, #10", "usat    \\x, #11"),
        ("widen_m33.S", "sxtb16  r10, r10, ror #8", "uxtb16  r10, r10, ror #8"),
    ],
)
def test_a_broken_kernel_is_caught(
    tmp_path: Path, repo: Path, elf: Path, file: str, right: str, wrong: str
) -> None:
    core = tmp_path / "core"
    shutil.copytree(repo / "native" / "core", core)
    shutil.copytree(elf.parent / "m33", tmp_path / "m33")
    source = (core / file).read_text()
    assert right in source
    (core / file).write_text(source.replace(right, wrong, 1))
    make_native(repo, "m33", f"CORE={core}", f"BUILD={tmp_path}")
    machine = CortexM33(read_image(tmp_path / "tti_m33.elf"))
    cases = [case for case in sweep.all_cases() if case.op in FAST]
    with pytest.raises(AssertionError, match="numpy says"):
        sweep.run(EmulatedKernels(machine), lambda: EmulatedMemory(machine), cases)


def test_a_read_behind_a_buffer_is_caught(machine: CortexM33) -> None:
    case = next(c for c in sweep.all_cases() if c.op == "gemm_s8")
    x = case.args[1]
    assert isinstance(x, sweep.Buffer)
    short = case.replaced(1, sweep.Buffer(x.data[:-1]))
    with pytest.raises(EmulatorError, match="READ_UNMAPPED"):
        sweep.run_kernel(EmulatedKernels(machine), short, EmulatedMemory(machine, flush=True))


def test_a_write_outside_a_buffer_is_caught(machine: CortexM33) -> None:
    case = next(c for c in sweep.all_cases() if c.op == "quantize_rows")
    out = case.args[0]
    assert isinstance(out, sweep.Buffer)
    short = case.replaced(0, sweep.Buffer(out.data[:-1], "write"))
    with pytest.raises(AssertionError, match="outside the buffer"):
        sweep.run_kernel(EmulatedKernels(machine), short, EmulatedMemory(machine))
