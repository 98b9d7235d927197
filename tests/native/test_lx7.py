"""The emulated LX7: compiler, run time, faults, counts; mistakes in kernels are caught."""

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sweep
from conftest import make_native
from emulated_library import EmulatedKernels, EmulatedMemory, open_cpu
from ttikit.emulator import EmulatorError, XtensaLX7, read_image
from ttikit.errors import TtiError
from ttikit.pie.opcodes import decode

PRODUCTS = ("gemm_s8", "gemm_s8_add")


@pytest.fixture(scope="session")
def elf(native_build: Path) -> Path:
    return native_build / "tti_lx7.elf"


@pytest.fixture
def cpu(elf: Path) -> Iterator[XtensaLX7]:
    with open_cpu(elf) as opened:
        assert isinstance(opened, XtensaLX7)
        yield opened


@pytest.fixture(scope="module")
def abi(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[XtensaLX7]:
    """A program of lx7/abi.c instead of kernels."""
    folder = tmp_path_factory.mktemp("abi")
    make_native(repo, "lx7", f"CORE={repo / 'tests' / 'native' / 'lx7'}", f"BUILD={folder}")
    opened = XtensaLX7(read_image(folder / "tti_lx7.elf"))
    yield opened
    opened.close()


# Compiler and run time


def test_variable_arguments(abi: XtensaLX7) -> None:
    for seed in (1, 0x0123_4567, 0xFEDC_BA98):
        assert abi.call("check_arguments", seed) == 0


def windows(depth: int, seed: int) -> int:
    if depth == 0:
        return seed
    a, b = seed * 3 + 1 & 0xFFFF_FFFF, seed ^ depth
    c, d = seed >> 3, seed * 5 + depth & 0xFFFF_FFFF
    return windows(depth - 1, a + b & 0xFFFF_FFFF) * 31 + (a ^ b) + (c ^ d) & 0xFFFF_FFFF


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 7, 30, 200])
def test_registers_outlive_calls(abi: XtensaLX7, depth: int) -> None:
    assert abi.call("check_windows", depth, 12345) == windows(depth, 12345)


@pytest.mark.parametrize("depth", [0, 1, 2, 5, 40])
def test_jumps_out_of_calls(abi: XtensaLX7, depth: int) -> None:
    assert abi.call("check_jumps", depth, 100) == 0
    assert abi.call("jump_registers") == 0x04030201


def test_choices_of_constants(abi: XtensaLX7) -> None:
    chosen = [struct.unpack("<f", struct.pack("<I", abi.call("choose", n)))[0] for n in (0, 1, 8)]
    assert chosen == [-0.25, 1.5, 2.5]


