"""Millions of damaged files on the reader in C: see fuzz_model.c for the rules it checks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ttikit.model_file import Tensor, write_model

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny.tti"
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture
def bases(tmp_path: Path) -> list[str]:
    """The golden file, the smallest possible file and one with many tensors that share a scale."""
    smallest, many = tmp_path / "smallest.tti", tmp_path / "many.tti"
    write_model(smallest, {"x": np.array(1, np.uint8)}, {})
    rows = {f"w{i}": Tensor(np.arange(i + 1, dtype=np.int8), "s") for i in range(12)}
    write_model(many, {**rows, "s": np.ones(1, np.float32)}, {"k": "v" * 40})
    return [str(GOLDEN), str(smallest), str(many)]


@pytest.mark.parametrize(
    ("flags", "count", "seed"), [(SANITIZE, 1_000_000, 1), (["-O2"], 1_000_000, 2)]
)
def test_damaged_files_are_refused(
    compile_c, bases: list[str], flags: list[str], count: int, seed: int
) -> None:
    program = compile_c("fuzz_model.c", flags)
    command = [str(program), str(count), str(seed), *bases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["tried"] == count == sum(report["classes"]) == sum(report["statuses"])
    assert min(report["classes"]) > count // 20
    assert 0 < report["accepted"] < count // 20
