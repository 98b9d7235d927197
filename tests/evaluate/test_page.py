"""The page from end to end, with a firmware and a judge that answer at once."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from ttikit.data.attributes import ATTRIBUTES
from ttikit.evaluate import limits, sheets
from ttikit.evaluate.cache import PictureCache
from ttikit.evaluate.drawing import Artist
from ttikit.evaluate.evaluation import Evaluation, captions
from ttikit.evaluate.expectations import read_expectations
from ttikit.evaluate.page import write_page
from ttikit.evaluate.precision import Error, Precision
from ttikit.evaluate.report import Nearest, Report
from ttikit.evaluate.settings import FAST, FULL, OVER_GUIDANCE, OVER_STEPS, Plan

CLEAR = ["Male", "Bald", "Red_Hair", "Blond_Hair"]


class FakeJudge:
    """Sees in a picture whatever its first bytes say, and features in the next ones."""

    clear = CLEAR
    thresholds = np.full(len(ATTRIBUTES), 0.5, np.float32)

    def look(self, pictures):
        flat = pictures.reshape(len(pictures), -1).astype(np.float32) / 255
        return flat[:, : len(ATTRIBUTES)], flat[:, 100:108]

    def present(self, probabilities):
        return probabilities >= self.thresholds


class FakeReference:
    """Stands for the renders: labels to caption, and distances that are known."""

    def __init__(self):
        rng = np.random.default_rng(0)
        people = [_person(rng) for _ in range(20)]
        self.held_out = _Split(np.stack(people))

    def distance(self, features):
        return float(features.mean())

    def floor(self, count):
        return 0.1

    def baseline(self, count):
        return 0.2


class _Split:
    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)


def _person(rng):
    from ttikit.data.attributes import labels_array, sample_attributes

    return labels_array(sample_attributes(rng))


@pytest.fixture
def evaluated(fake_firmware, tmp_path):
    """A report and sheets of 12 prompts that a fake firmware drew as noise."""
    accuracy = {name: {"accuracy": 0.98, "balanced": 0.97, "auc": 0.99} for name in ATTRIBUTES}
    expectations = read_expectations()[18:30]
    plan = Plan(seeds=2, few=1, frechet=12)
    report = Report(
        "0badf00d", {"trained": {"samples": 1234}}, plan, expectations, "cafe", 99, CLEAR, accuracy
    )
    with (
        PictureCache(tmp_path / "cache") as cache,
        Artist(fake_firmware, fake_firmware, cache) as artist,
    ):
        one = Evaluation(artist, FakeJudge(), expectations, plan, report)
        one.follow()
        one.collect(OVER_STEPS, OVER_GUIDANCE)
        noise = np.random.default_rng(0).integers(0, 256, (24, 64, 64, 3)).astype(np.uint8)
        one.truth(noise, noise)
        one.frechet(FakeReference(), (FULL, FAST))
    report.precision = Precision(
        4, Error(0.01, 0.02), (Error(0.01, 0.03),), Error(0.5, 0.6), Error(0.9, 6.5)
    )
    report.nearest = Nearest((9.0, 20.0), (3.0, 4.0), (10.0, 12.0), (2.0, 3.0), 777)
    return report, one.sheets


def test_the_page_is_the_same_each_time(evaluated, tmp_path):
    report, pictures = evaluated
    pages = [write_page(report, pictures, tmp_path / name) for name in ("a", "b")]
    for first in sorted(pages[0].parent.iterdir()):
        assert first.read_bytes() == (pages[1].parent / first.name).read_bytes(), first.name


def test_the_page_shows_every_picture_it_writes_and_no_other(evaluated, tmp_path):
    report, pictures = evaluated
    (tmp_path / "old.png").write_bytes(b"left over")
    page = write_page(report, pictures, tmp_path)
    shown = set(re.findall(r"\]\((\w+\.png)\)", page.read_text("utf-8")))
    assert shown == {path.name for path in tmp_path.glob("*.png")}
    assert {"attributes.png", "frechet.png", "failed.png", "steps.png", "prompts.png"} <= shown
    for name in shown:
        with Image.open(tmp_path / name) as image:
            assert image.mode == "P" and image.width <= 1200


def test_the_page_names_model_judge_and_numbers(evaluated, tmp_path):
    report, pictures = evaluated
    text = write_page(report, pictures, tmp_path).read_text("utf-8")
    for part in ("`0badf00d`", "1,234 samples", "`cafe`", "make quality", "12 captions", "777"):
        assert part in text, part
    for one in report.expectations:
        assert f"| {one.prompt}" in text
    assert "quick trial" not in text
    report.plan = Plan(quick=True)
    assert "quick trial" in write_page(report, pictures, tmp_path).read_text("utf-8")


def test_every_table_is_whole(evaluated, tmp_path):
    text = write_page(*evaluated, tmp_path).read_text("utf-8")
    widths = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("|")]
    assert len(widths) > 40
    for block in re.split(r"\n\n+", text):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in rows}) <= 1, rows[:3]


def test_noise_meets_no_limit_of_presence(evaluated):
    report, _ = evaluated
    found = {one.what: one for one in limits.limits(report)}
    shares = report.full.presence
    assert 0.35 < shares.overall().value < 0.65  # coins
    for what, one in found.items():
        if "each, at" in what or "failure rate" in what or "every other" in what:
            assert one.met is False, what


def test_limits_follow_the_figures(evaluated):
    report, _ = evaluated

    def met(part):
        (one,) = [one for one in limits.limits(report) if part in one.what]
        return one.met

    assert met("int8 against float, mean") is True
    assert met("int8 against float, worst") is False
    assert met("against decoded real latents") is True  # 0.5 / 0.2 = 2.5
    report.plan = replace(report.plan, quick=True)
    assert met("against decoded real latents") is None  # mostly chance
    assert met("the judge itself") is True
    report.accuracy["Bald"] = {"accuracy": 0.96}
    assert met("the judge itself") is False
    report.clear = []
    assert met("the judge itself") is False
    assert met("copies") is True  # 9 > 10 / 2, 3 > 2 / 2
    report.nearest = Nearest((4.9, 20.0), (3.0, 4.0), (10.0, 12.0), (2.0, 3.0), 777)
    assert met("copies") is False
    report.frechet = report.precision = report.people = report.nearest = None
    for part in ("decoded real latents", "int8 against float, mean", "different", "copies"):
        assert met(part) is None


def test_a_perfect_model_meets_all_limits(evaluated):
    from ttikit.evaluate.measures import Presence, Share
    from ttikit.evaluate.report import Obedience, People

    report, _ = evaluated
    every = {demand: Share(10, 10) for one in report.expectations for demand in one.demands}
    perfect = Obedience(Presence(every), Share(0, 24), ())
    report.obedience = dict.fromkeys(report.obedience, perfect)
    report.precision = Precision(4, Error(0, 0), (), Error(0, 0), Error(1.0, 6.0))
    report.people = People(5, 1, 6, 9)
    found = limits.limits(report)
    assert all(one.met for one in found), [one for one in found if not one.met]
    report.people = People(2, 1, 6, 9)
    assert [one.met for one in limits.limits(report) if "different people" in one.what] == [False]


def test_the_json_holds_the_figures(evaluated):
    report, _ = evaluated
    data = json.loads(json.dumps(report.to_json()))
    full = data["settings"]["8 steps, guidance 3"]
    assert full["pictures"] == 24
    assert full["failure_rate"] == report.full.failed.value
    assert data["frechet"]["values"].keys() == {"8 steps, guidance 3", "4 steps, guidance 3"}
    assert data["int8"]["picture"] == {"mean": 0.9, "worst": 6.5}


def test_captions_are_the_same_each_time_and_differ():
    rng = np.random.default_rng(0)
    labels = np.stack([_person(rng) for _ in range(30)])
    first = captions(labels, 20)
    assert first == captions(labels, 25)[:20]
    assert [seed for _, seed in first] == list(range(20))
    assert len({text for text, _ in first}) > 15


def test_a_sheet_shows_its_pictures_where_they_belong():
    pictures = np.zeros((2, 3, 64, 64, 3), np.uint8)
    pictures[1, 2] = (255, 0, 0)
    image = np.array(sheets.grid_image(pictures, rows=["a", "b"], columns=["1", "2", "3"]))
    red = np.argwhere((image == (255, 0, 0)).all(axis=2))
    assert len(red) == 64 * 64
    assert red.max(axis=0).tolist() == [image.shape[0] - 3, image.shape[1] - 3]
