"""The kernels as shared libraries."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def native_build(repo: Path) -> Path:
    """Folder with libtti.so, libtti_sanitized.so and tti_m33.elf, up to date."""
    folder = repo / "build" / "native"
    make_native(repo, "all", "m33", f"BUILD={folder}")
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
