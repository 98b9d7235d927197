"""The fetched sources are the pinned ones or nothing, whenever the fetch is cut short."""

import hashlib
import os
import re
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

NAME = "micropython_1.25.0+ds.orig.tar.xz"
POOL = Path("pool/main/m/micropython")

pytestmark = pytest.mark.skipif(
    not Path("/usr/lib/apt/apt-helper").exists(), reason="the sources are fetched by apt"
)


@pytest.fixture
def archive(tmp_path):
    """A folder laid out like a Debian archive, with some other file under the right name."""
    folder = tmp_path / "archive"
    (folder / POOL).mkdir(parents=True)
    (folder / POOL / NAME).write_bytes(b"not what was asked for")
    return folder


def fetch(repo, tmp_path, archive):
    return subprocess.run(
        [
            str(repo / "board_configs" / "fetch"),
            *("--archive", f"file://{archive}"),
            *("micropython", str(tmp_path / "tree")),
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def own_fetch(repo, tmp_path, pins, helper="/usr/lib/apt/apt-helper"):
    """The script with another list of pins: (name, SHA-256, path in the archive, folder)."""
    script = tmp_path / "own" / "fetch"
    script.parent.mkdir()
    original = (repo / "board_configs" / "fetch").read_text()
    script.write_text(original.replace("/usr/lib/apt/apt-helper", str(helper)))
    script.chmod(0o755)
    lines = [f"{name} {digest} 0.1 {path} {inside}" for name, digest, path, inside in pins]
    script.with_name("sources").write_text("# name, SHA-256 ...\n" + "\n".join(lines) + "\n")
    return script


def run_own(script, tmp_path, archive, *arguments):
    return subprocess.run(
        [script, "--archive", f"file://{archive}", *arguments],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=True,
        timeout=60,
    )


@pytest.fixture
def tarball(tmp_path, archive):
    """A small tarball with one top folder, in the archive under MicroPython's name."""
    source = tmp_path / "micropython-1.25.0"
    (source / "py").mkdir(parents=True)
    (source / "py" / "mpconfig.h").write_text("// here\n")
    path = archive / POOL / NAME
    subprocess.run(["tar", "-C", tmp_path, "-cJf", path, source.name], check=True)
    return path


def leftovers(tmp_path):
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_wrong_checksum_is_refused_and_not_kept(repo, tmp_path, archive):
    done = fetch(repo, tmp_path, archive)
    assert done.returncode == 1
    assert "SHA-256" in done.stderr and "thrown away" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "tree").exists()
    assert leftovers(tmp_path) == []


def test_damaged_cache_is_not_used(repo, tmp_path, archive):
    kept = tmp_path / "cache" / "tti" / NAME
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"cut off")
    assert fetch(repo, tmp_path, archive).returncode == 1
    assert leftovers(tmp_path) == []


def test_archive_without_the_file_names_the_ways_out(repo, tmp_path, archive):
    (archive / POOL / NAME).unlink()
    done = fetch(repo, tmp_path, archive)
    assert done.returncode == 1
    assert "MPY_DIR=" in done.stderr and "TTI_DEBIAN_ARCHIVE=" in done.stderr


def test_good_file_is_unpacked_once(repo, tmp_path, archive, tarball):
    """With the pin set to a small tarball of ours, all works, the second time offline."""
    script = own_fetch(repo, tmp_path, [("micropython", sha256(tarball), POOL / NAME, "")])
    for tree in ("first", "second"):
        run_own(script, tmp_path, archive, "micropython", tmp_path / tree)
        assert (tmp_path / tree / "py" / "mpconfig.h").read_text() == "// here\n"
        tarball.unlink(missing_ok=True)
    assert [path.name for path in leftovers(tmp_path)] == [NAME]


def test_newer_version_is_taken_when_the_archive_has_moved_on(repo, tmp_path, archive, tarball):
    pins = [("it", "0" * 64, POOL / "gone.tar.xz", ""), ("it", sha256(tarball), POOL / NAME, "")]
    script = own_fetch(repo, tmp_path, pins)
    (tmp_path / "tree").mkdir()  # an empty submodule's folder is filled
    run_own(script, tmp_path, archive, "it", tmp_path / "tree")
    assert (tmp_path / "tree" / "py" / "mpconfig.h").exists()


def test_folder_inside_a_package_is_taken(repo, tmp_path, archive):
    package = tmp_path / "package"
    (package / "usr" / "src" / "tinyusb").mkdir(parents=True)
    (package / "usr" / "src" / "tinyusb" / "tusb.h").write_text("// usb\n")
    (package / "DEBIAN").mkdir()
    control = "Package: t\nVersion: 1\nArchitecture: all\nMaintainer: t\nDescription: t\n"
    (package / "DEBIAN" / "control").write_text(control)
    subprocess.run(["dpkg-deb", "--build", package, archive / POOL / "t.deb"], check=True)
    pins = [("tinyusb", sha256(archive / POOL / "t.deb"), POOL / "t.deb", "usr/src/tinyusb")]
    run_own(own_fetch(repo, tmp_path, pins), tmp_path, archive, "tinyusb", tmp_path / "tree")
    assert (tmp_path / "tree" / "tusb.h").read_text() == "// usb\n"


def test_every_source_is_pinned_and_named_by_its_version(repo):
    """The list has what the rules ask for, and every line is whole."""
    lines = (repo / "board_configs" / "sources").read_text().splitlines()
    pins = [line.split() for line in lines if not line.startswith("#")]
    for name, digest, megabytes, path, *inside in pins:
        assert re.fullmatch(r"[0-9a-f]{64}", digest) and float(megabytes) > 0, name
        assert path.startswith("pool/main/") and re.search(r"_\d", path), name
        assert len(inside) == path.endswith(".deb"), name
    rules = "".join(path.read_text() for path in sorted(repo.glob("board_configs/**/*.mk")))
    assert {pin[0] for pin in pins} == set(re.findall(r"board_configs/fetch ([\w-]+)", rules))


def test_interrupted_fetch_leaves_nothing_behind(repo, tmp_path, archive):
    """Ctrl-C while the archive is slow: a downloader that stops in the middle stands in."""
    helper = tmp_path / "bin" / "apt-helper"
    helper.parent.mkdir()
    helper.write_text('#!/bin/sh\necho part >"$4"\nexec sleep 60\n')
    helper.chmod(0o755)
    pins = [("micropython", "0" * 64, POOL / NAME, "")]
    script = own_fetch(repo, tmp_path, pins, helper)
    child = subprocess.Popen(
        [script, "--archive", f"file://{archive}", "micropython", tmp_path / "tree"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Background jobs of a shell ignore Ctrl-C, and so would what they start.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 20
    while not leftovers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert leftovers(tmp_path), "the download never started"
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "interrupted" in errors and "Traceback" not in errors
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "tree").exists()
