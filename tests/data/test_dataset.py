"""Shards: the same bytes from any number of processes, resumable, and checked on reading."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from ttikit.data import dataset, shards
from ttikit.data.dataset import FaceDataset, render_dataset
from ttikit.data.shards import Manifest
from ttikit.errors import TtiError

SCRIPT = """
import sys
from pathlib import Path
from ttikit.data import dataset, shards
if __name__ == "__main__":
    shards.SHARD, shards._CHUNK = 20, 5
    dataset.render_dataset(Path(sys.argv[1]), 60, 20, 3, int(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD", 20)
    monkeypatch.setattr(shards, "_CHUNK", 5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set drawn in one go by one process."""
    root = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD", 20)
        patch.setattr(shards, "_CHUNK", 5)
        render_dataset(root, 60, 20, 3, 1)
    return root


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    for path in whole.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir()}


def test_progress_counts_up_to_the_total(copy: Path) -> None:
    (copy / "train-images-00001.npy").unlink()
    calls: list[tuple[int, int]] = []
    render_dataset(copy, 60, 20, 3, 1, lambda done, total: calls.append((done, total)))
    assert calls == [(60, 80), (65, 80), (70, 80), (75, 80), (80, 80)]


def test_killed_at_any_moment_and_continued_by_two_processes_gives_the_same_files(
    whole: Path, tmp_path: Path
) -> None:
    script = tmp_path / "draw.py"
    script.write_text(SCRIPT)
    root = tmp_path / "data"
    command = [sys.executable, str(script), str(root)]
    process = subprocess.Popen([*command, "1"], start_new_session=True)
    deadline = time.monotonic() + 240
    while not list(root.glob("train-labels-*.npy")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    drawn = len(Manifest.read(root).shards)
    assert drawn < 4, "it was killed too late to show anything"
    (root / ".train-images-00002.npy.1.tmp").write_bytes(b"half a file")
    subprocess.run([*command, "2"], check=True, timeout=240)
    assert contents(root) == contents(whole)


def test_more_pictures_extend_a_data_set(copy: Path) -> None:
    before = (copy / "train-images-00000.npy").stat().st_mtime_ns
    render_dataset(copy, 70, 20, 3, 1)
    assert (copy / "train-images-00000.npy").stat().st_mtime_ns == before
    assert len(FaceDataset(copy)) == 70


def test_fewer_pictures_throw_none_away(copy: Path) -> None:
    before = contents(copy)
    for train, held_out, held in ((59, 20, "60 pictures of 'train'"), (60, 0, "20 pictures of")):
        with pytest.raises(TtiError, match=f"holds {held}.* already, .* at least as many"):
            render_dataset(copy, train, held_out, 3, 1)
    assert contents(copy) == before
    render_dataset(copy, 60, 20, 3, 1)


def test_loader_gives_arrays_and_names(whole: Path) -> None:
    data = FaceDataset(whole, "train")
    assert data.images.shape == (60, 64, 64, 3) and data.images.dtype == np.uint8
    assert data.labels.shape == (60, len(data.attributes)) and data.labels.max() == 1
    assert len(FaceDataset(whole, "held-out")) == 20
    image, labels = dataset.render_one(3, "train", 41)
    assert np.array_equal(data.images[41], image) and np.array_equal(data.labels[41], labels)


def test_a_partly_drawn_folder_can_be_used(copy: Path) -> None:
    manifest = Manifest.read(copy)
    del manifest.shards["train-00002"], manifest.shards["held-out-00000"]
    manifest.write(copy)
    assert len(FaceDataset(copy)) == 40
    with pytest.raises(TtiError, match="no complete shard of 'held-out'"):
        FaceDataset(copy, "held-out")


@pytest.mark.parametrize("kind", ["images", "labels"])
def test_one_flipped_bit_is_found_and_mended(copy: Path, whole: Path, kind: str) -> None:
    path = copy / f"train-{kind}-00001.npy"
    data = bytearray(path.read_bytes())
    data[-7] ^= 4
    path.write_bytes(data)
    with pytest.raises(TtiError, match=f"{path.name} is damaged.*render") as caught:
        FaceDataset(copy)
    assert "\n" not in str(caught.value)
    render_dataset(copy, 60, 20, 3, 1)
    assert contents(copy) == contents(whole)


@pytest.mark.parametrize("size", [0, 5, 100, 5000])
def test_a_truncated_shard_is_refused_even_unverified(copy: Path, size: int) -> None:
    path = copy / "train-images-00000.npy"
    path.write_bytes(path.read_bytes()[:size])
    for verify in (True, False):
        with pytest.raises(TtiError, match="damaged"):
            FaceDataset(copy, verify=verify)


def test_a_missing_shard_is_named(copy: Path) -> None:
    (copy / "train-labels-00000.npy").unlink()
    with pytest.raises(TtiError, match=r"train-labels-00000\.npy is missing"):
        FaceDataset(copy)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 9, "size": 64}', "\x00"]
)
def test_a_damaged_manifest_is_one_sentence(copy: Path, text: str) -> None:
    (copy / "dataset.json").write_text(text)
    with pytest.raises(TtiError, match=r"dataset\.json (is damaged|has another format)"):
        FaceDataset(copy)


def test_a_manifest_with_a_shard_without_checksum_is_damaged(copy: Path) -> None:
    data = json.loads((copy / "dataset.json").read_text())
    del data["shards"]["train-00000"]["images"]
    (copy / "dataset.json").write_text(json.dumps(data))
    with pytest.raises(TtiError, match="damaged"):
        FaceDataset(copy)


def test_wrong_use_is_refused(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(TtiError, match="another seed"):
        render_dataset(whole, 60, 20, 4, 1)
    with pytest.raises(TtiError, match="--train"):
        render_dataset(tmp_path, 0, 20, 4, 1)
    with pytest.raises(TtiError, match="--seed"):
        render_dataset(tmp_path, 1, 0, -1, 1)
    with pytest.raises(TtiError, match="holds no data set"):
        FaceDataset(tmp_path)
    with pytest.raises(TtiError, match="unknown split"):
        FaceDataset(whole, "test")
