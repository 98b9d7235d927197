"""One build of the ESP32-S3's firmware, with a stand-in for ESP-IDF, for all tests of it."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import esp32_build


@pytest.fixture(scope="session")
def tree(mpy_dir, tmp_path_factory):
    """A checkout of MicroPython."""
    return esp32_build.checkout(mpy_dir, tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="session")
def built(repo, tree, tmp_path_factory):
    """The folder of a build."""
    folder = tmp_path_factory.mktemp("esp32")
    done = esp32_build.build(repo, tree, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"factory +1,7\d\d,\d\d\d +3,080,192 +0x10000\n", done.stdout)
    assert re.search(r"romfs +3,3\d\d,\d\d\d +5,242,880 +0x300000\n", done.stdout)
    return folder / "firmware-esp32_s3_n16r8"
