"""Firmware from the same sources is the same byte for byte, in whatever folder it is built."""

import hashlib
import os
import shutil
import subprocess

import pytest

SOURCES = ["Makefile", "board_configs", "frozen", "native", "mpy_modules"]


def build_copy(repo, mpy_dir, folder, clock):
    """Copy what a build needs to `folder`, build there, and return the firmware's SHA-256."""
    folder.mkdir()
    for name in SOURCES:
        source = repo / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MICROPY"))}
    environment |= {"TZ": clock, "MPY_DIR": str(mpy_dir)}
    subprocess.run(["make", "-C", folder, "firmware"], env=environment, check=True, timeout=3600)
    firmware = folder / "build" / "firmware-unix" / "tti"
    return hashlib.sha256(firmware.read_bytes()).hexdigest()


@pytest.mark.long
def test_two_builds_are_byte_identical(repo, mpy_dir, tmp_path):
    first = build_copy(repo, mpy_dir, tmp_path / "one", "UTC")
    second = build_copy(repo, mpy_dir, tmp_path / "a-longer-name", "Asia/Tokyo")
    assert first == second