def patterns(count: int) -> np.ndarray:
    """Bits of floats of all kinds: special ones, smallest ones, near ones."""
    rng = np.random.default_rng(3)
    special = [0, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    some = rng.integers(0, 2**32, count, np.uint32)
    some[::5] = rng.choice(np.array([*special, *(s | 1 << 31 for s in special)]), count)[::5]
    some[1::5] = some[1::5] & 0x80FF_FFFF | rng.integers(0x3E, 0x41, len(some[1::5])) << 23
    some[2::5] &= 0x80FF_FFFF
    return some.astype(np.uint32)


def test_division(cpu: XtensaLX7) -> None:
    x, y = patterns(1500), patterns(3000)[1500:]
    with np.errstate(all="ignore"):
        wanted = (x.view(np.float32) / y.view(np.float32)).view(np.uint32)
    got = np.array([cpu.call("__divsf3", int(a), int(b)) for a, b in zip(x, y, strict=True)])
    nan = wanted & 0x7FFF_FFFF > 0x7F80_0000
    assert 50 < nan.sum() < 750
    assert (got[nan] == 0x7FC0_0000).all()
    np.testing.assert_array_equal(got[~nan], wanted[~nan])


def test_numbers_of_64_bits(abi: XtensaLX7) -> None:
    """The functions return the upper half in a register that a call does not show."""
    rng = np.random.default_rng(4)
    for bits in (1, 20, 33, 40, 63):
        n, d = (int(rng.integers(1, 2**bits)) for _ in range(2))
        words = [n & 0xFFFF_FFFF, n >> 32, d & 0xFFFF_FFFF, d >> 32]
        low = 0xFFFF_FFFF
        assert abi.call("__muldi3", *words) == n * d & low
        assert abi.call("__udivdi3", *words) == n // d & low
        assert abi.call("__umoddi3", *words) == n % d & low
        negative = [-n & low, -n >> 32 & low]
        assert abi.call("__divdi3", *negative, *words[2:]) == -(n // d) & low
        assert abi.call("__moddi3", *negative, *words[2:]) == -(n % d) & low
        single = np.float32(np.uint64(n)).view(np.uint32)
        assert abi.call("__floatundisf", *words[:2]) == single
        assert abi.call("__fixunssfdi", int(single)) == int(single.view(np.float32)) & low


# Faults


def test_faults_say_what_and_where(cpu: XtensaLX7) -> None:
    x = cpu.place(bytes(64))
    with pytest.raises(EmulatorError, match=r"^a read of 0x00000000, .* \(tti_add\+"):
        cpu.call("tti_add", x, 0, x, 4)
    with pytest.raises(EmulatorError, match=r"^a write to 0x6\w+, which is not mapped, at"):
        cpu.call("tti_add", x + 0x2000, x, x, 4)
    code = cpu.place(bytes.fromhex("364100f04103"))  # entry a1, 32; ee.bitrev q0, a0, perhaps
    with pytest.raises(EmulatorError, match="an instruction that the core does not have"):
        cpu.call(code)
    with pytest.raises(EmulatorError, match="not mapped"):
        cpu.call(0x1000)
    cpu.call("tti_add", x, x, x, 4)  # and it goes on


def test_a_full_stack_is_a_fault(abi: XtensaLX7) -> None:
    with pytest.raises(EmulatorError, match=r"^the stack is full, .* \(fill_the_stack\+"):
        abi.call("fill_the_stack", 0)


def test_an_emulator_that_ends_is_a_sentence(elf: Path) -> None:
    cpu = XtensaLX7(read_image(elf))
    with pytest.raises(TtiError, match=r"counting needs lx7_counts\.so"), cpu.counting():
        pass
    cpu.close()
    with pytest.raises(EmulatorError, match="QEMU has ended: it said nothing"):
        cpu.read(0x2001_0000, 4)
    with pytest.raises(TtiError, match="is not for Xtensa but for Arm"):
        XtensaLX7(read_image(elf.with_name("tti_m33.elf")))


# Counts


def test_counted_is_what_runs(elf: Path) -> None:
    cpu = XtensaLX7(read_image(elf), elf.with_name("lx7_counts.so"))
    x = cpu.place(bytes(4 * 1000), 0)
    q, scale = cpu.place(bytes(1000)), cpu.place(bytes(4))

    def count(n: int) -> tuple[int, int]:
        before = cpu.vector_instructions
        with cpu.counting() as blocks:
            cpu.call("tti_quantize_rows", q, scale, x, 1, n)
        vectors = sum(n for (at, _), n in blocks.items() if decode(cpu.read(at, 4)))
        assert vectors == cpu.vector_instructions - before
        assert blocks[cpu.image.address("tti_quantize_rows"), 3] == 1  # entry
        return cpu.instructions(blocks), vectors

    counts = [count(n) for n in (320, 640, 960)]
    assert counts[2][1] - counts[1][1] == counts[1][1] - counts[0][1] > 40
    # An instruction that has to spill a window first is counted again.
    more = counts[1][0] - counts[0][0]
    assert more > 320 and abs(counts[2][0] - counts[1][0] - more) <= 2
    cpu.close()


# Mistakes


def products(cpu: XtensaLX7) -> None:
    cases = [case for case in sweep.all_cases() if case.op in PRODUCTS]
    sweep.run(EmulatedKernels(cpu), lambda: EmulatedMemory(cpu), cases)


def test_a_wrong_encoding_is_caught(elf: Path) -> None:
    """The first multiplication reads another register: as if the assembler's table were wrong."""
    cpu = XtensaLX7(read_image(elf))
    at = start = cpu.image.address("tti_pie_sums")
    while True:
        found = decode(cpu.read(at, 4))
        if found and found[0].name == "ee.vmulas.s8.accx.ld.ip":
            break
        at += cpu.instruction_bytes(cpu.read(at, 4))
        assert at < start + 2000
    opcode, values = found
    values[-1] ^= 1
    cpu.write(at, opcode.encode(values).to_bytes(4, "little"))
    with pytest.raises(AssertionError, match="numpy says"):
        products(cpu)


def test_a_misaligned_pointer_is_caught(repo: Path, elf: Path, tmp_path: Path) -> None:
    """Without the check of addresses the vector unit reads other bytes, and tells nobody."""
    shutil.copytree(repo / "native" / "core", tmp_path / "core")
    shutil.copytree(elf.parent / "lx7", tmp_path / "lx7")
    file = tmp_path / "core" / "product_pie.c"
    check = "return (((uintptr_t)p | stride) & 15) == 0;"
    source = file.read_text()
    assert check in source
    file.write_text(source.replace(check, "return (void)p, (stride & 15) == 0;"))
    make_native(repo, "lx7", f"CORE={tmp_path / 'core'}", f"BUILD={tmp_path}")
    with (
        open_cpu(tmp_path / "tti_lx7.elf") as cpu,
        pytest.raises(AssertionError, match="numpy says"),
    ):
        assert isinstance(cpu, XtensaLX7)
        products(cpu)
