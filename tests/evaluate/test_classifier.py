"""The judge: its figures, its file, what it refuses, and the shipped one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.data.attributes import ATTRIBUTES  # noqa: E402
from ttikit.data.dataset import render_one  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.evaluate import classifier_figures as fig  # noqa: E402
from ttikit.evaluate.classifier import JUDGE, load_judge, look, save_judge  # noqa: E402
from ttikit.evaluate.network import FEATURES, Classifier  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.cli import app  # noqa: E402
from ttikit.training.loop import prepare_cpu  # noqa: E402

SOUND = fig.Figures(share=0.5, accuracy=0.98, balanced=0.97, auc=0.99)
MUST_BE_CLEAR = {
    "Male", "Eyeglasses", "Sunglasses", "Wearing_Hat", "Bald", "Smiling", "Wearing_Lipstick",
    "Black_Hair", "Brown_Hair", "Blond_Hair", "Gray_Hair", "Red_Hair", "Full_Beard", "Goatee",
    "Mustache",
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> None:
    prepare_cpu(1)


@pytest.fixture
def pictures() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, size=(7, 64, 64, 3), dtype=np.uint8)


@pytest.fixture
def metadata() -> dict:
    return {
        "attributes": ["A", "B"],
        "thresholds": [0.25, 0.75],
        "clear": ["B"],
        "rule": fig.RULE,
        "held_out": 4,
        "samples": 128,
        "accuracy": {"A": SOUND, "B": SOUND},
        "accuracy_passed": {"A": SOUND, "B": SOUND},
    }


@pytest.fixture
def model() -> Classifier:
    torch.manual_seed(5)
    return Classifier(2).eval()


def test_area_under_the_curve_counts_pairs():
    scores, labels = np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1], np.uint8)
    assert fig.auc(scores, labels) == (3 + 0.5) / 4  # four pairs, one of them equal
    assert fig.auc(-scores, labels) == 0.5 / 4
    assert fig.auc(scores, np.zeros(4, np.uint8)) == 0.5


def test_the_threshold_lies_in_the_middle_of_the_gap():
    scores, labels = np.array([0.1, 0.25, 0.75, 0.9]), np.array([0, 0, 1, 1], np.uint8)
    assert fig.best_threshold(scores, labels) == pytest.approx(0.5)
    assert fig.best_threshold(scores / 2, labels) == pytest.approx(0.2265, abs=1e-4)  # in logits
    # One rare picture weighs more than the two false alarms that finding it costs.
    scores = np.array([0.1] * 38 + [0.6, 0.7, 0.5])
    assert 0.1 < fig.best_threshold(scores, np.array([0] * 40 + [1], np.uint8)) < 0.5
    assert fig.best_threshold(scores, np.zeros(41, np.uint8)) == 0.5


def test_no_other_threshold_is_much_better():
    rng = np.random.default_rng(1)
    labels = (rng.random((3000, 1)) < 0.2).astype(np.uint8)
    scores = (rng.normal(size=(3000, 1)) + 2 * labels).clip(-3, 5) / 9 + 0.4

    def value(cut):
        found = fig.figures(scores, labels, np.array([cut]), ["A"])["A"]
        return (found["accuracy"] + found["balanced"]) / 2

    found = value(fig.thresholds(scores, labels)[0])
    assert found >= max(value(cut) for cut in scores[::50, 0]) - 2 * fig.SLACK
    assert found > value(0.35) + 0.05


def test_figures_are_shares_of_right_answers():
    probabilities = np.array([[0.9], [0.4], [0.6], [0.1], [0.2]])
    labels = np.array([[1], [1], [0], [0], [0]], np.uint8)
    found = fig.figures(probabilities, labels, np.array([0.5]), ["A"])["A"]
    assert found == {
        "share": 0.4, "accuracy": 0.6, "balanced": round((1 / 2 + 2 / 3) / 2, 4),
        "auc": round(5 / 6, 4),
    }  # fmt: skip


def test_pictures_with_an_unknown_label_do_not_count():
    scores, labels = (
        np.array([[0.1], [0.3], [0.6], [0.9]]),
        np.array([[0], [0], [1], [1]], np.uint8),
    )
    more = np.concatenate((scores, [[0.95], [0.01]])), np.concatenate((labels, [[255], [255]]))
    limits = fig.thresholds(scores, labels)
    assert fig.thresholds(*more) == limits
    assert fig.figures(*more, limits, ["A"]) == fig.figures(scores, labels, limits, ["A"])
    nothing = fig.figures(scores, np.full((4, 1), 255, np.uint8), limits, ["A"])["A"]
    assert nothing["accuracy"] == nothing["balanced"] == 0 and not fig.is_clear(nothing, SOUND)


def test_clear_needs_all_four_figures():
    def but(**change):
        return fig.Figures(**{**SOUND, **change})

    assert fig.is_clear(but(accuracy=0.97, balanced=0.95), but(accuracy=0.95, balanced=0.95))
    assert not fig.is_clear(but(accuracy=0.969), SOUND)
    assert not fig.is_clear(but(balanced=0.949), SOUND)
    assert not fig.is_clear(SOUND, but(accuracy=0.949))
    assert not fig.is_clear(SOUND, but(balanced=0.949))


def test_a_saved_judge_comes_back(tmp_path, model, metadata, pictures):
    path = tmp_path / "judge.safetensors"
    save_judge(path, model, metadata)
    judge = load_judge(path)
    assert (judge.attributes, judge.clear, judge.samples) == (["A", "B"], ["B"], 128)
    probabilities, features = judge.look(pictures)
    assert probabilities.shape == (7, 2) and features.shape == (7, FEATURES) == (7, judge.width)
    np.testing.assert_allclose(probabilities, look(model, pictures)[0], atol=5e-3)  # float16
    assert len(judge.fingerprint) == 8
    tensors, _ = load_tensors(path)
    numbers = {tensor.dtype for tensor in tensors.values() if tensor.numel() > 1}
    assert numbers == {torch.float16}
    present = judge.present(np.array([[0.25, 0.74], [0.24, 0.75]], np.float32))
    assert present.tolist() == [[True, False], [False, True]]


def test_a_picture_is_judged_alike_alone_and_among_others(model, pictures):
    together = look(model, pictures)
    alone = [look(model, pictures[i : i + 1]) for i in range(len(pictures))]
    for i in (0, 1):
        np.testing.assert_allclose(together[i], np.concatenate([a[i] for a in alone]), atol=1e-5)


def test_other_pictures_are_refused(model, pictures):
    for wrong in (pictures.astype(np.float32), pictures[:, :32], pictures[..., :1]):
        with pytest.raises(TtiError, match="uint8 pictures"):
            look(model, wrong)


def test_other_and_damaged_files_are_refused(tmp_path, model, metadata):
    path = tmp_path / "judge.safetensors"
    with pytest.raises(TtiError, match="does not exist"):
        load_judge(path)
    save_tensors(path, model.state_dict(), {**metadata, "kind": "autoencoder"})
    with pytest.raises(TtiError, match="no classifier"):
        load_judge(path)
    save_judge(path, model, {**metadata, "attributes": ["A", "B", "C"]})
    with pytest.raises(TtiError, match="another shape"):
        load_judge(path)
    save_judge(path, model, metadata)
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    with pytest.raises(TtiError, match="damaged"):
        load_judge(path)


def test_the_shipped_judge_keeps_its_rule(repo, monkeypatch):
    monkeypatch.chdir(repo)
    judge = load_judge()
    assert JUDGE.stat().st_size <= 1_500_000
    assert judge.attributes == list(ATTRIBUTES)
    sound = [n for n in ATTRIBUTES if fig.is_clear(judge.accuracy[n], judge.accuracy_passed[n])]
    assert judge.clear == sound and set(sound) >= MUST_BE_CLEAR
    assert np.mean([judge.accuracy[name]["accuracy"] for name in sound]) >= 0.97


def test_the_shipped_judge_knows_fresh_renders(repo, monkeypatch):
    monkeypatch.chdir(repo)
    judge = load_judge()
    fresh, labels = zip(*(render_one(987654, "held-out", i) for i in range(30)), strict=True)
    present = judge.present(judge.probabilities(np.stack(fresh)))
    clear = [judge.attributes.index(name) for name in judge.clear]
    right = (present == np.stack(labels).astype(bool))[:, clear]
    assert right.mean() >= 0.97


def test_report_prints_the_figures_of_the_shipped_judge(repo, monkeypatch):
    monkeypatch.chdir(repo)
    result = CliRunner().invoke(app, ["classifier", "--report", "--json"])
    report = json.loads(result.stdout)
    assert set(report["accuracy"]) == set(ATTRIBUTES) and "Male" in report["clear"]
    result = CliRunner().invoke(app, ["classifier", "--report"])
    assert result.exit_code == 0 and "Eyeglasses" in result.stdout
    result = CliRunner().invoke(app, ["classifier"])
    assert isinstance(result.exception, TtiError) and "--data" in str(result.exception)
