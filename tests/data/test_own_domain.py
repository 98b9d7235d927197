"""docs/own-domain.md, run as it stands: from pictures and one file to a drawn picture."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from ttikit.cli import app
from ttikit.data.domain_file import read_domain
from ttikit.model_file import read_model
from typer.testing import CliRunner

pytest.importorskip("torch")

FEW = {
    "autoencoder": ("--batch", "4"),
    "diffusion": ("--batch", "2"),
    "pairs": ("--pairs", "4", "--chunk", "4"),
    "reflow": ("--batch", "16"),
}


@pytest.fixture
def blocks(repo: Path) -> dict[str, list[str]]:
    """The code of the page by language."""
    found: dict[str, list[str]] = {}
    page = (repo / "docs" / "own-domain.md").read_text("utf-8")
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```", page, re.M | re.S):
        found.setdefault(language, []).append(code)
    return found


def run(line: str) -> str:
    arguments = shlex.split(re.sub(r"--minutes \d+", "--samples 4", line))[1:]
    arguments += FEW.get(arguments[1], ())
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, (line, result.output, result.exception)
    return result.stdout


def test_the_page_from_pictures_to_a_picture(blocks, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks["python"][0].replace("COUNT = 2000", "COUNT = 24"), {})
    Path("shapes.toml").write_text(blocks["toml"][0], "utf-8")
    domain = read_domain(Path("shapes.toml"))
    for line in blocks["sh"][0].splitlines():
        output = run(line)
        if line.startswith("ttikit data captions"):
            texts = output.splitlines()
            assert len(texts) == 10
            assert not any(domain.vocabulary.tokenize(text)[1] for text in texts)
    with Image.open("circle.png") as image:
        assert image.size == (64, 64) and np.asarray(image).std() > 0
    metadata = read_model("shapes.tti").metadata
    assert metadata["tokenizer"]["forms"] == domain.vocabulary.forms
    assert metadata["about"]["name"] == "tti shapes" and metadata["about"]["license"] == "MIT"
    record = json.loads(
        run("x simulate 'old navy blue круг' --model shapes.tti --seed 1 --steps 1 --json")
    )
    assert record["notes"] == ["ignored, not in the vocabulary: «old»"]
    run(
        "x train sample --prompt 'red box' --steps 1 --seeds 1 -o float.png --diffusion "
        "runs/diffusion/export.safetensors --autoencoder runs/autoencoder/export.safetensors"
    )
