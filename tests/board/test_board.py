"""What the emulated board is: memory, time, chance, flash; and that it never hangs in silence."""

import re
import subprocess
import sys
import time

import pytest
from board_driver import Terminal, mpremote_on, on_cpus
from ttikit.board import BoardError, EmulatedBoard
from ttikit.errors import TtiError

RAM_BYTES = 520 * 1024
STACK_BYTES = 12 * 1024
SIZE = re.compile(r"^ *(\S.*?) +([\d,]+) bytes$", re.MULTILINE)


def test_memory_is_that_of_a_pico_2(mpremote):
    code = "import gc; gc.collect(); print(gc.mem_alloc() + gc.mem_free())"
    heap = int(mpremote("exec", code).text)
    assert 490_000 < heap < RAM_BYTES - STACK_BYTES


def test_nothing_lies_outside_of_the_memory(board_firmware):
    listing = subprocess.run(
        ["arm-none-eabi-nm", board_firmware], capture_output=True, text=True, check=True
    ).stdout
    symbols = {name: int(value, 16) for value, _, name in map(str.split, listing.splitlines())}
    assert symbols["_estack"] - symbols["_sdata"] == RAM_BYTES
    assert symbols["_estack"] - symbols["_sstack"] == STACK_BYTES
    assert symbols["_sdata"] <= symbols["_ebss"] <= symbols["_sheap"] < symbols["_eheap"]


def test_stack_knows_how_deep_it_was(own_board):
    code = """
import emulated
before, size = emulated.stack()
def deep(n):
    return deep(n - 1) if n else 0
deep(20)
print(before, emulated.stack()[0], size)
"""
    before, after, size = map(int, mpremote_on(own_board)("exec", code).text.split())
    assert 300 < before < 3000
    assert before + 20 * 50 < after < size == STACK_BYTES


def sizes(repo, nm, firmware):
    script = repo / "board_configs" / "emulated" / "sizes.py"
    command = [sys.executable, script, nm, firmware]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(size.replace(",", "")) for name, size in SIZE.findall(text)}


@pytest.mark.parametrize(
    ("cpu", "nm", "ram"),
    [("m33", "arm-none-eabi-nm", RAM_BYTES), ("lx7", "xtensa-lx106-elf-nm", None)],
    indirect=["cpu"],
    scope="session",
)
def test_sizes_add_up(board_firmware, repo, nm, ram):
    shown = sizes(repo, nm, board_firmware)
    parts = ("RAM: data and bss", "RAM: Python's heap", "RAM: stack")
    assert sum(shown[part] for part in parts) == shown["RAM: all of it"]
    assert ram in (None, shown["RAM: all of it"])
    assert 200 * 1024 < shown["flash: code and constants"] < 1024 * 1024


def test_floats_and_our_module(mpremote):
    code = "import _tti, tti; print(1.0 + 1e-8 == 1.0, dict(_tti.build())['gemm_s8'])"
    assert mpremote("exec", code).text.split()[0] == "True"


@pytest.mark.parametrize(
    ("cpu", "flash"), [("m33", 0x80000000), ("lx7", 0x22000000)], indirect=["cpu"], scope="session"
)
def test_model_is_used_in_place(mpremote, flash):
    code = """
import gc, tti, uctypes
gc.collect(); before = gc.mem_alloc()
view = memoryview(open("/rom/faces.tti", "rb"))
gc.collect()
at = uctypes.addressof(view)
print(at % 16, FLASH <= at < FLASH + (1 << 20), len(view) > 3_000_000)
print(gc.mem_alloc() - before < 1000)
"""
    said = mpremote("exec", f"FLASH = {flash}\n{code}").text
    assert said.split() == ["0", "True", "True", "True"]


@on_cpus
def test_time_passes_as_on_the_pc(mpremote):
    code = """
import time
start = time.ticks_us()
time.sleep_ms(700)
slept = time.ticks_diff(time.ticks_us(), start)
start = time.ticks_us()
time.sleep_us(5000)
print(time.time(), slept, time.ticks_diff(time.ticks_us(), start))
"""
    now, slept, short = map(int, mpremote("exec", code).text.split())
    assert abs(now - time.time()) < 30
    assert 700_000 <= slept < 2_000_000  # the PC may be busy
    assert 5_000 <= short < 500_000


def test_asyncio(mpremote):
    code = """
import asyncio
async def count(name, times, ms):
    for n in range(times):
        print(name, n)
        await asyncio.sleep_ms(ms)
async def main():
    await asyncio.gather(count("slow", 2, 100), count("fast", 4, 30))
asyncio.run(main())
"""
    lines = mpremote("exec", code).text.splitlines()
    assert sorted(lines) == [f"fast {n}" for n in range(4)] + [f"slow {n}" for n in range(2)]
    assert lines.index("fast 1") < lines.index("slow 1")  # however slow the PC is


@on_cpus
def test_chance(mpremote):
    code = "import os, tti; print(os.urandom(32).hex(), tti.random_seed(), len(os.urandom(5000)))"
    first, second = (mpremote("exec", code).text.split() for _ in range(2))
    assert first[0] != second[0] and first[1] != second[1]
    assert first[2] == "5000"
    # Of 256 bits of a random source, less than 64 or more than 192 are never set.
    assert 64 < bin(int(first[0], 16)).count("1") < 192


