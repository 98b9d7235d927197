"""`ttikit data …` as a person calls it."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from ttikit.data import asset_build
from ttikit.data.cli import app
from ttikit.data.dataset import FaceDataset
from ttikit.data.vocabulary import FACES
from ttikit.data.vocabulary_page import page
from ttikit.errors import TtiError
from typer.testing import CliRunner


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_captions_are_repeatable() -> None:
    lines = json.loads(call("captions", "-n", "5", "--seed", "4", "--json"))
    assert len(lines) == 5
    assert call("captions", "-n", "5", "--seed", "4").splitlines() == lines
    assert json.loads(call("captions", "-n", "5", "--seed", "5", "--json")) != lines


def test_vocabulary_prints_the_page_and_writes_it(tmp_path: Path) -> None:
    text = call("vocabulary")
    assert text == page(FACES)
    call("vocabulary", "--out", str(tmp_path / "page.md"))
    assert (tmp_path / "page.md").read_text("utf-8") == text


def test_render_sheet_from_data_and_sheet_of_an_attribute(tmp_path: Path) -> None:
    root, sheet = tmp_path / "data", tmp_path / "sheet.png"
    call("render", "--out", str(root), "--train", "6", "--held-out", "1", "--workers", "1")
    data = FaceDataset(root)
    call("sheet", "--out", str(sheet), "-n", "6", "--columns", "3", "--data", str(root))
    with Image.open(sheet) as image:
        picture = np.asarray(image)[:192:3, :192:3]
        assert image.size == (3 * 198, 2 * 242)
    assert np.array_equal(picture, data.images[0])
    call("sheet", "--out", str(sheet), "-n", "1", "-a", "Wearing_Hat", "-a", "!Male")
    with Image.open(sheet) as image:
        assert image.size == (198, 242)


def test_an_unknown_attribute_is_named(tmp_path: Path) -> None:
    arguments = ["sheet", "--out", str(tmp_path / "x.png"), "-n", "1", "-a", "Handsome"]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, TtiError) and "'Handsome'" in str(result.exception)


def test_bench_measures(capsys: pytest.CaptureFixture[str]) -> None:
    speed = json.loads(call("bench", "--processes", "1", "--pictures", "3", "--json"))
    assert speed["pictures"] == 3 and speed["per_second"] > 0 and speed["cpu_ms"] > 0


def test_the_asset_builder_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(TtiError, match=r"base\.obj is missing"):
        asset_build.build(tmp_path, tmp_path / "head.npz")
