"""A firmware that answers at once, for tests of everything around it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def fake_firmware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of a program that speaks like the firmware (`fake_firmware.py`)."""
    source = Path(__file__).with_name("fake_firmware.py")
    program = tmp_path / "firmware"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E {source}\n")
    program.chmod(0o755)
    monkeypatch.setenv("FAKE_STARTS", str(tmp_path / "starts"))
    return program


@pytest.fixture
def starts(tmp_path: Path) -> Callable[[], list[int]]:
    """Return a function that gives the process ids of all starts of the fake firmware."""

    def read() -> list[int]:
        path = tmp_path / "starts"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    return read
