"""Parts of the ESP32-S3's kernels whose last bits the ops' results would hide."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_library import open_cpu
from ttikit import simulator
from ttikit.emulator import EmulatedCpu


@pytest.fixture(scope="module")
def lx7(native_build: Path) -> Iterator[EmulatedCpu]:
    with open_cpu(native_build / "tti_lx7.elf") as cpu:
        yield cpu


def as_bits(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def test_exponentials_are_exact(lx7: EmulatedCpu) -> None:
    x = np.random.default_rng(0).uniform(-87, 0, 4096).astype(np.float32)
    x[:8] = 0, -0.0, -87, -1e-30, -0.34657359, -0.34657362, -86.99999, -1
    lx7.release()
    e, s = lx7.place(bytes(x.nbytes)), lx7.place(x.tobytes())
    constants = lx7.image.address("exp_constants")  # the kernel's own
    lx7.call("tti_pie_exp", e, s, as_bits(0), constants, len(x))
    wanted = np.empty_like(x)
    simulator.exp(wanted, x, len(x))
    assert lx7.read(e, x.nbytes) == (wanted * np.float32(126)).tobytes()


def test_quotients_are_rounded(lx7: EmulatedCpu) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 96, 127, 192, 576, 65535, 2**23 - 1):
        for a in np.exp2(rng.uniform(-60, 100, 20)).astype(np.float32) * rng.choice([-1, 1]):
            quotient = lx7.call("tti_pie_quotient", as_bits(a), as_bits(n))
            assert quotient == as_bits(np.float32(a) / np.float32(n)), (a, n)


def test_scales_are_rounded(lx7: EmulatedCpu) -> None:
    rng = np.random.default_rng(0)
    m = np.exp2(rng.uniform(-100, 120, (200, 4))).astype(np.float32)
    m[0] = 2.0**-100, np.nextafter(np.float32(2.0**120), np.float32(0)), 127, 1
    m[1] = np.nextafter(np.float32([2, 4, 8, 16]), np.float32(0))
    lx7.release()
    inv, scale, at = (lx7.place(bytes(16)) for _ in range(3))
    for row in m:
        lx7.write(at, row.tobytes())
        lx7.call("tti_pie_scales4", inv, scale, at, as_bits(np.float32(1) / np.float32(127)))
        assert lx7.read(inv, 16) == (np.float32(127) / row).tobytes()
        assert lx7.read(scale, 16) == (row / np.float32(127)).tobytes()


def test_divisions_are_right_for_every_mantissa(repo: Path, tmp_path: Path) -> None:
    """The same operations on this PC. Only the mantissa of 2²⁴ − 1 gets a wrong reciprocal."""
    program = tmp_path / "division"
    source = repo / "tests" / "native" / "division.c"
    flags = ["-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, source, "-o", program, "-lm"], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert said == "0x7fffff and 0 0 scales\n"
