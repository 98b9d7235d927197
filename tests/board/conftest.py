"""The emulated board that the tests use, and real mpremote on it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ttikit.board import EmulatedBoard, write_flash

sys.path.insert(0, str(Path(__file__).parent))
from board_driver import Mpremote, mpremote_on


@pytest.fixture(scope="session")
def cpu(request: pytest.FixtureRequest) -> str:
    """Which emulated board: "m33", unless a test is parametrized with `on_cpus`."""
    return str(getattr(request, "param", "m33"))


@pytest.fixture(scope="session")
def board_firmware(cpu: str) -> Path:
    """Path of the emulated board's firmware."""
    variable, target = {
        "m33": ("TTI_BOARD_FIRMWARE", "emulated-firmware"),
        "lx7": ("TTI_LX7_FIRMWARE", "lx7-firmware"),
    }[cpu]
    default = Path(__file__).parents[2] / "build" / f"firmware-qemu_{cpu}" / "firmware.elf"
    path = Path(os.environ.get(variable) or default)
    if not path.exists():
        pytest.fail(f"the firmware {path} is not built; run `make {target}` first")
    return path


@pytest.fixture(scope="session")
def board(
    board_firmware: Path, repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmulatedBoard]:
    """A running board with the shipped model; tests share it and leave it running."""
    flash = tmp_path_factory.mktemp("board") / "flash.img"
    write_flash(flash, {"faces.tti": (repo / "models" / "faces.tti").read_bytes()})
    with EmulatedBoard(board_firmware, flash) as running:
        yield running
        running.check()


@pytest.fixture
def mpremote(board: EmulatedBoard) -> Mpremote:
    """mpremote on the shared board."""
    board.check()
    return mpremote_on(board)


@pytest.fixture
def own_board(board_firmware: Path, tmp_path: Path) -> Iterator[EmulatedBoard]:
    """A running board of this test's own, with an empty ROMFS."""
    write_flash(tmp_path / "flash.img", {})
    with EmulatedBoard(board_firmware, tmp_path / "flash.img") as running:
        yield running
