"""Firmware with our line editor and with MicroPython's own, each at its prompt."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .terminal import Terminal, open_firmware


@pytest.fixture(scope="module")
def terminal(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The firmware of this PC at its prompt."""
    with open_firmware(firmware, tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="session")
def stock(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same firmware linked without our line editor: its prompt is MicroPython's own."""
    program = tmp_path_factory.mktemp("stock") / "tti-stock"
    linked = firmware.with_name(firmware.name + ".map").read_text()
    objects = re.findall(
        rf"^LOAD ({re.escape(str(firmware.parent))}/.*\.o)$", linked, re.MULTILINE
    )
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    command = [*compiler, "-o", str(program), *objects, "-lm", "-lpthread"]
    subprocess.run(command, check=True)
    return program