@pytest.mark.parametrize(
    "call",
    [
        "readblocks(1024, bytearray(16))",
        "readblocks(-1, bytearray(16))",
        "readblocks(1023, bytearray(4097))",
        "writeblocks(0, b'x', -1)",
        "writeblocks(1 << 20, b'x', 0)",
        "ioctl(6, 1024)",
    ],
)
def test_flash_refuses_what_lies_outside(mpremote, call):
    said = mpremote("exec", f"import emulated; emulated.Flash().{call}", rc=1)
    assert "OSError: [Errno 22] EINVAL" in said.text


@on_cpus
def test_flash_writes_like_flash(own_board):
    code = """
import emulated
flash = emulated.Flash()
flash.ioctl(6, 900)
flash.writeblocks(900, b"\\x0f\\xff", 100)
flash.writeblocks(900, b"\\xfe\\x81", 100)
got = bytearray(3)
flash.readblocks(900, got, 100)
print(got.hex())
"""
    assert mpremote_on(own_board)("exec", code).text == "0e81ff\n"


@on_cpus
def test_hard_fault_is_reported(own_board):
    said = mpremote_on(own_board)("exec", "import machine; machine.mem32[0xF0000000]", rc=None)
    assert said.rc != 0
    assert "board stopped: hard fault" in said.text and "address 0xf0000000" in said.text
    with pytest.raises(
        BoardError, match=r"has stopped: hard fault, .* address 0xf0000000 pc 0x[12]"
    ):
        own_board.wait(20)


def test_overflow_of_the_c_stack_is_reported(own_board):
    code = """
import micropython
@micropython.asm_thumb
def fill():
    label(again)
    push({r0, r1, r2, r3})
    b(again)
fill()
"""
    said = mpremote_on(own_board)("exec", code, rc=None)
    assert "board stopped: stack overflow" in said.text
    with pytest.raises(BoardError, match="stack overflow"):
        own_board.wait(20)


@on_cpus
def test_deep_recursion_is_an_exception(mpremote):
    code = "def f(): f()\ntry: f()\nexcept RuntimeError as error: print(error)"
    assert mpremote("exec", code).text == "maximum recursion depth exceeded\n"


def test_clock_counts_instructions(board_firmware, own_board):
    own_board.stop()
    code = """
import time
def work():
    start = time.ticks_cpu()
    for _ in range(10_000): pass
    return time.ticks_diff(time.ticks_cpu(), start)
print(work())
"""
    counts = []
    for _ in range(2):
        with EmulatedBoard(board_firmware, own_board.flash, counted=True) as board:
            counts.append(int(mpremote_on(board)("exec", code).text))
    # A loop of MicroPython's takes some 100 instructions a turn, of 64 ns; a tick is 50 ns.
    assert 500_000 < counts[0] < 5_000_000
    assert abs(counts[0] - counts[1]) < counts[0] / 100


def test_dead_emulator_is_named(own_board):
    own_board._process.kill()
    with pytest.raises(BoardError, match="QEMU has ended with status -9: it said nothing"):
        own_board.wait(20)


def test_emulator_that_cannot_start_says_why(board_firmware, own_board, tmp_path):
    own_board.stop()
    (tmp_path / "text.elf").write_text("no firmware")
    with pytest.raises(BoardError, match="there is no firmware"):
        EmulatedBoard(tmp_path / "absent.elf", own_board.flash).start()
    with pytest.raises(BoardError, match="is no firmware of an emulated board"):
        EmulatedBoard(tmp_path / "text.elf", own_board.flash).start()
    (tmp_path / "cut.elf").write_bytes(board_firmware.read_bytes()[:100])
    cut = EmulatedBoard(tmp_path / "cut.elf", own_board.flash)
    with pytest.raises(BoardError, match="QEMU has ended"):
        cut.start()
        cut.wait(20)
    cut.stop()


def test_two_boards_do_not_share_a_flash(own_board):
    second = EmulatedBoard(own_board.firmware, own_board.flash)
    with pytest.raises(TtiError, match="another emulated board runs with"), second:
        pass


def test_command_starts_a_board_and_ctrl_c_ends_it(board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    command = [
        *(sys.executable, "-m", "ttikit", "board", "emulate"),
        *("--firmware", str(board_firmware), "--flash", str(flash)),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=repo)
    try:
        port = re.match(r"(/dev/\S+) is the board's terminal", child.stdout.readline())[1]
        with Terminal(port) as terminal:
            terminal.prompt()
            terminal.type(b"import os; os.listdir('/rom')\r")
            terminal.read_until(b"['faces.tti']")
        child.terminate()  # as Ctrl-C, which a shell's background jobs ignore
        assert child.wait(20) == 0
        assert "The board is off." in child.stdout.read()
        with pytest.raises(OSError):
            Terminal(port).__enter__()
    finally:
        child.kill()
        child.wait()
