"""`tti -m tti PROMPT …`, the command line of the firmware, as a person meets it."""

import re
import signal
import subprocess

import pytest
from PIL import Image


@pytest.fixture
def draw(firmware, model, tmp_path):
    def run(*args, env=None, default_model=True):
        options = ["--model", str(model)] if default_model else []
        return subprocess.run(
            [str(firmware), "-m", "tti", *options, *args],
            capture_output=True,
            cwd=tmp_path,
            env={"TERM": "xterm", **(env or {})},
            timeout=60,
            check=False,
        )

    return run


def test_a_face_in_the_terminal_and_in_a_file(draw, tmp_path):
    done = draw("девушка со светлыми волосами", "--seed", "7", "--steps", "2", "--out", "face.png")
    text = done.stdout.decode()
    assert done.returncode == 0, text
    assert re.search(r"\r\[#{20}\] step 2 of 2 +\d+\.\d\d s\n", text)
    assert text.count("\u2580") == 64 * 32
    assert text.endswith("saved face.png (seed 7)\n")
    with Image.open(tmp_path / "face.png") as image:
        assert image.size == (64, 64)


def test_plain_text(draw):
    for args, env in ((["--ascii"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        done = draw("девушка", "--steps", "1", *args, env=env)
        assert done.returncode == 0
        assert b"\x1b" not in done.stdout


def test_the_seed_is_random_unless_given(draw):
    seeds = {
        re.search(rb"seed (\d+)", draw("девушка", "--steps", "1", "--out", "a.png").stdout)[1]
    }
    seeds |= {
        re.search(rb"seed (\d+)", draw("девушка", "--steps", "1", "--out", "a.png").stdout)[1]
    }
    assert len(seeds) == 2


def test_notes_are_printed(draw):
    done = draw("мyжчина и кот", "--steps", "1")
    text = done.stdout.decode()
    assert "note: ignored, not in the vocabulary: «и», «кот»\n" in text
    assert "note: Latin letters read as Cyrillic in «мyжчина»\n" in text


def test_a_prompt_may_look_like_anything(draw):
    for prompt in ("--девушка", "$HOME `id` \"'\\ девушка\nпожилой", "девушка " * 1250):
        done = draw("--steps", "1", "--", prompt)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "usage: -m tti PROMPT"),
        ([""], "the prompt has no letters; say whom to draw"),
        (["  \t"], "the prompt has no letters; say whom to draw"),
        ([b"\xff\xfe\xd0"], "the prompt is not valid UTF-8; set the terminal to UTF-8"),
        (["девушка", "--steps", "0"], "steps must be a whole number from 1 to 100, not 0"),
        (["девушка", "--steps", "-1"], "steps must be a whole number from 1 to 100, not -1"),
        (["девушка", "--steps", "1000"], "steps must be a whole number from 1 to 100, not 1000"),
        (["девушка", "--steps", "two"], "--steps must be a whole number, not 'two'"),
        (["девушка", "--steps"], "--steps needs a value"),
        (["девушка", "--guidance", "nan"], "guidance must be a number from 1 to 5"),
        (["девушка", "--seed", "4294967296"], "seed must be a whole number from 0 to 4294967295"),
        (["девушка", "--seed", "-1"], "seed must be a whole number from 0 to 4294967295"),
        (["девушка", "--size", "7"], "unexpected argument --size"),
        (["девушка", "мужчина"], "unexpected argument мужчина"),
        (
            ["девушка", "--steps", "1", "--out", "face.gif"],
            "saved as .png or .bmp, not as face.gif",
        ),
        (["девушка", "--steps", "1", "--out", "no/face.png"], "can't write no/face.png"),
        (["девушка", "--out", b"\xff.png"], "an argument is not valid UTF-8"),
        (["девушка", "--model", "none.tti"], "there is no model file none.tti; copy faces.tti"),
    ],
)
def test_bad_input_gets_one_sentence(draw, args, sentence):
    done = draw(*args)
    lines = done.stderr.decode(errors="replace").splitlines()
    assert done.returncode == 2
    assert lines[-1].startswith("tti: ")
    assert sentence in lines[-1]
    assert b"Traceback" not in done.stdout + done.stderr


def test_help(draw):
    for option in ("-h", "--help"):
        done = draw(option, default_model=False)
        assert done.returncode == 0
        assert done.stdout.startswith(b"usage: -m tti PROMPT")


def test_a_closed_pipe_ends_quietly(firmware, model):
    command = [str(firmware), "-m", "tti", "--model", str(model), "девушка", "--steps", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    assert errors.count(b"\n") == 1


def test_no_model_at_all(draw):
    done = draw("девушка", default_model=False)
    assert done.returncode == 2
    assert "no model found: give its path to tti.load() or --model" in done.stderr.decode()


@pytest.mark.parametrize("sight", ["step 1 of", "\u2580"], ids=["while drawing", "while showing"])
def test_ctrl_c(firmware, model, sight):
    args = [str(firmware), "-m", "tti", "--model", str(model), "девушка", "--steps", "20"]
    process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = b""
    while sight.encode() not in out:
        out += process.stdout.read1(100)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out += process.communicate(timeout=20)[0]
    assert process.returncode == 130
    assert out.endswith(b"\nstopped; nothing was saved\n")
    assert b"Traceback" not in out
