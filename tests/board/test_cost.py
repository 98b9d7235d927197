"""What a picture costs on the emulated board: instructions, heap, stack. `pytest -s` prints it."""

import subprocess

from board_driver import mpremote_on
from ttikit.board import EmulatedBoard, write_flash

PEAK_LIMIT = 400 * 1024  # bytes of RAM in all, of 520 KB

DRAW = """
import emulated, gc, time, tti
out = bytearray(tti.PICTURE_BYTES)
pipeline = tti.load()
def run(collect):
    gc.collect()
    most = 0
    for _ in pipeline.stages("пожилой мужчина", out, 1, 2, 3):
        if collect:
            gc.collect()
        most = max(most, gc.mem_alloc())
    return most
start = time.ticks_us()
heap = run(False)
print(time.ticks_diff(time.ticks_us(), start), heap, run(True), emulated.stack()[0])
"""


def test_cost_of_a_picture(board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    write_flash(flash, {"faces.tti": (repo / "models" / "faces.tti").read_bytes()})
    with EmulatedBoard(board_firmware, flash, counted=True) as board:
        text = mpremote_on(board)("exec", DRAW, timeout=300).text
    virtual_us, heap, live, stack = map(int, text.split())
    command = ["arm-none-eabi-size", "-A", board_firmware]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    static = sum(int(line.split()[1]) for line in lines if line.startswith((".data", ".bss")))
    print(
        f"\n2 steps: {virtual_us / 64 * 1e-3:.0f} million instructions, without loading the model"
    )
    print(
        f"heap {heap:,} bytes with garbage, {live:,} without, stack {stack:,}, static {static:,}"
    )
    assert 0 < live <= heap and static > 1000
    assert heap + stack + static <= PEAK_LIMIT
