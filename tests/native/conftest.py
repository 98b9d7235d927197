"""The kernels as shared libraries."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def native_build(repo: Path) -> Path:
    """Folder with libtti.so and libtti_sanitized.so, up to date."""
    folder = repo / "build" / "native"
    done = subprocess.run(
        ["make", "-s", "-C", str(repo / "native"), f"BUILD={folder}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
