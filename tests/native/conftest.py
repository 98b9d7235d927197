"""The kernels as shared libraries and as programs for emulated processors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import executed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many kernel cases were run."""
    if executed.cases:
        each = ", ".join(f"{count:,} on {name}" for name, count in executed.cases.items())
        terminalreporter.write_line(
            f"{executed.cases.total():,} kernel cases ({each}); "
            f"{executed.vector_instructions:,} vector instructions of the ESP32-S3"
        )


@pytest.fixture(scope="session")
def native_build(repo: Path) -> Path:
    """Folder with libtti.so, libtti_sanitized.so, tti_m33.elf and tti_lx7.elf, up to date."""
    folder = repo / "build" / "native"
    make_native(repo, f"-j{os.cpu_count()}", "all", "m33", "lx7", f"BUILD={folder}")
    return folder


def make_native(repo: Path, *arguments: str) -> None:
    """Run make in the folder of the kernels."""
    done = subprocess.run(
        ["make", "-s", "-C", str(repo / "native"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
