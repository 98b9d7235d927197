"""A board that QEMU emulates: it runs our firmware, and its console is a pseudo-terminal.

with EmulatedBoard(firmware, flash) as board:
    print(board.port)           # such as /dev/pts/3: `mpremote connect /dev/pts/3`
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import tempfile
import time
import tty
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from ttikit.board.flash import FLASH_BYTES, open_flash
from ttikit.errors import TtiError

START_SECONDS = 30.0
END_SECONDS = 5.0
STOPPED = 99  # QEMU's exit status when the firmware found a fault; board_configs/emulated/cpu.h
ELF = b"\x7fELF"
_PORT = re.compile(rb"char device redirected to (\S+)")


class BoardError(TtiError):
    """QEMU could not start, or the board stopped."""


@dataclass(frozen=True)
class Machine:
    """A CPU that QEMU emulates: its program, and arguments with `{flash}` and `{bytes}`.

    own_terminal: the firmware reads and writes QEMU's standard input and output.
    """

    program: str
    package: str
    arguments: tuple[str, ...]
    own_terminal: bool = False


# Either way the firmware may ask the PC for random bytes and the time, and report a fault.
MACHINES = {
    40: Machine(  # by the processor in the head of an ELF file
        "qemu-system-arm",
        "qemu-system-arm",
        (
            *("-machine", "mps2-an505,memory-backend=flash"),
            "-object",
            "memory-backend-file,id=flash,size={bytes},share=on,mem-path={flash}",
            *("-semihosting-config", "enable=on,target=native"),
            *("-serial", "pty"),
        ),
    ),
    94: Machine(
        "qemu-system-xtensa",
        "qemu-system-misc",
        (
            *("-machine", "sim", "-cpu", "de233_fpu"),
            *("-semihosting-config", "enable=on,target=native,arg=tti,arg={flash}"),
            # That machine's serial port loses bytes: two threads of QEMU have no lock for it.
            *("-serial", "none"),
        ),
        own_terminal=True,
    ),
}


def machine_for(firmware: Path) -> Machine:
    """Return the machine that a firmware is for; BoardError if there is none."""
    try:
        with firmware.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise BoardError(f"{firmware} cannot be read: {error.strerror}") from None
    machine = MACHINES.get(int.from_bytes(head[18:20], "little")) if head[:4] == ELF else None
    if machine is None:
        raise BoardError(f"{firmware} is no firmware of an emulated board; run `make board`")
    return machine


def _open_terminal() -> tuple[int, str]:
    """Return the near end of a new terminal, which never blocks, and the path of the far end."""
    near, far = pty.openpty()
    path = os.ttyname(far)
    tty.setraw(far)
    os.close(far)
    os.set_blocking(near, False)
    return near, path


class EmulatedBoard:
    """Runs `firmware` (an ELF file) on the machine it is for, with the file `flash` as its flash.

    `counted` makes the board's clock follow the instructions that it executes, at 64 ns each,
    instead of the PC's clock: runs are repeatable, and `time.ticks_cpu()` counts 50 ns.

    Use it as a context manager, or call `start` and `stop`. Raises BoardError.
    """

    def __init__(self, firmware: Path, flash: Path, counted: bool = False) -> None:
        self.firmware = firmware
        self.flash = flash
        self.counted = counted
        self.port = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._running = ExitStack()

    def __enter__(self) -> EmulatedBoard:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start QEMU and wait until `port` names its terminal."""
        for path, what in ((self.firmware, "firmware"), (self.flash, "flash")):
            if not path.is_file():
                raise BoardError(f"there is no {what} {path}; run `make board`")
        with ExitStack() as stack:
            flash = stack.enter_context(open_flash(self.flash))
            self._log = stack.enter_context(tempfile.TemporaryFile())
            machine = machine_for(self.firmware)
            terminal: int | None = None
            if machine.own_terminal:
                terminal, self.port = _open_terminal()
            try:
                self._process = subprocess.Popen(
                    self._command(machine),
                    stdin=subprocess.DEVNULL if terminal is None else terminal,
                    stdout=self._log if terminal is None else terminal,
                    stderr=self._log,
                    pass_fds=[flash.fileno()],  # whoever ends this process: the flash is in use
                    start_new_session=True,  # Ctrl-C in the terminal is for us; stop() ends QEMU
                )
            finally:
                if terminal is not None:
                    os.close(terminal)
            stack.callback(self._end)
            if terminal is None:
                self._wait_for_port()
            self._running = stack.pop_all()

    def stop(self) -> None:
        """End QEMU; the flash file keeps what the board wrote."""
        self._running.close()

    def check(self) -> None:
        """Raise BoardError, with QEMU's last words, unless the board is running."""
        if self._process is None:
            raise BoardError("the emulated board has not been started")
        status = self._process.poll()
        if status is None:
            return
        words = self._last_words()
        if status == STOPPED:
            raise BoardError(f"the emulated board has stopped: {words}")
        raise BoardError(f"QEMU has ended with status {status}: {words}")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the board stops, then raise as `check` does; return after `seconds`."""
        if self._process is not None:
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                return
        self.check()

    def _command(self, machine: Machine) -> list[str]:
        program = shutil.which(machine.program)
        if program is None:
            raise BoardError(
                f"{machine.program} is missing; install the package {machine.package}"
            )
        path = str(self.flash).replace(",", ",,")  # QEMU ends an option at a comma
        return [
            program,
            *(a.format(flash=path, bytes=FLASH_BYTES) for a in machine.arguments),
            *("-display", "none", "-monitor", "none"),
            *(("-icount", "shift=6,sleep=off") if self.counted else ()),
            *("-kernel", str(self.firmware)),
        ]

    def _wait_for_port(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            found = _PORT.search(self._output())
            if found:
                self.port = found[1].decode()
                return
            self.check()
            time.sleep(0.02)
        raise BoardError(f"QEMU named no terminal within {START_SECONDS:.0f} seconds")

    def _output(self) -> bytes:
        if self._log is None:
            return b""
        self._log.seek(0)
        return self._log.read()

    def _last_words(self) -> str:
        lines = [line for line in self._output().splitlines() if not _PORT.match(line)]
        return b" / ".join(lines[-3:]).decode(errors="replace") or "it said nothing"

    def _end(self) -> None:
        process, self._process, self._log = self._process, None, None
        if process is not None:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
