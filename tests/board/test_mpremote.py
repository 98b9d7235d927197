"""Real mpremote on the emulated board: what people do with a board works."""

import random
import re
import time

from board_driver import Terminal, mpremote_on, on_cpus
from ttikit.board import write_flash

pytestmark = on_cpus


def test_exec(mpremote):
    assert mpremote("exec", "print(6 * 7)").text == "42\n"
    failed = mpremote("exec", "1 / 0", rc=1)
    assert "ZeroDivisionError: divide by zero" in failed.text


def test_run(mpremote, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nfor n in range(3):\n    print(n, sys.platform)\n")
    assert mpremote("run", script).text == "0 qemu\n1 qemu\n2 qemu\n"


def test_files(mpremote, tmp_path):
    content = bytes(range(256)) * 20 + random.Random(1).randbytes(1001)
    there, back = tmp_path / "data.bin", tmp_path / "back.bin"
    there.write_bytes(content)
    copied = mpremote("fs", "cp", there, ":data.bin", "+", "fs", "cp", ":data.bin", back)
    assert back.read_bytes() == content, copied.text
    (tmp_path / "note.txt").write_text("пожилой мужчина\n")
    commands = "fs cp {} :note.txt + fs ls + fs cat :note.txt + fs rm :note.txt :data.bin + fs ls"
    listed = mpremote(*commands.format(tmp_path / "note.txt").split()).text
    assert f"{len(content):>12} data.bin\n" in listed
    assert "\nпожилой мужчина\n" in listed
    after = listed.rpartition("ls :\n")[2]
    assert "rom/" in after and "data.bin" not in after and "note.txt" not in after


def test_mount(mpremote, tmp_path):
    (tmp_path / "there.py").write_text("def answer():\n    return 'from the PC'\n")
    said = mpremote("mount", tmp_path, "exec", "import there; print(there.answer())")
    assert "from the PC\n" in said.text


def test_soft_reset(mpremote):
    said = mpremote(
        *("exec", "kept = 1; print('kept' in globals())"),
        *("soft-reset", "exec", "print('kept' in globals())"),
    )
    assert said.text.split() == ["True", "False"]


def test_reset_keeps_files_and_clears_memory(own_board):
    mpremote = mpremote_on(own_board)
    mpremote("exec", "open('/kept', 'w').write('yes'); kept = 1; import time; time.sleep(2)")
    start = time.monotonic()
    mpremote("reset")
    time.sleep(0.5)  # the board waits 100 ms first, which a next command would interrupt
    kept, ms = mpremote(
        "exec", "import time; print(open('/kept').read(), time.ticks_ms())"
    ).text.split()
    assert kept == "yes"
    assert int(ms) < 1000 * (time.monotonic() - start) + 500  # without the reset 2,000 more
    assert mpremote("resume", "exec", "print('kept' in globals())").text == "False\n"


def test_files_outlive_the_emulator(own_board):
    mpremote_on(own_board)("exec", "with open('/kept', 'w') as file: file.write('yes')")
    own_board.stop()
    own_board.start()
    assert mpremote_on(own_board)("exec", "print(open('/kept').read())").text == "yes\n"


def test_a_new_rom_leaves_the_files_alone(own_board):
    mpremote_on(own_board)("exec", "with open('/kept', 'w') as file: file.write('yes')")
    own_board.stop()
    write_flash(own_board.flash, {"new.txt": b"new"})
    own_board.start()
    code = "print(open('/kept').read(), open('/rom/new.txt').read())"
    assert mpremote_on(own_board)("exec", code).text == "yes new\n"


def test_romfs_query(mpremote, repo):
    said = mpremote("romfs", "query").text
    assert "ROMFS0 partition has size 12582912 bytes (3072 blocks of 4096 bytes each)" in said
    size = int(re.search(r"ROMFS image size: (\d+)", said)[1])
    assert 0 < size - (repo / "models" / "faces.tti").stat().st_size < 64


def test_romfs_deploy(own_board, tmp_path):
    folder = tmp_path / "rom"
    folder.mkdir()
    (folder / "hello.py").write_text("print('from flash')\n")
    said = mpremote_on(own_board)(
        *("romfs", "--no-mpy", "deploy", folder), *("soft-reset", "exec", "import hello")
    )
    assert said.text.endswith("from flash\n")


def test_ctrl_c_stops_a_loop(board):
    with Terminal(board.port) as terminal:
        terminal.prompt()
        terminal.type(b"while True: pass\r\r")
        terminal.read_until(b"... ")
        time.sleep(0.3)
        terminal.type(b"\x03")
        terminal.read_until(b"KeyboardInterrupt: \r\n>>> ")
        terminal.type(b"6 * 7\r")
        terminal.read_until(b"42\r\n")


def test_ctrl_c_ends_a_sleep_and_what_was_typed_before_is_dropped(board):
    with Terminal(board.port) as terminal:
        terminal.prompt()
        terminal.type(b"import time; time.sleep(100)\r")
        terminal.read_until(b"\r\n")
        time.sleep(0.3)
        terminal.type(b"print('typed' + 'ahead')\r\x03")
        seen = terminal.read_until(b"KeyboardInterrupt: \r\n>>> ")
        terminal.type(b"6 * 7\r")
        seen += terminal.read_until(b"42\r\n")
        assert b"typedahead" not in seen


def test_paste_mode_takes_what_is_sent_at_once(board):
    lines = b"".join(b"x%d = %d\r" % (n, n) for n in range(400))
    with Terminal(board.port) as terminal:
        terminal.prompt()
        terminal.type(b"\x05")
        terminal.read_until(b"=== ")
        terminal.type(lines + b"print('sum', x1 + x399)\r\x04")
        terminal.read_until(b"\r\nsum 400\r\n")


def test_nothing_is_lost_that_comes_while_the_board_is_busy(board):
    with Terminal(board.port) as terminal:
        terminal.prompt()
        terminal.type(b"x = 0; import time; time.sleep(1)\r")
        terminal.read_until(b"\r\n")
        terminal.type(b"x += 1\r" * 400)  # far more than the board's buffer
        terminal.type(b"print('x is', x)\r")
        terminal.read_until(b"x is 400\r\n", 60)
