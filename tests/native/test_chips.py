"""What kernels cost on an ESP32-S3: counted on the emulated core, timed by the cycle model."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from ttikit.bench.calls import Calls, Read, first_part, record
from ttikit.bench.chips import Esp32S3, open_chip
from ttikit.bench.kernel_report import as_dict, report
from ttikit.bench.kernels import Cost, Counter, KernelFigures, product
from ttikit.bench.traffic import Cache, fetched
from ttikit.errors import TtiError


@pytest.fixture(scope="module")
def counter(native_build: Path) -> Counter:
    return Counter(native_build / "tti_lx7.elf")


def test_the_file_tells_the_chip(counter: Counter, native_build: Path, tmp_path: Path) -> None:
    assert isinstance(counter.chip, Esp32S3)
    assert open_chip(native_build / "tti_m33.elf").core == "Cortex-M33"
    with pytest.raises(TtiError, match="is for EM_X86_64; there are models of EM_ARM, EM_XTENSA"):
        open_chip(native_build / "libtti.so")
    with pytest.raises(TtiError, match="cannot be read"):
        open_chip(tmp_path / "none")
    (tmp_path / "text").write_text("text")
    with pytest.raises(TtiError, match="is not an ELF file"):
        open_chip(tmp_path / "text")
    lone = Path(shutil.copy(native_build / "tti_lx7.elf", tmp_path))
    with pytest.raises(TtiError, match=r"cannot be counted: .* lx7_counts\.so beside it"):
        open_chip(lone)
    shutil.copy(native_build / "lx7_counts.so", tmp_path)
    assert isinstance(open_chip(lone), Esp32S3)
    lone.write_bytes(lone.read_bytes().replace(b"\0pie_counts\0", b"\0pie_cOunts\0"))
    with pytest.raises(TtiError, match="it takes the tti_lx7"):
        open_chip(lone)


def test_product_by_function(counter: Counter) -> None:
    """One row of weights of 96 terms: 63 rows of activations in the loop, the last behind it."""
    cost = counter.cost(product(64, 1, 96))
    assert cost.macs == 64 * 96
    sums = cost.functions["tti_pie_sums"]
    assert 64 * 9 <= sums <= 64 * 11  # six multiplications; the sum stored; the loop's ends
    assert cost.cycles == cost.functions.total()
    assert cost.portable > 10 * cost.instructions


def test_product_is_twice_as_fast_as_published_loops(counter: Counter) -> None:
    """Those take 3 cycles for 16 multiplications inside; this one with all that is around it."""
    cost = counter.cost(product(64, 96, 192))
    assert cost.per_16 < 2.3
    assert cost.functions["tti_pie_sums"] * 16 / cost.macs < 1.7
    assert 0.5 < cost.part_cycles / cost.cycles < 0.6


def test_cores_share_columns_of_products(counter: Counter) -> None:
    whole = product(7, 20, 96)
    assert first_part(whole, columns=True) == replace(
        whole, args=[*whole.args[:7], 12, whole.args[8]]
    )
    assert first_part(product(7, 3, 96), columns=True) == product(7, 3, 96)
    one_row = counter.cost(product(1, 96, 192))
    assert one_row.part_cycles < 0.6 * one_row.cycles
    softmax = Calls("", "softmax_s8", [None, None, None, 9, 4, 4], {})
    assert first_part(softmax, columns=True) == first_part(softmax)


def test_divisions_count_as_on_a_chip(counter: Counter) -> None:
    """The emulated core's library has another routine than a chip's."""
    silu = Calls("", "silu", [bytes(64), b"\0\0\x80\x3f" * 16, 16], {})
    assert counter.cost(silu).functions["__divsf3"] == 16 * 54


def test_cache_fetches_what_it_lacks() -> None:
    cache = Cache(256, 2, 32)  # four sets of two lines

    def read(*parts: tuple[int, int]) -> Read:
        return Read("dit", "gelu", parts)

    def bytes_of(*reads: Read) -> int:
        return fetched(reads, cache)["dit", "gelu"]

    assert bytes_of(read((0, 256))) == 256
    assert bytes_of(read((31, 2))) == 64
    assert bytes_of(read((0, 256)), read((0, 256))) == 256
    assert bytes_of(read((0, 256)), read((256, 32)), read((0, 32))) == 256 + 32 + 32
    assert bytes_of(read((0, 32), (128, 32)), read((0, 32)), read((256, 32)), read((0, 32))) == 96


def test_a_picture_fetches_its_weights_once(repo: Path) -> None:
    recording = record(repo / "models" / "faces.tti", 1)
    total = fetched(recording.reads, Esp32S3.cache)
    assert 2.0e6 < total["dit", "gemm_s8"] + total["dit", "gemm_s8_add"] < 2.8e6
    macs = sum(calls.macs * calls.count for calls in recording.calls.values())
    assert 400e6 < macs < 430e6  # the DiT once, the decoder with its overlapping stripes


def test_seconds_add_memory(counter: Counter) -> None:
    chip = counter.chip
    cost = Cost(cycles=240_000_000, part_cycles=120_000_000, fetched=30_000_000)
    assert cost.seconds(chip, 2, "PSRAM") == pytest.approx(1.0)
    assert cost.seconds(chip, 1) == pytest.approx(1 + 30e6 / 32 * 259 / 240e6)


def test_report(counter: Counter) -> None:
    cost = counter.cost(product(8, 8, 32))
    products = {(8, 8, 32): cost}
    figures = KernelFigures(counter.chip, products, {("dit", "gemm_s8"): cost.times(3)})
    lines = list(report(figures, 8))
    row = next(line for line in lines if line.startswith("  dit"))
    assert row.split()[:3] == ["dit", "gemm_s8", "3"]
    assert lines[2].startswith("  8×8×32 ")
    assert "tti_pie_sums" in lines[2]
    assert any(line.split()[:1] == ["tti_pie_sums"] for line in lines)
    assert lines[-2].startswith("  model in flash: one core")
    assert lines[-1].startswith("  model in PSRAM: one core")
    figures_ = as_dict(figures)
    assert figures_["cycles"] == 3 * cost.cycles
    assert figures_["products"]["8×8×32"]["cycles_per_16_mac"] == cost.per_16
    assert figures_["functions"]["tti_pie_sums"] == 3 * cost.functions["tti_pie_sums"]
    assert set(figures_["seconds"]) == {"flash", "PSRAM"}
