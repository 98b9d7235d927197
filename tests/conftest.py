"""What every test may use: the repository's path and the firmware of the PC."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent

# A background shell starts programs deaf to Ctrl-C, which some tests send to theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Outcome:
    """What a run of the firmware left: its two outputs, decoded, and its exit status."""

    stdout: str
    stderr: str
    rc: int


RunMpy = Callable[..., Outcome]


@pytest.fixture(scope="session")
def repo() -> Path:
    """Path of the repository's root."""
    return REPO


@pytest.fixture(scope="session")
def mpy_dir() -> Path:
    """Path of the MicroPython tree that the firmware was built from."""
    path = Path(os.environ.get("MPY_DIR") or REPO / "build" / "micropython-1.25.0")
    if not (path / "py" / "mpconfig.h").exists():
        pytest.fail(f"there is no MicroPython tree at {path}; run `make firmware` first")
    return path


@pytest.fixture(scope="session")
def firmware() -> Path:
    """Path of the built firmware for the PC."""
    path = Path(os.environ.get("TTI_FIRMWARE") or REPO / "build" / "firmware-unix" / "tti")
    if not path.exists():
        pytest.fail(f"the firmware {path} is not built; run `make firmware` first")
    return path


@pytest.fixture(scope="session")
def pico2() -> Path:
    """Path of the folder with the firmware of the Pico 2: firmware.elf and three UF2 files."""
    path = Path(os.environ.get("TTI_PICO2") or REPO / "build" / "firmware-pico2")
    if not (path / "tti-pico2.uf2").exists():
        pytest.fail(f"there is no firmware in {path}; run `make firmware BOARD=PICO2` first")
    return path


@pytest.fixture(scope="session")
def run_mpy(firmware: Path) -> RunMpy:
    """Return a function that runs code, or a script, on the firmware.

    `run_mpy(code_or_file, *args, env=None, timeout=60, cwd=None, options=())`: a Path is run
    as a script, a str as code. `env` is added to the environment, `options` are those of the
    interpreter; `sys.argv[1:]` are the `args`. A run over `timeout` seconds raises
    subprocess.TimeoutExpired.
    """

    def run(
        code_or_file: str | Path,
        *args: str,
        env: Mapping[str, str] | None = None,
        timeout: float = 60,
        cwd: Path | None = None,
        options: Sequence[str] = (),
    ) -> Outcome:
        source = (
            [str(code_or_file)] if isinstance(code_or_file, Path) else ["-c", str(code_or_file)]
        )
        done = subprocess.run(
            [str(firmware), *options, *source, *args],
            capture_output=True,
            env={**os.environ, **(env or {})},
            timeout=timeout,
            cwd=cwd or REPO,
            check=False,
        )
        return Outcome(
            done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"),
            done.returncode,
        )

    return run
