"""Firmware from the same sources is the same byte for byte, in whatever folder it is built."""

import hashlib
import os
import shutil
import subprocess

import pytest

SOURCES = [
    "Makefile",
    "board_configs",
    "frozen",
    "native",
    "mpy_modules",
    "host/ttikit/__init__.py",
    "host/ttikit/errors.py",
    "host/ttikit/board",
    "models/faces.tti",
]
PICO2 = ["firmware.elf", "tti-pico2.uf2", "tti-pico2-model.uf2", "tti-pico2-full.uf2"]


def copy_sources(repo, folder):
    """Copy what a build needs."""
    for name in SOURCES:
        source, target = repo / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)


def build(mpy_dir, folder, clock, board, products):
    """Build in `folder` and return SHA-256 of each product."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MICROPY"))}
    environment |= {"TZ": clock, "MPY_DIR": str(mpy_dir)}
    command = ["make", "-C", folder, "firmware", f"BOARD={board}"]
    subprocess.run(command, env=environment, check=True, timeout=3600)
    built = folder / "build" / f"firmware-{board.lower()}"
    return {name: hashlib.sha256((built / name).read_bytes()).hexdigest() for name in products}


@pytest.mark.long
@pytest.mark.parametrize(("board", "products"), [("UNIX", ["tti"]), ("PICO2", PICO2)])
def test_two_builds_are_byte_identical(repo, mpy_dir, tmp_path, board, products):
    copy_sources(repo, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "a-longer-name")
    first = build(mpy_dir, tmp_path / "one", "UTC", board, products)
    second = build(mpy_dir, tmp_path / "a-longer-name", "Asia/Tokyo", board, products)
    assert first == second
