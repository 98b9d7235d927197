"""A process of the firmware that draws one picture after the other.

The firmware runs a small script that answers jobs: JSON lines on its standard input, and for each
a JSON line and raw bytes on its standard output.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttikit.errors import TtiError

PICTURE_BYTES = 64 * 64 * 3
STAGES = ("text", "step")  # what a job may ask for besides the picture
TRIES = 3  # starts of the firmware for one job
WORDS = 200  # characters that are told of what a process said last
PATIENCE = 120.0  # seconds without an answer after which the firmware is started anew

SCRIPT = """
import json, sys, tti, _tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
def answer(head, parts):
    head["crc"] = 0
    for part in parts:
        head["crc"] = _tti.crc32(head["crc"], part)
    head["bytes"] = [len(part) for part in parts]
    sys.stdout.buffer.write((json.dumps(head) + "\\n").encode())
    for part in parts:
        sys.stdout.buffer.write(part)
answer({"ready": 1}, [])
while True:
    line = sys.stdin.readline()
    if not line:
        break
    prompt, seed, steps, guidance, names = json.loads(line)
    parts = []
    try:
        for name, buf in pipeline.stages(prompt, out, seed, steps, guidance / 100):
            if name in names:
                parts.append(bytes(buf))
    except (TypeError, ValueError) as error:
        answer({"error": str(error)}, [])
        continue
    answer({"notes": pipeline.notes}, parts + [out])
"""


@dataclass(frozen=True)
class Job:
    """A picture to draw; guidance in hundredths."""

    prompt: str
    seed: int
    steps: int
    guidance: int


class Died(Exception):
    """The firmware ended, hung or sent nonsense; another process may do better."""


class Firmware:
    """One process, started at the first job and started again when it dies."""

    def __init__(self, program: Path, model: Path, patience: float = PATIENCE) -> None:
        """`program` is what `make firmware` built; TtiError if there is none."""
        if not os.access(program, os.X_OK) or not program.is_file():
            raise TtiError(f"there is no firmware {program}: build it with `make firmware`")
        self.program, self.model, self.patience = program, model, patience
        self.starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def draw(self, job: Job) -> bytes:
        """Draw a picture: 12,288 bytes, RGB rows. Raises TtiError."""
        return self.stages(job, ())[-1]

    def stages(self, job: Job, names: Sequence[str] = STAGES) -> list[bytes]:
        """Return the buffers of the named stages as they come, and the picture at the end.

        Raises TtiError if the job is refused, holds an unknown word, or ends every process.
        """
        reason = ""
        for _ in range(TRIES):
            try:
                head, parts = self._ask(job, names)
            except Died as died:
                reason = str(died)
                self._kill()
                if self._closed:
                    break
                continue
            if "error" in head:
                raise TtiError(f"the firmware refuses «{job.prompt}»: {head['error']}")
            if head["notes"]:
                raise TtiError(f"the model cannot follow «{job.prompt}»: {head['notes'][0]}")
            return parts
        raise TtiError(f"the firmware {self.program} draws nothing: {reason}")

    def close(self) -> None:
        """End the process; a job under way in another thread ends with a TtiError."""
        self._closed = True
        self._kill()

    def __enter__(self) -> Firmware:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, job: Job, names: Sequence[str]) -> tuple[dict, list[bytes]]:
        process = self._process or self._start()
        assert process.stdin is not None
        line = json.dumps([job.prompt, job.seed, job.steps, job.guidance, list(names)])
        try:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError):
            raise Died(_last_words(process)) from None
        head, parts = self._answer(process)
        if "error" not in head and [len(part) for part in parts[-1:]] != [PICTURE_BYTES]:
            raise Died("it sent a picture of another size")
        return head, parts

    def _start(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise Died("it was stopped")
        self.starts += 1
        try:
            # A session of its own: Ctrl-C reaches this program alone, which then ends the other.
            self._process = process = subprocess.Popen(
                [str(self.program), "-c", SCRIPT, str(self.model)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=-1,
                start_new_session=True,
            )
        except OSError as error:
            raise TtiError(f"the firmware {self.program} cannot be started: {error}") from None
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._answer(process)
        return process

    def _answer(self, process: subprocess.Popen[bytes]) -> tuple[dict, list[bytes]]:
        """Read one answer: its head and the parts that follow; Died if it makes no sense."""
        reader = _Reader(process, self.patience)
        try:
            head = json.loads(reader.line())
            parts = [reader.exactly(int(size)) for size in head["bytes"]]
            crc = head["crc"]
        except (ValueError, KeyError, TypeError):
            raise Died(f"it does not answer as expected; {_last_words(process)}") from None
        found = 0
        for part in parts:
            found = zlib.crc32(part, found)
        if found != crc:
            raise Died("bytes were lost on the way")
        return head, parts

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


class _Reader:
    """Reads from a process that may die or hang."""

    def __init__(self, process: subprocess.Popen[bytes], patience: float) -> None:
        assert process.stdout is not None
        self.process, self.patience = process, patience
        self.file = process.stdout.fileno()
        self.pending = b""

    def line(self) -> bytes:
        while b"\n" not in self.pending:
            self._more()
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def exactly(self, size: int) -> bytes:
        while len(self.pending) < size:
            self._more()
        part, self.pending = self.pending[:size], self.pending[size:]
        return part

    def _more(self) -> None:
        end = time.monotonic() + self.patience
        while not select.select([self.file], [], [], min(1.0, self.patience))[0]:
            if time.monotonic() > end:
                raise Died(f"it has not answered for {self.patience:g} seconds")
        try:
            chunk = os.read(self.file, 1 << 20)
        except (OSError, ValueError):
            chunk = b""
        if not chunk:
            raise Died(_last_words(self.process))
        self.pending += chunk


def _last_words(process: subprocess.Popen[bytes]) -> str:
    """What a dying process printed last, or its exit status."""
    try:
        _, errors = process.communicate(timeout=1)
    except (subprocess.TimeoutExpired, OSError, ValueError):
        errors = b""
    lines = errors.decode(errors="replace").strip().splitlines()
    return lines[-1][-WORDS:] if lines else f"it ended with status {process.poll()}"
