"""Two processes with gloo train what one process trains."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import ttikit  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import diffusion, loop, pairs, reflow, world  # noqa: E402
from ttikit.training.checkpoint import NAME, load_tensors  # noqa: E402
from ttikit.training.loop import Budget, Settings  # noqa: E402

from .conftest import SMALL, captions, small_cache  # noqa: E402

STEPS = 48
PATIENCE = 300  # seconds; a run takes about ten


@pytest.fixture
def two(tmp_path):
    """Starts two processes on the folder "two"; both are gone when the test ends."""
    out = tmp_path / "two"
    out.mkdir()
    running = []

    def start(event: str, at: int) -> subprocess.Popen:
        command = [
            sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
            "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0",
            "--local-addr", "127.0.0.1",
            str(Path(__file__).with_name("process.py")), str(out), str(8 * STEPS), event, str(at),
        ]  # fmt: skip
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(Path(ttikit.__file__).parents[1]),
        }
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process

    yield start, out
    for process in running:
        process.kill()
        process.wait()


def step(out: Path) -> int:
    return load_tensors(out / NAME)[1]["step"]


@pytest.mark.long
def test_two_processes_equal_one_and_survive_a_stop_and_a_death(two, tmp_path):
    start, out = two
    # 1. SIGTERM to torchrun: both stop after the same step and leave a checkpoint.
    process = start("tell", 22)
    deadline = time.monotonic() + PATIENCE
    while not (out / "there").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    stopped = step(out)
    assert 21 < stopped < STEPS
    # 2. They go on from there; one dies, the other one says so instead of waiting for it.
    process = start("die", 5)
    problem = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode != 0
    assert "another process of this run has ended" in problem
    assert step(out) in (stopped + 3, stopped + 4)
    # 3. One process ends the run: the result is that of one process from the beginning.
    whole = tmp_path / "whole"
    for folder in (out, whole):
        settings = Settings(folder, 8, Budget(samples=8 * STEPS))
        diffusion.train_diffusion(small_cache(), captions, settings, rate=4e-2, config=SMALL)
    one, other = load_tensors(whole / NAME)[0], load_tensors(out / NAME)[0]
    assert one.keys() == other.keys()
    for name in one:
        # A bias of the keys moves all scores alike: its gradient is noise, made big by Adam.
        atol = 1e-3 if name.endswith("k.bias") else 1e-5
        torch.testing.assert_close(other[name], one[name], atol=atol, rtol=1e-4, msg=name)


def test_two_processes_reflow_like_one(two, tmp_path):
    start, out = two
    teacher = Settings(tmp_path / "teacher", 8, Budget(samples=8 * 40))
    diffusion.train_diffusion(small_cache(), captions, teacher, rate=4e-2, config=SMALL)
    teacher_file, drawn = tmp_path / "teacher" / diffusion.EXPORT, tmp_path / "pairs"
    pairs.draw_pairs(small_cache(), captions, teacher_file, drawn, 64)
    process = start("reflow", 0)
    problem = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, problem
    alone = Settings(tmp_path / "alone", 8, Budget(samples=8 * STEPS))
    reflow.train_reflow(small_cache(), teacher_file, drawn, alone)
    one, other = (load_tensors(folder / NAME)[0] for folder in (alone.out, out))
    assert one.keys() == other.keys()
    for name in one:
        atol = 1e-3 if name.endswith("k.bias") else 1e-5
        torch.testing.assert_close(other[name], one[name], atol=atol, rtol=1e-4, msg=name)


def test_one_process_keeps_its_numbers():
    x = torch.randn(4)
    before = x.clone()
    world.ALONE.mean([x])
    world.ALONE.align([x])
    assert torch.equal(x, before) and world.ALONE.rows(x) is x
    assert world.ALONE.gather([1.0, 2.0]) == [[1.0, 2.0]]
    assert world.join(torch.device("cpu")) is world.ALONE


def test_commands_for_one_process_refuse_torchrun(monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "0")
    with pytest.raises(TtiError, match="start this one alone"):
        loop.pick_device("cpu")
    assert loop.pick_device("cpu", shared=True).type == "cpu"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(TtiError, match="more processes than GPUs"):
        world.own_device("cuda")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert loop.pick_device("cpu").type == "cpu"


def test_processes_that_found_different_checkpoints_refuse(cache, tmp_path):
    class Apart(world.World):
        size = 2

        def gather(self, numbers):
            return [list(numbers), [*numbers[:-1], numbers[-1] + 1]]

    settings = Settings(tmp_path, 8, Budget(samples=8), world=Apart())
    with pytest.raises(TtiError, match="all of them share"):
        diffusion.train_diffusion(cache, captions, settings, config=SMALL)
    assert not (tmp_path / NAME).exists()


def test_the_second_signal_of_torchrun_is_an_echo(cache, tmp_path, monkeypatch):
    """Ctrl-C reaches a process from the terminal and from torchrun; a later one stops at once."""

    class Pair(world.World):
        size = 2

    now = [100.0]
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])
    original = diffusion.DiffusionTask.loss

    def loss(task, counters):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        now[0] += wait
        os.kill(os.getpid(), signal.SIGINT)
        return original(task, counters)

    monkeypatch.setattr(diffusion.DiffusionTask, "loss", loss)
    for wait in (1.0, 60.0):
        settings = Settings(tmp_path / str(wait), 8, Budget(samples=80), world=Pair())
        if wait == 60.0:
            with pytest.raises(KeyboardInterrupt):
                diffusion.train_diffusion(cache, captions, settings, config=SMALL)
        else:
            diffusion.train_diffusion(cache, captions, settings, config=SMALL)
            assert step(tmp_path / str(wait)) == 1
