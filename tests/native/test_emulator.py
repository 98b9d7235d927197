"""The emulated Cortex-M33 counts what runs, and says what is wrong with a file or a call."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import unicorn
from ttikit.bench.calls import FROM_MODEL, Calls, first_part, record
from ttikit.bench.chips import open_chip
from ttikit.bench.kernels import Cost, Counter, product
from ttikit.emulator import CortexM33, EmulatorError, read_image
from ttikit.emulator.flash import LINE, SETS, FlashCache
from ttikit.emulator.timing import cycles_of
from ttikit.errors import TtiError


@pytest.fixture(scope="session")
def elf(native_build: Path) -> Path:
    return native_build / "tti_m33.elf"


def test_matrix_product_takes_less_than_one_instruction_per_mac(elf: Path) -> None:
    """A third of the depth that docs/kernels.md names."""
    cost = Counter(elf).cost(product(64, 192, 192))
    macs = 64 * 192 * 192
    assert cost.instructions < 0.87 * macs
    assert cost.portable > 2 * macs
    assert cost.cycles > cost.instructions
    assert cost.fetched >= 192 * 192  # every weight once
    assert cost.macs == macs


def test_counted_is_what_runs(elf: Path) -> None:
    """Of tti_add, which has no conditional instructions: a step does not stop at skipped ones."""
    machine = CortexM33(read_image(elf))
    x = machine.place(bytes(400))
    with machine.counting() as blocks:
        machine.call("tti_add", x, x, x, 100)
    steps = [0]

    def step(*_: object) -> None:
        steps[0] += 1

    machine._uc.ctl_flush_tb()
    hook = machine._uc.hook_add(unicorn.UC_HOOK_CODE, step)
    machine.call("tti_add", x, x, x, 100)
    machine._uc.hook_del(hook)
    assert machine.instructions(blocks) == steps[0] > 100


@pytest.mark.parametrize(
    ("instruction", "before", "cycles"),
    [
        ("smlad r4, r0, ip, r4", "", 1),
        ("ldr r0, [r1]", "smlad", 2),
        ("ldr r0, [r1]", "ldrsb", 1),
        ("ldrd r0, r3, [r1], #8", "", 3),
        ("ldmia.w r0, {r4, r5, r6, r7, r8, r9, sl, fp}", "", 9),
        ("pop {r4-r11, pc}", "", 12),
        ("vldmia r1!, {s0-s3}", "", 5),
        ("vpush {d8-d15}", "", 17),
        ("vmov r4, r5, s4, s5", "", 2),
        ("vmov r4, s4", "", 1),
        ("vdiv.f32 s0, s1, s2", "", 14),
        ("bne.n 10002e18", "", 3),
        ("bl 10002e18", "", 3),
        ("bfi r2, r4, #8, #8", "", 1),
        ("bic.w r0, r1, r2", "", 1),
        ("str r2, [r0], #4", "", 1),
    ],
)
def test_cycles(instruction: str, before: str, cycles: int) -> None:
    name, _, operands = instruction.partition(" ")
    assert cycles_of(name, operands, before) == cycles


def test_flash_cache() -> None:
    cache = FlashCache()
    for address in [*range(0, 16384, 4), *range(0, 16384, 4)]:
        cache.read(address, 4)
    assert cache.misses == 2048  # all of it fits
    cache.read(16384, 4)
    cache.read(LINE * SETS, 4)  # its set has the line, and lost the older one
    assert cache.misses == 2049
    cache.read(0, 4)
    assert cache.misses == 2050
    cache.read(2 * 16384 - 2, 4)  # two lines
    assert cache.misses == 2052


def test_two_cores_share_the_flash(elf: Path) -> None:
    chip = open_chip(elf)
    cost = Cost(1, 0, 0, 150_000_000, 8 * 150_000_000 // 56, 90_000_000)
    assert cost.seconds(chip, 1) == pytest.approx(2)
    assert cost.seconds(chip, 2) == pytest.approx(1.6)
    assert cost.times(3) == cost + cost + cost


def test_each_of_two_cores_has_half_of_the_rows_and_of_the_scratch(elf: Path) -> None:
    counter = Counter(elf)
    whole = product(7, 16, 96)
    assert first_part(product(1, 16, 96)) == product(1, 16, 96)
    assert first_part(whole) == replace(whole, args=[*whole.args[:6], 4, *whole.args[7:]])
    cost = counter.cost(whole)
    assert cost.cycles / 2 < cost.part_cycles < cost.cycles * 0.7
    conv = Calls("", "conv3x3_s8", [bytes(320), *[None] * 6, bytes(960), *range(8, 17)], {}, 1)
    conv.args[13:15] = 2, 7
    part = first_part(conv)
    assert part is not None
    assert (part.args[7], part.args[13:15]) == (bytes(480), [2, 5])
    assert first_part(Calls("", "add", [], {}, 1)) is None


def test_calls_of_a_picture(repo: Path) -> None:
    recording = record(repo / "models" / "faces.tti", 1)
    calls = list(recording.calls.values())
    count = {
        (c.phase, c.op): sum(d.count for d in calls if (d.phase, d.op) == (c.phase, c.op))
        for c in calls
    }
    assert count["dit", "softmax_s8"] == 6 * 6  # a head at a time, six blocks
    assert count["decoder", "quantize_latent"] == 1
    assert {phase for phase, _ in count} == {"text", "dit", "decoder"}
    for call in calls:
        assert all(isinstance(call.args[i], bytes | None) for i in FROM_MODEL.get(call.op, ()))
    residual = next(c for c in calls if c.op == "conv3x3_s8" and 5 in c.same)
    assert residual.same[5] == 0  # res is out


def test_files_that_cannot_be_run(elf: Path, native_build: Path, tmp_path: Path) -> None:
    with pytest.raises(TtiError, match="cannot be read"):
        read_image(tmp_path / "missing.elf")
    text = tmp_path / "text.elf"
    text.write_text("no ELF file")
    with pytest.raises(TtiError, match="not an ELF file"):
        read_image(text)
    with pytest.raises(TtiError, match="not for Arm"):
        CortexM33(read_image(native_build / "libtti.so"))
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", str(elf), "-o", str(stripped)], check=True)
    with pytest.raises(TtiError, match="no symbols"):
        read_image(stripped)
    with pytest.raises(TtiError, match="has no symbol tti_nothing"):
        CortexM33(read_image(elf)).call("tti_nothing")


def test_a_fault_names_the_function(elf: Path) -> None:
    machine = CortexM33(read_image(elf))
    with pytest.raises(EmulatorError, match=r"tti_m33_widen2\+"):
        machine.call("tti_m33_widen2", machine.place(bytes(64)), 16, 16, 16)
    with pytest.raises(EmulatorError, match="no memory left"):
        machine.place(bytes(0x0900_0000))
