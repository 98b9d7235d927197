"""`ttikit board`: what people do with a board, on the emulated one."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image
from ttikit.board import EmulatedBoard, write_flash
from ttikit.board.deploy import Deployment
from ttikit.board.ports import chosen
from ttikit.board.session import Session, SessionError

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "pictures.json").read_text("utf-8"))
ROW = next(row for row in ROWS if row["steps"] == 1)
RECIPE = ["--seed", str(ROW["seed"]), "--steps", "1", "--guidance", str(ROW["guidance"])]


def start(*args, env=None, stdin=None):
    return subprocess.Popen(
        [sys.executable, "-m", "ttikit", "board", *map(str, args)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )


def ttikit(*args, env=None, given=b""):
    process = start(*args, env=env, stdin=subprocess.PIPE)
    out, err = process.communicate(given, timeout=120)
    return process.returncode, out, err.decode(errors="replace")


def test_a_picture_comes_back_as_it_was_drawn(board, tmp_path):
    out = tmp_path / "face.png"
    args = ["-p", board.port, "-o", out, "--json"]
    status, stdout, stderr = ttikit("generate", ROW["prompt"], *RECIPE, *args)
    assert status == 0, stderr
    said = json.loads(stdout)
    assert (said["sha256"], said["seed"], said["model"]) == (
        ROW["sha256"],
        ROW["seed"],
        board.port,
    )
    pixels = Image.open(out).convert("RGB").tobytes()
    assert hashlib.sha256(pixels).hexdigest() == ROW["sha256"]


def test_prompts_from_a_terminal_of_another_alphabet(board, tmp_path):
    """cp1252 has no Cyrillic; what comes through stdin has a mark and an empty line."""
    given = f"\ufeff{ROW['prompt']}\r\n\r\nкот и девушка\r\n".encode()
    out = tmp_path / "face.bmp"
    status, stdout, stderr = ttikit(
        *("generate", "-f", "-", *RECIPE, "-p", board.port, "-o", out),
        env={"PYTHONIOENCODING": "cp1252"},
        given=given,
    )
    assert status == 0, stderr
    assert "\\u043a\\u043e\\u0442" in stderr  # the word that the model does not know
    first, second = (Image.open(tmp_path / f"face-{n}.bmp").convert("RGB") for n in (1, 2))
    assert hashlib.sha256(first.tobytes()).hexdigest() == ROW["sha256"]
    assert second.tobytes() != first.tobytes()
    said = stdout.decode("cp1252")
    assert said.count("sha256 ") == 2
    assert "\\u043a\\u043e\\u0442 \\u0438" in said  # which prompt a picture belongs to


def test_two_boards_at_once(board, board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    write_flash(flash, {"faces.tti": (repo / "models" / "faces.tti").read_bytes()})
    with EmulatedBoard(board_firmware, flash) as other:
        ports = ["-p", board.port, "-p", other.port]
        args = [*RECIPE, *ports, "-o", tmp_path / "face.png", "--json"]
        status, stdout, stderr = ttikit("generate", ROW["prompt"], *args)
    assert status == 0, stderr
    said = [json.loads(line) for line in stdout.splitlines()]
    assert [picture["model"] for picture in said] == [board.port, other.port]
    assert [picture["sha256"] for picture in said] == [ROW["sha256"]] * 2
    assert len(list(tmp_path.glob("face-*.png"))) == 2


def test_one_of_two_boards_is_not_there(board):
    args = [*RECIPE, "-p", board.port, "-p", "/dev/none", "--json"]
    status, stdout, stderr = ttikit("generate", ROW["prompt"], *args)
    assert status == 2
    assert json.loads(stdout)["sha256"] == ROW["sha256"]  # the other one is not lost
    assert stderr.startswith("ttikit: /dev/none: there is no such port, or another program uses")


def test_info_selftest_and_bench(board):
    status, stdout, stderr = ttikit("info", "-p", board.port, "--json")
    assert status == 0, stderr
    said = json.loads(stdout)
    assert said["model"].startswith("tti faces, ") and said["model"].endswith(", in place")
    assert "Cortex-M33" in said["machine"] and re.fullmatch(
        r"\d{3},\d{3} bytes free of \d{3},\d{3}", said["memory"]
    )
    status, stdout, stderr = ttikit("selftest", "-p", board.port)
    assert status == 0, stderr
    assert "each equal to the record" in stdout.decode()
    status, stdout, stderr = ttikit("bench", "-p", board.port)
    assert status == 0, stderr
    assert "conv3x3_s8" in stdout.decode() and "s for 8 steps" in stdout.decode()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--steps", "0"], "steps must be a whole number from 1 to 100, not 0"),
        (["--guidance", "9"], "guidance must be a number from 1 to 5"),
        (["--seed", "-1"], "seed must be a whole number from 0"),
        (["-o", "face.jpg"], "a picture is saved as .png or .bmp"),
        (["-f", "/nowhere.txt"], "/nowhere.txt cannot be read"),
        (["--guidance", "nan"], "guidance must be a number from 1 to 5"),
        (["\udcff"], "a prompt is not valid UTF-8"),
    ],
)
def test_bad_arguments_are_one_sentence(board, args, sentence):
    status, _, stderr = ttikit("generate", "девушка", "-p", board.port, *args)
    assert (status, len(stderr.splitlines())) == (2, 1)
    assert sentence in stderr


def test_a_port_named_twice_is_one_board(board, tmp_path):
    link = tmp_path / "my-board"
    link.symlink_to(board.port)
    args = [*RECIPE, "-p", board.port, "-p", link, "--json"]
    status, stdout, stderr = ttikit("generate", ROW["prompt"], *args)
    assert status == 0, stderr
    assert [json.loads(line)["model"] for line in stdout.splitlines()] == [board.port]


def test_ports_keep_their_order(tmp_path):
    names = [str(tmp_path / name) for name in "bac"]
    link = tmp_path / "link"
    link.symlink_to(names[0])
    assert chosen([*names, str(link), names[1]]) == names


@pytest.mark.parametrize("command", ["repl", "bench"])
def test_one_board_at_a_time(command):
    status, _, stderr = ttikit(command, "-p", "/dev/one", "-p", "/dev/two")
    assert (status, len(stderr.splitlines())) == (2, 1)
    assert "one board at a time" in stderr


def test_a_picture_that_cannot_be_saved_is_one_sentence(board, tmp_path):
    out = tmp_path / "face.png"
    out.mkdir()
    args = [*RECIPE, "-p", board.port, "-o", out]
    status, _, stderr = ttikit("generate", ROW["prompt"], *args)
    assert (status, len(stderr.splitlines())) == (2, 1)
    assert f"can't write {out}" in stderr and f"the seed {ROW['seed']}" in stderr


def test_json_is_json_in_any_alphabet(board):
    prompt = f"{ROW['prompt']} «é» \U0001f600"
    args = [*RECIPE, "-p", board.port, "--json"]
    status, stdout, stderr = ttikit("generate", prompt, *args, env={"PYTHONIOENCODING": "cp1251"})
    assert status == 0, stderr
    assert json.loads(stdout.decode("cp1251"))["prompt"] == prompt


def test_what_the_boards_own_program_prints_meanwhile_does_no_harm(board):
    noisy = (
        "import builtins\n_print = print\n"
        "def noise(*args):\n    _print('tick')\n    _print(*args)\n    _print('tock')\n"
        "builtins.print = noise"
    )
    with Session(board.port) as session:
        session.run(noisy)
    try:
        status, stdout, stderr = ttikit("info", "-p", board.port, "--json")
        assert status == 0, stderr
        assert json.loads(stdout)["port"] == board.port
    finally:
        with Session(board.port, soft_reset=True) as session:
            assert session.run("print(1)") == ["1"]


def test_a_prompt_without_a_terminal_is_refused(board):
    status, _, stderr = ttikit("repl", "-p", board.port)
    assert status == 2 and "needs a terminal" in stderr


def test_no_board_and_no_prompt(board):
    status, _, stderr = ttikit("generate", "-p", board.port)
    assert status == 2 and "give a prompt" in stderr
    status, stdout, stderr = ttikit("list")
    assert status == 0 and not stdout and "no board is connected" in stderr
    status, _, stderr = ttikit("info")
    assert status == 2 and "plug one in, or name its port with --port" in stderr


def wait_for_work(board, process):
    """Until the board is drawing: the command has started the conversation some time ago."""
    time.sleep(3)
    assert process.poll() is None
    board.check()


def test_ctrl_c_stops_the_board_as_well(board, tmp_path):
    out = tmp_path / "face.png"
    process = start("generate", "девушка", "--steps", 100, "-p", board.port, "-o", out)
    wait_for_work(board, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert not out.exists()
    start_again = time.monotonic()
    status, stdout, stderr = ttikit("generate", ROW["prompt"], *RECIPE, "-p", board.port)
    assert status == 0, stderr
    assert ROW["sha256"] in stdout.decode()
    assert time.monotonic() - start_again < 60  # the hundred steps are not being drawn any more


def test_a_board_that_is_unplugged_while_it_draws(board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    write_flash(flash, {"faces.tti": (repo / "models" / "faces.tti").read_bytes()})
    out = tmp_path / "face.png"
    with EmulatedBoard(board_firmware, flash) as own:
        port = own.port
        process = start("generate", "девушка", "--steps", 100, "-p", port, "-o", out)
        wait_for_work(own, process)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2, stderr
    assert stderr.decode().startswith(f"ttikit: {port}: the board is gone")
    assert not out.exists()


@pytest.fixture
def tiny(repo):
    """A small model file."""
    return (repo / "tests" / "golden" / "tiny.tti").read_bytes()


@pytest.mark.parametrize(("to", "path"), [("rom", "/rom/faces.tti"), ("file", "/faces.tti")])
def test_a_model_arrives_whole(own_board, tiny, to, path):
    seen = []
    with Session(own_board.port, soft_reset=True) as session:
        done = Deployment(session, to).write(tiny, lambda n, total: seen.append((n, total)))
    assert done.store == to and seen[-1] == (done.written, done.written)
    with Session(own_board.port, soft_reset=True) as session:
        read = f"import binascii\nprint(binascii.hexlify(open({path!r}, 'rb').read()).decode())"
        assert bytes.fromhex(session.run(read)[-1]) == tiny
        again = Deployment(session, to).write(tiny)
        assert again.written == (0 if to == "rom" else done.written)


def test_only_what_differs_is_written(board_firmware, repo, tmp_path):
    model = (repo / "models" / "faces.tti").read_bytes()
    flash = tmp_path / "flash.img"
    write_flash(flash, {"faces.tti": model})
    with flash.open("r+b") as file:
        file.seek(2_000_000)
        file.write(b"\0" * 8)
    with EmulatedBoard(board_firmware, flash) as own:
        status, stdout, stderr = ttikit("selftest", "-p", own.port)
        assert status == 2 and "copy it again" in stdout.decode()
        status, stdout, stderr = ttikit("deploy", "-p", own.port)
        assert status == 0, stderr
        assert "in rom, 3,367,1" in stdout.decode() and "2 blocks written" in stdout.decode()
        status, stdout, stderr = ttikit("deploy", "-p", own.port)
        assert status == 0 and "already there" in stdout.decode()
        status, stdout, stderr = ttikit("selftest", "-p", own.port)
        assert status == 0, stdout.decode()


def test_a_model_that_does_not_fit_the_firmware_is_not_written(board, repo):
    args = [repo / "tests" / "golden" / "tiny.tti", "-p", board.port]
    status, _, stderr = ttikit("deploy", *args)
    assert status == 2
    assert "the firmware draws with models of the format 'tti text-to-image" in stderr
    status, stdout, stderr = ttikit("generate", ROW["prompt"], *RECIPE, "-p", board.port)
    assert status == 0 and ROW["sha256"] in stdout.decode()


def test_a_model_that_is_too_large_is_refused_before_anything_is_written(own_board):
    with Session(own_board.port, soft_reset=True) as session:
        with pytest.raises(SessionError, match="needs 5,000,000 bytes and the board's free"):
            Deployment(session, "file").write(bytes(5_000_000))
        assert session.run("import os\nprint(os.listdir('/'))")[-1].find("faces") < 0


def test_a_file_that_the_rom_would_hide_is_refused(board):
    status, _, stderr = ttikit("deploy", "--to", "file", "-p", board.port)
    assert status == 2 and "/rom/faces.tti would be used before the file" in stderr


FILL = """
import os
info = os.statvfs('/')
with open('/fill', 'wb') as file:
    for _ in range(info[3] - LEFT):
        file.write(bytes(4096))
