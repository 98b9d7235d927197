"""`make firmware BOARD=ESP32_S3_N16R8` with a stand-in for ESP-IDF, in esp_idf/.

Everything else is real: MicroPython's esp32 port with its CMake files and makeimg.py, ESP-IDF's
own reader of partition tables, and all of ours."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
IDF = HERE / "esp_idf"
# What the port's submodules have that is not in the archive's MicroPython.
SUBMODULES = ("berkeley-db-1.xx", "micropython-lib", "tinyusb")


def checkout(mpy_dir: Path, folder: Path) -> Path:
    """Return a copy of MicroPython's tree, as links, with submodules that hold empty files."""
    tree = folder / "micropython"
    (tree / "ports").mkdir(parents=True)
    (tree / "lib").mkdir()
    for path in mpy_dir.iterdir():
        if path.name not in ("ports", "lib"):
            (tree / path.name).symlink_to(path)
    for path in (mpy_dir / "lib").iterdir():
        if path.name not in SUBMODULES:
            (tree / "lib" / path.name).symlink_to(path)
    shutil.copytree(mpy_dir / "ports" / "esp32", tree / "ports" / "esp32")
    for name in needed(mpy_dir):
        file = tree / "lib" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    return tree


def needed(mpy_dir: Path) -> list[str]:
    """The files of the submodules that the port's CMake files name."""
    cmake = (mpy_dir / "extmod" / "extmod.cmake").read_text()
    cmake += (mpy_dir / "ports" / "esp32" / "esp32_common.cmake").read_text()
    folders = {"MICROPY_LIB_BERKELEY_DIR": "berkeley-db-1.xx", "TINYUSB_SRC": "tinyusb/src"}
    files = [
        f"{folders[variable]}/{path}"
        for variable, path in re.findall(r"\$\{(\w+)\}/([\w/]+\.c)", cmake)
        if variable in folders
    ]
    assert len(files) > 15
    return [
        *files,
        "berkeley-db-1.xx/README",
        "tinyusb/src/tusb.h",
        "micropython-lib/README.md",
    ]


def make(repo: Path, *arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run make for the board, with what `env` adds to a clean environment."""
    dropped = ("MAKEFLAGS", "MAKEOVERRIDES", "IDF_PATH", "MPY_DIR")
    clean = {name: value for name, value in os.environ.items() if name not in dropped}
    return subprocess.run(
        ["make", "-C", str(repo), "--no-print-directory", "firmware", *arguments],
        env={**clean, "BOARD": "ESP32_S3_N16R8", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def exported(idf: Path = IDF) -> dict[str, str]:
    """The environment after ESP-IDF's export.sh; the python3 in it has ESP-IDF's package."""
    path = [str(idf / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {"IDF_PATH": str(idf), "PATH": os.pathsep.join(path)}


def build(repo: Path, tree: Path, folder: Path, *more: str, **env: str):
    """Build in `folder`; the compiler of bytecode, which only the real build uses, is anything."""
    places = [f"MPY_DIR={tree}", f"BUILD={folder}", f"MPY_CROSS={sys.executable}"]
    return make(repo, *places, *more, env={**exported(), **env})
