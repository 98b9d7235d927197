"""Training of the judge on a small data set, and the distances of such a set."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.data.dataset import FaceDataset, Manifest  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.evaluate import classifier_training as training  # noqa: E402
from ttikit.evaluate import reference_pictures  # noqa: E402
from ttikit.evaluate.classifier import Judge, load_judge, prepared, save_judge  # noqa: E402
from ttikit.evaluate.classifier_figures import Figures  # noqa: E402
from ttikit.evaluate.frechet import distance, moments  # noqa: E402
from ttikit.evaluate.network import Classifier  # noqa: E402
from ttikit.evaluate.reference import Reference  # noqa: E402
from ttikit.evaluate.reference_pictures import pass_through, passed  # noqa: E402
from ttikit.training.autoencoder import load_autoencoder, save_autoencoder  # noqa: E402
from ttikit.training.loop import Budget, Settings, prepare_cpu  # noqa: E402
from ttikit.training.models import Autoencoder  # noqa: E402

BATCH = 16


@pytest.fixture(autouse=True)
def small(monkeypatch) -> None:
    prepare_cpu(1)
    for name, value in (("CALIBRATION", 30), ("PASSED", 50)):
        monkeypatch.setattr(training, name, value)
    monkeypatch.setattr(reference_pictures, "SHARD", 20)


@pytest.fixture
def data(tmp_path):
    """A folder like `ttikit data render` writes: attribute "Top" is a bright upper half."""
    root, rng = tmp_path / "data", np.random.default_rng(0)
    root.mkdir()
    manifest = Manifest(1, {"train": 120, "held-out": 40}, 1, attributes=["Top", "Coin"])
    for split, number, count in (("train", 0, 70), ("train", 1, 50), ("held-out", 0, 40)):
        labels = rng.integers(0, 2, size=(count, 2), dtype=np.uint8)
        pictures = rng.integers(0, 120, size=(count, 64, 64, 3), dtype=np.uint8)
        pictures[:, :32] += 100 * labels[:, :1, None, None]
        record = {"count": count}
        for kind, array in (("images", pictures), ("labels", labels)):
            path = root / f"{split}-{kind}-{number:05d}.npy"
            np.save(path, array)
            record[kind] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest.shards[f"{split}-{number:05d}"] = record
    manifest.write(root)
    return root


@pytest.fixture
def autoencoder(tmp_path):
    torch.manual_seed(1)
    path = tmp_path / "autoencoder.safetensors"
    save_autoencoder(path, Autoencoder(), {})
    return path


def train(data, autoencoder, out, steps):
    settings = Settings(out, BATCH, Budget(samples=BATCH * steps), log_seconds=0.0)
    sets = FaceDataset(data, "train"), FaceDataset(data, "held-out")
    return training.train_classifier(*sets, autoencoder, settings, rate=1e-2)


def test_it_learns_what_can_be_seen(data, autoencoder, tmp_path):
    result = train(data, autoencoder, tmp_path / "run", 40)
    assert result["accuracy"]["Top"]["balanced"] > 0.95
    assert result["accuracy"]["Coin"]["balanced"] < 0.75
    assert result["clear"] == [] or result["clear"] == ["Top"]
    judge = load_judge(tmp_path / "run" / training.RESULT)
    assert judge.accuracy == result["accuracy"] and judge.samples == BATCH * 40
    held_out = FaceDataset(data, "held-out")
    right = judge.present(judge.probabilities(held_out.images)) == held_out.labels
    assert right[:, 0].mean() == pytest.approx(judge.accuracy["Top"]["accuracy"], abs=0.05)


def test_a_resumed_run_equals_an_uninterrupted_one(data, autoencoder, tmp_path, monkeypatch):
    train(data, autoencoder, tmp_path / "whole", 6)
    original, calls = training.vary, []

    def stop(x, random):
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(x, random)

    with monkeypatch.context() as patch:
        patch.setattr(training, "vary", stop)
        train(data, autoencoder, tmp_path / "parts", 6)
    assert load_judge(tmp_path / "parts" / training.RESULT).samples == 3 * BATCH
    train(data, autoencoder, tmp_path / "parts", 6)
    whole, parts = (load_judge(tmp_path / n / training.RESULT) for n in ("whole", "parts"))
    assert whole.samples == parts.samples and whole.fingerprint == parts.fingerprint


def test_a_run_on_other_data_is_left_alone(data, autoencoder, tmp_path):
    train(data, autoencoder, tmp_path / "run", 1)
    before = (tmp_path / "run" / training.RESULT).read_bytes()
    save_autoencoder(tmp_path / "other", Autoencoder(), {"samples": 1})
    with pytest.raises(TtiError, match="trained on other data, labels or with another autoenc"):
        train(data, tmp_path / "other", tmp_path / "run", 1)
    save_autoencoder(tmp_path / "celeba", Autoencoder(), {"data": {"source": "celeba"}})
    with pytest.raises(TtiError, match="celeba learned from pictures of celeba"):
        train(data, tmp_path / "celeba", tmp_path / "run", 1)
    renamed = tmp_path / "renamed"
    shutil.copytree(data, renamed)
    manifest = renamed / "dataset.json"
    manifest.write_text(manifest.read_text().replace("Coin", "Dice"))
    with pytest.raises(TtiError, match="trained on other data, labels or with another autoenc"):
        train(renamed, autoencoder, tmp_path / "run", 1)
    assert (tmp_path / "run" / training.RESULT).read_bytes() == before


def test_too_few_pictures_are_refused(data, autoencoder, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CALIBRATION", 61)
    with pytest.raises(TtiError, match="at least 122 training pictures, not 120"):
        train(data, autoencoder, tmp_path / "run", 1)


def test_a_batch_keeps_pictures_and_labels_together():
    labels = np.arange(100, dtype=np.uint8)[:, None]
    renders = np.broadcast_to(labels[:, :, None, None], (100, 64, 64, 3)).copy()
    material = training.Material(renders, labels, renders[:40] + 100)
    pictures, found = training.mixed_batch(material, np.random.default_rng(2), 400)
    values = pictures[:, 0, 0, 0].astype(int)
    assert (pictures == values[:, None, None, None]).all()
    was_passed = values >= 100
    assert (np.where(was_passed, values - 100, values) == found[:, 0]).all()
    assert 150 < was_passed.sum() < 250 and found[was_passed].max() < 40


def test_batches_are_mirrored_and_shifted_by_two_pixels_at_most():
    picture = np.zeros((1, 64, 64, 3), np.uint8)
    picture[0, 20, 10] = 255
    material = training.Material(picture, np.zeros((1, 1), np.uint8), picture)
    pictures, _ = training.mixed_batch(material, np.random.default_rng(3), 300)
    rows, columns = np.nonzero(pictures[..., 0])[1:]
    assert set(rows) == set(range(18, 23))
    assert set(columns) == set(range(8, 13)) | set(range(51, 56))


def test_variation_is_slight_and_repeatable():
    x = prepared(np.random.default_rng(4).integers(0, 256, (50, 64, 64, 3), dtype=np.uint8))
    one, two = (training.vary(x, torch.Generator().manual_seed(6)) for _ in range(2))
    assert torch.equal(one, two)
    # Brightness, contrast and noise; smoothing may move noisy pixels like these farther.
    flat = training.vary(torch.zeros(50, 3, 8, 8), torch.Generator().manual_seed(6))
    assert 0.02 < flat.abs().mean() < 0.06 and flat.abs().max() < 0.25
    assert (one - x).abs().amax(dim=(1, 2, 3)).min() > 0


def test_rare_attributes_weigh_more_but_within_bounds():
    labels = np.zeros((1000, 3), np.uint8)
    labels[:500, 0] = labels[:100, 1] = labels[:1, 2] = 1
    assert training.rare_weights(labels).tolist() == pytest.approx([1, 3, training.RARE])


def test_unknown_labels_neither_weigh_nor_teach():
    labels = np.array([[1, 255], [0, 255], [255, 1], [0, 0]], np.uint8)
    assert training.rare_weights(labels).tolist() == pytest.approx([2**0.5, 1])
    logits = torch.randn(4, 2, generator=torch.Generator().manual_seed(1), requires_grad=True)
    loss = training.known_loss(logits, torch.from_numpy(labels), torch.ones(2))
    loss.backward()
    assert ((logits.grad != 0).numpy() == (labels != 255)).all()
    picked = torch.from_numpy(labels != 255)
    target = torch.from_numpy(labels)[picked].float()
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logits[picked], target)
    assert loss.item() == pytest.approx(expected.item())


def test_passing_through_is_kept_and_repaired(data, autoencoder, tmp_path, monkeypatch):
    held_out, cache = FaceDataset(data, "held-out"), tmp_path / "cache"
    few = passed(held_out, 7, autoencoder, cache, disturbance=0.2)
    first = passed(held_out, 40, autoencoder, cache, disturbance=0.2)
    assert first.shape == (40, 64, 64, 3)
    np.testing.assert_array_equal(few, first[:7])
    files = sorted(cache.iterdir())
    assert len(files) == 2
    files[1].write_bytes(files[1].read_bytes()[:1000])
    calls = []
    original = reference_pictures.pass_through
    monkeypatch.setattr(
        reference_pictures, "pass_through", lambda *a, **k: calls.append(1) or original(*a, **k)
    )
    again = passed(held_out, 40, autoencoder, cache, disturbance=0.2)
    assert len(calls) == 1
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(passed(held_out, 7, autoencoder, cache, 0.2), first[:7])


def test_disturbed_latents_change_the_picture(autoencoder, data):
    pictures, model = FaceDataset(data, "held-out").images[:3], load_autoencoder(autoencoder)
    plain = pass_through(model, pictures)
    np.testing.assert_array_equal(plain, pass_through(model, pictures, seed=1))
    assert (pass_through(model, pictures, 0.5) != plain).any()


@pytest.fixture
def reference(data, autoencoder, tmp_path):
    def make(seed: int = 0) -> Reference:
        torch.manual_seed(seed)
        found = {
            name: Figures(share=0.5, accuracy=1, balanced=1, auc=1) for name in ("Top", "Coin")
        }
        save_judge(
            tmp_path / "judge.safetensors", Classifier(2),
            {
                "attributes": ["Top", "Coin"], "thresholds": [0.5, 0.5], "clear": [],
                "samples": 0, "accuracy": found, "accuracy_passed": found,
            },
        )  # fmt: skip
        judge = load_judge(tmp_path / "judge.safetensors")
        return Reference(data, judge, tmp_path / "cache", autoencoder)

    return make


def test_distances_of_a_data_set(reference):
    real = reference()
    images = real.train.images[:50]
    expected = distance(moments(real.judge.features(images)), real.moments)
    assert real.floor(50) == pytest.approx(expected)
    assert real.distance(real.features) == pytest.approx(0, abs=1e-6)
    # An autoencoder that learnt nothing leads far away, from the same and from other people.
    assert real.baseline(40) > 2 * real.floor(40) and real.paired(40) > 2 * real.floor(40)
    assert real.halves() > 0
    plain, mirrored = real.training_features
    flipped = np.ascontiguousarray(real.train.images[:, :, ::-1])
    np.testing.assert_allclose(mirrored, real.judge.features(flipped), atol=1e-5)
    assert len(plain) == 120
    with pytest.raises(TtiError, match="ask for fewer"):
        real.floor(121)


def test_a_second_evaluation_looks_at_nothing_again(reference, monkeypatch):
    def everything(real):
        return real.floor(50), real.baseline(30), real.paired(30), real.halves()

    values = everything(reference())
    looks = []
    original = Judge.features
    monkeypatch.setattr(Judge, "features", lambda *a: looks.append(1) or original(*a))
    assert everything(reference()) == values and looks == []
    assert everything(reference(seed=1)) != values and looks  # another classifier


def test_another_data_set_and_other_attributes_are_noticed(reference, data):
    first = reference()
    manifest = Manifest.read(data)
    manifest.shards["train-00001"]["images"] = "0" * 64
    manifest.write(data)
    with pytest.raises(TtiError, match="SHA-256"):
        reference()
    del manifest.shards["train-00001"]
    manifest.write(data)
    assert reference()._key != first._key
    manifest.attributes = ["Coin", "Top"]
    manifest.write(data)
    with pytest.raises(TtiError, match="other attributes"):
        reference()