"""


@pytest.mark.long
def test_files_that_are_nearly_full(own_board):
    """What fits by the count of free blocks fits, and what fails gives its room back."""
    with Session(own_board.port, soft_reset=True) as session:
        session.run(FILL.replace("LEFT", "20"))
        deployment = Deployment(session, "file")
        assert deployment.size % 4096 == 0 and deployment.size > 8 * 4096
        content = bytes(range(256)) * (deployment.size // 256)
        assert deployment.write(content).written == deployment.size // 4096
        session.run("os.remove('/faces.tti')")
        again = Deployment(session, "file")
        free = session.run("print(os.statvfs('/')[3])")
        again.size *= 10
        with pytest.raises(SessionError, match=r"ENOSPC|28"):
            again.write(content * 2)
        assert session.run("print(os.statvfs('/')[3])") == free
        assert "faces" not in session.run("print(os.listdir('/'))")[-1]


def test_a_board_that_is_unplugged_while_a_model_is_written(board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    write_flash(flash, {})
    with EmulatedBoard(board_firmware, flash) as own:
        port = own.port
        process = start("deploy", "-p", port)
        wait_for_work(own, process)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 2
    assert stderr.decode().startswith(f"ttikit: {port}: the board is gone")
    with EmulatedBoard(board_firmware, flash) as own:
        status, _, stderr = ttikit("generate", "девушка", "-p", own.port)
    assert status == 2 and "no model found" in stderr
