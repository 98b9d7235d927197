"""The fetched sources are the pinned ones or nothing, whenever the fetch is cut short."""

import os
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
            str(repo / "board_configs" / "fetch_micropython"),
            *("--archive", f"file://{archive}"),
            str(tmp_path / "tree"),
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


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


def test_good_file_is_unpacked_once(repo, tmp_path, archive):
    """With the pin set to a small tarball of ours, all works, the second time offline."""
    source = tmp_path / "micropython-1.25.0"
    (source / "py").mkdir(parents=True)
    (source / "py" / "mpconfig.h").write_text("// here\n")
    tarball = archive / POOL / NAME
    subprocess.run(["tar", "-C", tmp_path, "-cJf", tarball, source.name], check=True)
    digest = subprocess.run(["sha256sum", tarball], check=True, capture_output=True, text=True)
    script = tmp_path / "fetch"
    original = (repo / "board_configs" / "fetch_micropython").read_text()
    pinned = original.split('SHA256 = "')[1].split('"')[0]
    script.write_text(original.replace(pinned, digest.stdout.split()[0]))
    script.chmod(0o755)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for tree in ("first", "second"):
        command = [script, "--archive", f"file://{archive}", tmp_path / tree]
        subprocess.run(command, env=environment, check=True, timeout=60)
        assert (tmp_path / tree / "py" / "mpconfig.h").read_text() == "// here\n"
        tarball.unlink(missing_ok=True)
    assert [path.name for path in leftovers(tmp_path)] == [NAME]


def test_interrupted_fetch_leaves_nothing_behind(repo, tmp_path, archive):
    """Ctrl-C while the archive is slow: a downloader that stops in the middle stands in."""
    helper = tmp_path / "bin" / "apt-helper"
    helper.parent.mkdir()
    helper.write_text('#!/bin/sh\necho part >"$4"\nexec sleep 60\n')
    helper.chmod(0o755)
    script = tmp_path / "fetch"
    original = (repo / "board_configs" / "fetch_micropython").read_text()
    script.write_text(original.replace("/usr/lib/apt/apt-helper", str(helper)))
    script.chmod(0o755)
    child = subprocess.Popen(
        [script, "--archive", f"file://{archive}", tmp_path / "tree"],
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
