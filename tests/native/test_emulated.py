"""The kernels of each chip equal numpy on an emulated one, the fast ones and the references."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sweep
from conftest import make_native
from emulated_library import EmulatedKernels, EmulatedMemory, open_cpu
from kernel_library import SIGNATURES
from ttikit.emulator import EmulatedCpu, EmulatorError

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


CHIPS = ("m33", "lx7")  # targets of native/Makefile


@pytest.fixture(params=CHIPS)
def chip(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def cpu(native_build: Path, chip: str) -> Iterator[EmulatedCpu]:
    with open_cpu(native_build / f"tti_{chip}.elf") as opened:
        yield opened


def test_kernels_equal_numpy(cpu: EmulatedCpu) -> None:
    counts = sweep.run(EmulatedKernels(cpu), lambda: EmulatedMemory(cpu))
    assert counts.total() >= sweep.MINIMUM
    assert set(counts) == set(SIGNATURES)


def test_no_kernel_reads_behind_a_buffer(cpu: EmulatedCpu) -> None:
    cases = list(sweep.all_cases())[::3]
    counts = sweep.run(EmulatedKernels(cpu), lambda: EmulatedMemory(cpu, flush=True), cases)
    assert set(counts) == set(SIGNATURES)


def test_references_stay_callable(cpu: EmulatedCpu) -> None:
    kernels = EmulatedKernels(cpu, "tti_ref_")
    cases = [case for case in sweep.all_cases() if case.op in FAST][::5]
    counts = sweep.run(kernels, lambda: EmulatedMemory(cpu), cases)
    assert set(counts) == set(FAST)
    references = {name for name in cpu.image.symbols if name.startswith("tti_ref_")}
    assert references == {f"tti_ref_{op}" for op in FAST}
    for op in FAST:
        assert cpu.image.address(f"tti_ref_{op}") != cpu.image.address(f"tti_{op}")


@pytest.mark.parametrize("chip", ["m33"], indirect=True)
def test_constants_of_exp_are_rounded_once(cpu: EmulatedCpu) -> None:
    """Weights are integers, which hide the last bits of an exponential."""
    constants = [-87, 1.442695041, 12582912, 0.693359375, -2.12194440e-4]
    constants += [1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1, 126]
    at = cpu.image.address("tti_m33_exp_constants")
    assert cpu.read(at, 48) == np.array(constants, np.float32).tobytes()


@pytest.mark.parametrize(
    ("chip", "file", "right", "wrong"),
    [
        ("m33", "dot_m33.S", "smlad   r9, r3, lr, r9", "smlad   r9, r3, r12, r9"),
        ("m33", "scale_m33.S", "vmul.f32 s3, s7, s3", "vmul.f32 s3, s6, s3"),
        ("m33", "requantize_m33.S", "four    vmaxnm.f32, s13", "four    vmaxnm.f32, s12"),
        ("m33", "conv3x3_s8_m33.c", "x + 2 < p->c->width", "x + 1 < p->c->width"),
        ("m33", "exp_m33.S", ".float  0.16666666666666666", ".float  0.1666"),
        ("m33", "quantize_row_m33.S", "vcvtr.s32.f32", "vcvt.s32.f32"),
        ("m33", "normalize_m33.S", "vadd.f32 s3, s3, s7", "vadd.f32 s3, s7, s7"),
        ("m33", "gelu_table_m33.S", "usat    \\x, #10", "usat    \\x, #11"),
        ("m33", "widen_m33.S", "sxtb16  r10, r10, ror #8", "uxtb16  r10, r10, ror #8"),
        ("lx7", "sums_pie.S", "ee.ld.accx.ip a10, 8;           \\", "ee.zero.accx; \\"),
        ("lx7", "quantize_row_pie.S", "ee.vmax.s32 q4, q4, q5", "ee.vmin.s32 q4, q4, q5"),
        ("lx7", "requantize_pie.S", "sext    a8, a8, 7", "sext    a8, a8, 8"),
        ("lx7", "scale_pie.S", "mul.s   f3, f11, f3;", "mul.s   f3, f10, f3;"),
        ("lx7", "exp_pie.S", "ee.vmin.s32 q7, q7, q1", "ee.vmin.s32 q7, q7, q0"),
        ("lx7", "normalize_pie.S", "add.s   f3, f3, f11", "add.s   f3, f11, f11"),
        ("lx7", "gelu_table_pie.S", "f7, f6, a11, 0", "f7, f6, a10, 0"),
        ("lx7", "conv3x3_s8_pie.c", "(end >> 1) * cin", "(first >> 1) * cin"),
    ],
    indirect=["chip"],
)
def test_a_broken_kernel_is_caught(
    tmp_path: Path, repo: Path, native_build: Path, chip: str, file: str, right: str, wrong: str
) -> None:
    core = tmp_path / "core"
    shutil.copytree(repo / "native" / "core", core)
    shutil.copytree(native_build / chip, tmp_path / chip)
    source = (core / file).read_text()
    assert right in source
    (core / file).write_text(source.replace(right, wrong, 1))
    make_native(repo, chip, f"CORE={core}", f"BUILD={tmp_path}")
    cases = [case for case in sweep.all_cases() if case.op in FAST]
    with (
        open_cpu(tmp_path / f"tti_{chip}.elf") as cpu,
        pytest.raises(AssertionError, match="numpy says"),
    ):
        sweep.run(EmulatedKernels(cpu), lambda: EmulatedMemory(cpu), cases)


def test_a_read_behind_a_buffer_is_caught(cpu: EmulatedCpu) -> None:
    case = next(c for c in sweep.all_cases() if c.op == "gemm_s8")
    x = case.args[1]
    assert isinstance(x, sweep.Buffer)
    short = case.replaced(1, sweep.Buffer(x.data[:-1]))
    with pytest.raises(EmulatorError, match=r"READ_UNMAPPED|a read of 0x\w+, which is not mapped"):
        sweep.run_kernel(EmulatedKernels(cpu), short, EmulatedMemory(cpu, flush=True))


def test_a_write_outside_a_buffer_is_caught(cpu: EmulatedCpu) -> None:
    case = next(c for c in sweep.all_cases() if c.op == "quantize_rows")
    out = case.args[0]
    assert isinstance(out, sweep.Buffer)
    short = case.replaced(0, sweep.Buffer(out.data[:-1], "write"))
    with pytest.raises(AssertionError, match="outside the buffer"):
        sweep.run_kernel(EmulatedKernels(cpu), short, EmulatedMemory(cpu))
