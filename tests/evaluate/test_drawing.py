"""Many pictures: only missing ones are drawn, in any number of processes, and Ctrl-C is safe."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fake_firmware import picture
from ttikit.errors import TtiError
from ttikit.evaluate.cache import PictureCache
from ttikit.evaluate.drawing import Artist
from ttikit.evaluate.settings import FULL, grid
from ttikit.evaluate.settings import Setting as S

JOBS = grid(FULL, ["девушка", "дед", "мужчина в очках"], 4)


@pytest.fixture
def artist(fake_firmware, tmp_path):
    """A function that opens an artist with a number of processes over one cache."""
    opened = []

    def make(jobs=1):
        for old in opened:
            old.close()
        cache = PictureCache(tmp_path / "cache")
        opened.extend([Artist(fake_firmware, fake_firmware, cache, jobs), cache])
        return opened[-2]

    yield make
    for one in opened:
        one.close()


def expected(jobs):
    raw = [picture(job.prompt, job.seed, job.steps, job.guidance) for job in jobs]
    return np.frombuffer(b"".join(raw), np.uint8).reshape(-1, 64, 64, 3)


@pytest.mark.parametrize("processes", [1, 3])
def test_pictures_come_in_the_order_of_the_jobs(artist, starts, processes):
    one = artist(processes)
    jobs = [*JOBS[5:], *JOBS]  # some twice
    assert np.array_equal(one.pictures(jobs, "test"), expected(jobs))
    assert one.drawn == len(JOBS)
    assert len(starts()) == processes


def test_the_second_run_draws_only_what_is_missing(artist, starts):
    artist().pictures(JOBS[:7], "test")
    again = artist()
    assert np.array_equal(again.pictures(JOBS, "test"), expected(JOBS))
    assert again.drawn == len(JOBS) - 7


def test_other_firmware_gets_none_of_the_old_pictures(artist, monkeypatch):
    artist().pictures(JOBS, "test")
    artist().pictures(grid(S(4), ["дед"], 2), "test")
    monkeypatch.setenv("FAKE_SALT", "other arithmetic")
    other = artist()
    assert np.array_equal(other.pictures(JOBS, "test"), expected(JOBS))
    assert other.drawn == len(JOBS)


def test_a_record_that_rots_is_drawn_again(artist, tmp_path):
    one = artist()
    one.pictures(JOBS, "test")
    (path,) = (tmp_path / "cache").glob("*.pictures")
    content = bytearray(path.read_bytes())
    content[30_000] ^= 1
    path.write_bytes(content)
    assert np.array_equal(one.pictures(JOBS, "test"), expected(JOBS))


def test_processes_end_when_one_job_fails(artist, starts, monkeypatch):
    monkeypatch.setenv("FAKE_DEAD", "1")
    with pytest.raises(TtiError, match="draws nothing"):
        artist(2).pictures(JOBS, "test")
    assert not any(_alive(pid) for pid in starts())


def test_an_interrupt_keeps_what_is_done_and_ends_the_processes(artist, starts, monkeypatch):
    one = artist(2)
    put = one.cache.put

    def interrupted(job, data):
        if one.drawn == 5:
            raise KeyboardInterrupt
        put(job, data)

    monkeypatch.setattr(one.cache, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        one.pictures(JOBS, "test")
    assert not any(_alive(pid) for pid in starts())
    again = artist()
    assert np.array_equal(again.pictures(JOBS, "test"), expected(JOBS))
    assert again.drawn == len(JOBS) - 5


PROGRAM = """
import signal, sys
from pathlib import Path
from ttikit.evaluate.cache import PictureCache
from ttikit.evaluate.drawing import Artist
from ttikit.evaluate.settings import FULL, grid
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
firmware = Path(sys.argv[1])
with PictureCache(Path(sys.argv[2])) as cache, Artist(firmware, firmware, cache, 2) as artist:
    artist.pictures(grid(FULL, ["дед"], 100), "test")
"""


def test_ctrl_c_in_a_terminal(fake_firmware, tmp_path, starts, monkeypatch):
    monkeypatch.setenv("FAKE_SLOW", "0.1")
    folder = tmp_path / "cache"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(fake_firmware), str(folder)],
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    _wait(lambda: any(path.stat().st_size > 50_000 for path in folder.glob("*.pictures")))
    os.killpg(process.pid, signal.SIGINT)  # what a terminal sends to everything in it
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0 and b"KeyboardInterrupt" in errors
    assert not any(_alive(pid) for pid in starts())
    with PictureCache(folder) as cache:
        kept = [job for job in grid(FULL, ["дед"], 100) if job in cache]
    assert 4 <= len(kept) < 100


def _wait(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it did not happen within 30 seconds"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
