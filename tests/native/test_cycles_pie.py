"""The ESP32-S3's kernels take no more cycles, in the model of its pipeline, than they should."""

from pathlib import Path

import pytest
from ttikit.bench.kernels import Counter, measure, product


@pytest.fixture(scope="module")
def counter(native_build: Path) -> Counter:
    return Counter(native_build / "tti_lx7.elf")


@pytest.mark.parametrize(
    ("rows", "columns", "depth", "sums", "whole"),
    [
        (64, 96, 192, 1.60, 2.2),
        (128, 192, 192, 1.60, 2.2),
        (64, 192, 96, 1.70, 2.8),
        (64, 64, 32, 2.70, 6.2),
    ],
)
def test_cycles_for_16_multiplications(
    counter: Counter, rows: int, columns: int, depth: int, sums: float, whole: float
) -> None:
    """Exact sums with partial sums and stores, where conversion to float32 counts as scaling."""
    cost = counter.cost(product(rows, columns, depth))
    exact = (cost.functions["tti_pie_sums"] - rows * columns) * 16 / cost.macs
    print(f"{exact:.3f} cycles, {cost.per_16:.3f} with scales")
    assert 1 < exact <= sums
    assert exact < cost.per_16 <= whole


@pytest.mark.long
def test_a_picture_takes_no_longer_than_it_should(native_build: Path, repo: Path) -> None:
    seconds = {}
    for steps in (8, 4):
        figures = measure(native_build / "tti_lx7.elf", repo / "models" / "faces.tti", steps)
        seconds[steps] = figures.total.seconds(figures.chip, 2, "flash")
    print(seconds)
    assert 0.5 < seconds[4] <= 1.4 and seconds[4] < seconds[8] <= 2.0
    convolutions = [cost for (_, op), cost in figures.picture.items() if op == "conv3x3_s8"]
    cycles = sum(cost.cycles for cost in convolutions)
    assert 1 < cycles * 16 / sum(cost.macs for cost in convolutions) <= 2.2
