"""The firmware of the PC is MicroPython set up like a board, with our module and package in it."""

import os
import pty
import re
import select
import subprocess
import time

import pytest


def test_floats_have_single_precision(run_mpy):
    done = run_mpy("print(1.0 + 1e-8 == 1.0, 16777216.0 + 1.0 == 16777216.0, 1e39)")
    assert done.stdout.split() == ["True", "True", "inf"], done.stderr


def test_module_and_package_are_built_in(run_mpy, tmp_path):
    done = run_mpy("import _tti, tti; print(_tti, tti.__file__)", cwd=tmp_path)
    assert "<module '_tti'>" in done.stdout, done.stderr
    assert done.stdout.split()[-1].startswith("tti/__init__")


def test_heap_holds_a_model_read_into_memory(run_mpy):
    done = run_mpy("a = bytearray(3_200_000); b = bytearray(len(a)); print(len(a) + len(b))")
    assert done.stdout.strip() == "6400000", done.stderr


def test_memory_error_comes_and_the_interpreter_goes_on(run_mpy):
    code = "try:\n bytearray(1 << 30)\nexcept MemoryError:\n print('full')\nprint(6 * 7)"
    assert run_mpy(code).stdout.split() == ["full", "42"]


def test_allocation_can_be_locked_and_measured(run_mpy):
    code = (
        "import micropython\n"
        "micropython.heap_lock()\n"
        "try:\n [1, 2]\nexcept MemoryError:\n print('locked')\n"
        "print(micropython.heap_locked())\n"
        "micropython.heap_unlock()\n"
        "micropython.mem_info()\n"
    )
    done = run_mpy(code)
    assert done.stdout.split()[:2] == ["locked", "1"], done.stderr
    assert re.search(r"GC: total: \d+, used: \d+", done.stdout)


def test_files_of_the_pc_are_mounted(run_mpy, tmp_path):
    (tmp_path / "модель.bin").write_bytes(b"\x89TTI")
    done = run_mpy(f"print(open({str(tmp_path / 'модель.bin')!r}, 'rb').read())")
    assert done.stdout.strip() == r"b'\x89TTI'", done.stderr


def read_until(terminal: int, text: bytes, seconds: float) -> bytes:
    seen = b""
    end = time.monotonic() + seconds
    while text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"waited {seconds} s for {text!r}, saw {seen!r}"
        seen += os.read(terminal, 4096)
    return seen


@pytest.fixture
def prompt(firmware):
    """A terminal with the firmware's prompt in it."""
    terminal, child_side = pty.openpty()
    child = subprocess.Popen(
        [str(firmware)],
        stdin=child_side,
        stdout=child_side,
        stderr=child_side,
        preexec_fn=lambda: os.login_tty(child_side),
    )
    os.close(child_side)
    read_until(terminal, b">>> ", 20)
    yield terminal
    child.kill()
    child.wait()
    os.close(terminal)


def test_ctrl_c_stops_a_loop_at_the_prompt(prompt):
    os.write(prompt, b"print('go' * 2)\r")
    read_until(prompt, b"gogo\r\n>>> ", 20)
    os.write(prompt, b"while True: pass\r\r")
    read_until(prompt, b"... ", 20)
    time.sleep(0.3)
    os.write(prompt, b"\x03")
    # The prompt comes after the terminal is in raw mode again; typing before that is lost.
    read_until(prompt, b"KeyboardInterrupt: \r\n>>> ", 20)
    os.write(prompt, b"6 * 7\r")
    read_until(prompt, b"42\r\n", 20)


def test_the_stack_holds_no_code(firmware):
    """One assembly file without a note about it would make the whole program's executable."""
    done = subprocess.run(["readelf", "-lW", firmware], capture_output=True, text=True, check=True)
    (stack,) = [line.split() for line in done.stdout.splitlines() if "GNU_STACK" in line]
    assert stack[6] == "RW"
