"""Programs in C for the tests of the model file, compiled once for a run."""

from __future__ import annotations

import os
import shlex
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ttikit.model_file import ModelFile

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "native" / "core"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a function that compiles a program of this folder together with the reader."""
    folder = tmp_path_factory.mktemp("model_file")

    def build(source: str, flags: list[str]) -> Path:
        program = folder / f"{Path(source).stem}{''.join(flags[:1])}"
        files = [str(HERE / source), str(CORE / "model_file.c")]
        compiler = shlex.split(os.environ.get("CC", "gcc"))
        command = [*compiler, "-std=gnu99", *WARNINGS, *flags, f"-I{CORE}", *files, "-o"]
        subprocess.run([*command, str(program)], check=True)
        return program

    return build


class Probe:
    """A running model_probe: the reader in C as a function."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1
        )

    def ask(self, content: bytes) -> tuple[str, list[str]]:
        """Return `number sentence` and one line for each tensor."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(struct.pack("<I", len(content)) + content)
        self.process.stdin.flush()
        lines = [line.decode("ascii").rstrip("\n") for line in iter(self._line, b"\n")]
        return lines[0], lines[1:]

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the reader in C ended with status {self.process.wait()}"
        return line

    def statuses(self) -> list[str]:
        """Return the sentences of all statuses."""
        command = [self.program, "--statuses"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(
            "\n"
        )

    @staticmethod
    def expected_lines(model: ModelFile) -> list[str]:
        """Return what the probe must print about the tensors of a model."""
        return [
            f"{e.name} {e.dtype} {e.layout} {e.scale} {e.offset} {e.bytes} {e.crc:08x} "
            + " ".join(map(str, (e.elements, *e.shape)))
            for e in model.entries
        ]


@pytest.fixture(scope="session")
def probe(compile_c: Compile) -> Iterator[Probe]:
    """The reader in C, built with the sanitizers."""
    running = Probe(compile_c("model_probe.c", SANITIZE))
    yield running
    assert running.process.stdin is not None
    running.process.stdin.close()
    assert running.process.wait(timeout=30) == 0
