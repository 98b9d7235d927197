"""The ESP32-S3's products take no more cycles, in the model of its pipeline, than they should."""

from pathlib import Path

import pytest
from ttikit.bench.kernels import Counter, product


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
