"""Pictures from a process of the firmware: the right bytes, and what happens when it dies."""

import hashlib
import os
import signal

import pytest
from fake_firmware import picture
from ttikit.errors import TtiError
from ttikit.evaluate.firmware import PICTURE_BYTES, Firmware, Job

JOB = Job("девушка", 1, 8, 300)


def test_the_real_firmware_draws_what_its_pipeline_draws(firmware, repo, run_mpy):
    model = repo / "models" / "faces.tti"
    code = """
import hashlib, sys, tti
out = bytearray(tti.PICTURE_BYTES)
for guidance in (2.5, 3):
    tti.load(sys.argv[1]).generate_into(out, "девушка в очках", 7, 1, guidance)
    print(hashlib.sha256(out).digest().hex())
"""
    done = run_mpy(code, str(model))
    with Firmware(firmware, model) as worker:
        for guidance, wanted in zip((250, 300), done.stdout.split(), strict=True):
            stages = worker.stages(Job("девушка в очках", 7, 1, guidance))
            assert [len(part) for part in stages] == [192 * 4, 1024 * 4, PICTURE_BYTES]
            assert hashlib.sha256(stages[-1]).hexdigest() == wanted
        assert worker.starts == 1


def test_the_real_firmware_refuses_in_one_sentence(firmware, repo):
    with Firmware(firmware, repo / "models" / "faces.tti") as worker:
        with pytest.raises(TtiError, match=r"refuses «девушка»: steps must be a whole number"):
            worker.draw(Job("девушка", 1, 0, 300))
        with pytest.raises(TtiError, match=r"cannot follow «синхрофазотрон»: .*синхрофазотрон"):
            worker.draw(Job("синхрофазотрон", 1, 1, 300))
        assert len(worker.draw(Job("девушка", 1, 1, 300))) == PICTURE_BYTES
        assert worker.starts == 1


def test_a_model_that_cannot_be_loaded(firmware, tmp_path):
    (tmp_path / "bad.tti").write_bytes(bytes(5000))
    with (
        Firmware(firmware, tmp_path / "bad.tti") as worker,
        pytest.raises(TtiError, match=r"draws nothing: ValueError: .*magic|draws nothing: .*bad"),
    ):
        worker.draw(JOB)


def test_no_firmware(tmp_path):
    with pytest.raises(TtiError, match=r"there is no firmware .*: build it with `make firmware`"):
        Firmware(tmp_path / "tti", tmp_path)
    (tmp_path / "text").write_text("no program")
    with pytest.raises(TtiError, match="there is no firmware"):
        Firmware(tmp_path / "text", tmp_path)


@pytest.mark.parametrize("ill", ["die", "hang", "garbage", "short", "lost"])
def test_a_sick_process_is_replaced(fake_firmware, starts, monkeypatch, ill):
    monkeypatch.setenv("FAKE_ILL", ill)
    with Firmware(fake_firmware, fake_firmware, patience=2) as worker:
        for seed in range(4):
            assert worker.draw(Job("дед", seed, 8, 300)) == picture("дед", seed, 8, 300)
    assert len(starts()) == worker.starts == 2
    assert not any(alive(pid) for pid in starts())


def test_a_process_that_is_killed_is_replaced(fake_firmware, starts):
    with Firmware(fake_firmware, fake_firmware) as worker:
        worker.draw(JOB)
        os.kill(starts()[0], signal.SIGKILL)
        assert worker.draw(JOB) == picture("девушка", 1, 8, 300)
        assert worker.starts == 2


def test_after_three_deaths_it_gives_up(fake_firmware, starts, monkeypatch):
    monkeypatch.setenv("FAKE_DEAD", "1")
    with (
        Firmware(fake_firmware, fake_firmware) as worker,
        pytest.raises(TtiError, match=r"draws nothing: out of luck"),
    ):
        worker.draw(JOB)
    assert len(starts()) == 3


def test_a_closed_one_draws_no_more(fake_firmware, starts):
    worker = Firmware(fake_firmware, fake_firmware)
    worker.draw(JOB)
    worker.close()
    with pytest.raises(TtiError, match="it was stopped"):
        worker.draw(JOB)
    assert len(starts()) == 1 and not alive(starts()[0])


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
