"""The console script: one line for what a person can mend, and nothing heavy imported early."""

import subprocess
import sys
from types import ModuleType

import pytest
from ttikit import __version__, cli
from ttikit.errors import TtiError


def run(*arguments, setup="pass"):
    """Run `ttikit ARGUMENTS` in a fresh interpreter, after the statements in `setup`."""
    program = f"import sys\n{setup}\nfrom ttikit.cli import main\nsys.argv[0] = 'ttikit'\nmain()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_version():
    done = run("--version")
    assert (done.stdout, done.returncode) == (f"ttikit {__version__}\n", 0)


def test_help_lists_every_subcommand_without_importing_heavy_packages():
    report = "import atexit; atexit.register(lambda: print('HEAVY', *HEAVY & set(sys.modules)))"
    done = run("--help", setup=f"HEAVY = {{'torch', 'numba', 'scipy', 'numpy'}}\n{report}")
    assert done.returncode == 0
    for name in cli.SUBCOMMANDS:
        assert f" {name} " in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "HEAVY"


def test_every_subcommand_can_be_loaded():
    for name in cli.SUBCOMMANDS:
        assert callable(cli.load(name).main), name


def test_unknown_subcommand_is_named():
    done = run("paint")
    assert done.returncode == 2
    assert "paint" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def boom(monkeypatch):
    """Return a function that makes `ttikit boom` raise an error, and runs it."""

    def run_raising(error):
        def command():
            raise error

        module = ModuleType("ttikit_boom")
        module.command = command
        monkeypatch.setitem(sys.modules, "ttikit_boom", module)
        place = cli.Subcommand("ttikit_boom", "command", "")
        monkeypatch.setitem(cli.SUBCOMMANDS, "boom", place)
        monkeypatch.setattr(sys, "argv", ["ttikit", "boom"])
        cli.main()

    return run_raising


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (TtiError("the file is damaged; copy it again"), "the file is damaged; copy it again", 2),
        (KeyboardInterrupt(), "interrupted", 130),
        (
            PermissionError(13, "Permission denied", "x/y"),
            "x/y cannot be used (Permission denied)",
            2,
        ),
        (ModuleNotFoundError("No module", name="torch.nn"), "pip install 'ttikit[train]'", 2),
        (ModuleNotFoundError("No module", name="numba"), "pip install 'ttikit[data]'", 2),
    ],
)
def test_mendable_errors_are_one_line(boom, capsys, error, line, status):
    with pytest.raises(SystemExit) as end:
        boom(error)
    assert end.value.code == status
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and printed.startswith("ttikit: ") and line in printed


def test_mistakes_of_ours_keep_their_traceback(boom):
    with pytest.raises(ModuleNotFoundError):
        boom(ModuleNotFoundError("No module named 'ttikit.typo'", name="ttikit.typo"))
    with pytest.raises(OSError, match="no file in sight"):
        boom(OSError("no file in sight"))
