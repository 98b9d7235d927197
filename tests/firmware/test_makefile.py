"""`make run` hands the prompt over untouched; wrong settings get one sentence."""

import json
import os
import subprocess

import pytest

# Stands in for the firmware: prints its arguments so that nothing can hide in them.
FAKE = """#!{python}
import json, sys
print("ARGV " + json.dumps(sys.argv[1:]))
"""

PROMPTS = [
    "улыбающаяся девушка со светлыми волосами",
    "a \"quoted\" 'prompt' with `ticks`",
    "$HOME $(shell touch made-by-make) $$ ${PATH} $(touch made-by-sh)",
    "two\nlines and a tab\t.",
    "back\\slash \\n #hash ; & | > file %s !",
    "--help",
    "-",
    "",
    "  blanks kept  ",
]


@pytest.fixture
def fake_firmware(tmp_path):
    import sys

    path = tmp_path / "fake-firmware"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return path


def make(repo, *arguments, env=None):
    clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKEOVERRIDES")}
    return subprocess.run(
        ["make", "-C", str(repo), "--no-print-directory", *arguments],
        env={**clean, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def arguments_of(done):
    lines = [line for line in done.stdout.splitlines() if line.startswith("ARGV ")]
    assert len(lines) == 1, done.stdout + done.stderr
    return json.loads(lines[0][5:])


def run_only(fake, *more):
    """Arguments for make that run the fake without building the real firmware first."""
    return ["run", f"FIRMWARE={fake}", "--assume-old=firmware", *more]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("way", ["command line", "environment"])
def test_prompt_arrives_intact(repo, fake_firmware, prompt, way):
    if way == "command line":
        done = make(repo, *run_only(fake_firmware, f"PROMPT={prompt}"))
    else:
        done = make(repo, *run_only(fake_firmware), env={"PROMPT": prompt})
    arguments = arguments_of(done)
    # GNU make itself drops blanks after the = of a command-line variable.
    expected = prompt.lstrip(" ") if way == "command line" else prompt
    assert arguments[:2] == ["-m", "tti"]
    assert arguments[-2:] == ["--", expected]
    assert not (repo / "made-by-make").exists() and not (repo / "made-by-sh").exists()


def test_options_are_passed_only_when_given(repo, fake_firmware):
    # The output goes into a pipe here, hence --ascii.
    plain = arguments_of(make(repo, *run_only(fake_firmware)))
    assert plain[2:-2] == ["--model", "models/faces.tti", "--ascii"]
    given = ["SEED=7", "STEPS=8", "GUIDANCE=3", "OUT=my face.png", "MODEL=a b.tti"]
    arguments = arguments_of(make(repo, *run_only(fake_firmware, *given)))
    expected = "--model|a b.tti|--seed|7|--steps|8|--guidance|3|--out|my face.png|--ascii"
    assert arguments[2:-2] == expected.split("|")


def test_colour_goes_to_a_terminal(repo, fake_firmware):
    master, terminal = os.openpty()
    subprocess.run(
        ["make", "--no-print-directory", *run_only(fake_firmware), "PROMPT=девушка"],
        cwd=repo,
        stdout=terminal,
        check=True,
        timeout=60,
    )
    os.close(terminal)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert 'ARGV ["-m", "tti"' in shown
    assert "--ascii" not in shown


def test_help_lists_every_target(repo):
    text = make(repo, "help").stdout
    for target in ("run", "test", "firmware", "lint", "format", "clean"):
        assert f"\n  {target} " in text


@pytest.mark.parametrize("target", ["run", "repl"])
def test_only_the_pc_runs_its_firmware(repo, target):
    done = make(repo, target, "BOARD=QEMU_M33", "--assume-old=firmware")
    assert done.returncode == 2
    assert "This runs on the PC only: leave BOARD out" in done.stderr


def test_unknown_board_is_named(repo):
    done = make(repo, "firmware", "BOARD=TOASTER")
    assert done.returncode == 2
    assert "BOARD=TOASTER is not known" in done.stderr and "UNIX" in done.stderr


@pytest.mark.parametrize(
    ("target", "setting", "said"),
    [
        ("board", "BOARD=ESP32_S3_N16R8", "is not emulated: take QEMU_M33 or QEMU_LX7."),
        ("kernels", "CHIP=esp32", "is not known; there is m33 and lx7."),
    ],
)
def test_what_no_emulator_does_is_told(repo, target, setting, said):
    done = make(repo, target, setting)
    assert done.returncode == 2
    assert f"{setting} {said}" in done.stderr and not done.stdout


def test_pico2_w_is_explained(repo):
    done = make(repo, "firmware", "BOARD=PICO2_W")
    assert done.returncode == 2
    assert "takes the firmware of BOARD=PICO2" in done.stderr and "cyw43-driver" in done.stderr


def test_own_checkout_without_submodules_is_explained(repo, tmp_path):
    (tmp_path / "py").mkdir()
    names = (("MAJOR", 1), ("MINOR", 26), ("MICRO", 1))
    text = "".join(f"#define MICROPY_VERSION_{name} {value}\n" for name, value in names)
    (tmp_path / "py" / "mpconfig.h").write_text(text)
    places = [f"MPY_DIR={tmp_path}", f"BUILD={tmp_path / 'build'}"]
    done = make(repo, "firmware", "BOARD=PICO2", *places)
    assert done.returncode == 2
    assert "lib/tinyusb/src is missing" in done.stderr and "submodules" in done.stderr


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (None, "is no MicroPython tree"),
        ((1, 24, 1), "is MicroPython 1.24.1; check out a version from 1.25 to 1.29"),
        ((1, 30, 0), "is MicroPython 1.30.0; check out a version from 1.25 to 1.29"),
    ],
)
def test_unfit_checkout_is_refused(repo, tmp_path, header, sentence):
    if header:
        (tmp_path / "py").mkdir()
        names = ("MAJOR", "MINOR", "MICRO")
        lines = [f"#define MICROPY_VERSION_{n} {v}" for n, v in zip(names, header, strict=True)]
        (tmp_path / "py" / "mpconfig.h").write_text("\n".join(lines) + "\n")
    command = [str(repo / "board_configs" / "mpy_version"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr


@pytest.mark.parametrize("version", ["1.25.0", "1.26.1", "1.29.0"])
def test_supported_checkout_is_taken(repo, tmp_path, version):
    (tmp_path / "py").mkdir()
    names = ("MAJOR", "MINOR", "MICRO")
    parts = zip(names, version.split("."), strict=True)
    text = "".join(f"#define MICROPY_VERSION_{name} {value}\n" for name, value in parts)
    (tmp_path / "py" / "mpconfig.h").write_text(text)
    command = [str(repo / "board_configs" / "mpy_version"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version
