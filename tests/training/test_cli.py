"""`ttikit train` from pictures to a sheet of samples, on a stand-in for the rendered data."""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.data import captions as captions_module  # noqa: E402
from ttikit.data import dataset  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.export.half import write_half  # noqa: E402
from ttikit.training import text_tuning  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.cli import app  # noqa: E402

from .conftest import captions  # noqa: E402


@pytest.fixture
def call(pictures, tmp_path, monkeypatch):
    """Runs a command; `--data` is a folder whose data set is the small pictures."""

    class Faces:
        attributes = ("Male",)
        data: ClassVar[dict] = {}

        def __init__(self, root, split):
            count = {"train": 24, "held-out": 4}[split]
            self.images = pictures[:count]
            self.labels = (np.arange(count) % 2).astype(np.uint8)[:, None]

    monkeypatch.setattr(dataset, "FaceDataset", Faces)
    monkeypatch.setattr(captions_module, "token_batch", captions)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "held-out-images-00000.npy").touch()

    def run(*arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def test_from_pictures_to_samples(call, tmp_path, monkeypatch):
    monkeypatch.setattr(text_tuning, "FITTED", 4)
    out = call(
        "autoencoder", "--data", ".", "--out", "ae", "--samples", 16, "--batch", 4, "--json"
    )
    row = json.loads(out.splitlines()[-1])
    assert row["pictures"] == 4 and 3 < row["held_out_psnr"] < 60
    out = call(
        "latents", "--data", ".", "--autoencoder", "ae/export.safetensors",
        "--out", "latents.safetensors", "--json",
    )  # fmt: skip
    row = json.loads(out.splitlines()[-1])
    assert row["pictures"] == 24 and len(row["mean"]) == len(row["std"]) == 4
    call(
        "diffusion", "--latents", "latents.safetensors", "--out", "dit",
        "--samples", 4, "--batch", 2,
    )  # fmt: skip
    call(
        "sample", "--prompt", "девушка в очках", "--prompt", "дед", "--steps", 1,
        "--diffusion", "dit/export.safetensors", "--autoencoder", "ae/export.safetensors",
        "--seeds", 3, "-o", "sheet.png",
    )  # fmt: skip
    common = "--latents", "latents.safetensors", "--teacher", "dit/export.safetensors", "--json"
    for count in (3, 6):  # the second time the folder is filled up
        out = call("pairs", *common, "--out", "pairs", "--pairs", count, "--chunk", 2)
        assert json.loads(out.splitlines()[-1])["pairs"] == 2 * -(-count // 2)
    assert len(list((tmp_path / "pairs").iterdir())) == 3
    out = call(
        "reflow", *common, "--pairs", "pairs", "--out", "student", "--samples", 4, "--batch", 2
    )
    assert json.loads(out.splitlines()[-1]) == {"out": "student", "samples": 4, "pairs": 6}
    out = call(
        "text", "--latents", "latents.safetensors", "--student", "student/export.safetensors",
        "--out", "text", "--samples", 4, "--batch", 2, "--json",
    )  # fmt: skip
    assert json.loads(out.splitlines()[-1]) == {"out": "text", "captions": 4}
    # Copies in half precision, as they are shipped, are enough to go on with.
    for name in ("ae", "text"):
        write_half(tmp_path / name / "export.safetensors", tmp_path / f"half-{name}.safetensors")
    again = "latents", "--data", ".", "--scale-of", "half-text.safetensors"
    call(*again, "--autoencoder", "half-ae.safetensors", "--out", "again.safetensors")
    before = (tmp_path / "again.safetensors").read_bytes()
    call(*again[:3], "--autoencoder", "half-ae.safetensors", "--out", "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == before  # it knows its scale
    call(
        "text", "--latents", "again.safetensors", "--student", "half-text.safetensors",
        "--out", "text-2", "--samples", 4, "--batch", 2,
    )  # fmt: skip
    out = call(
        "mix",
        "half-text.safetensors=-0.5",
        "text-2/export.safetensors=1.5",
        "-o",
        "mixed.safetensors",
        "--json",
    )
    assert json.loads(out.splitlines()[-1])["out"] == "mixed.safetensors"
    call("autoencoder", "--data", ".", "--out", "ae-2", "--samples", 4, "--seed", 1)
    with pytest.raises(TtiError, match="is another autoencoder than the one"):
        call(*again, "--autoencoder", "ae-2/export.safetensors", "--out", "other.safetensors")
    with pytest.raises(TtiError, match=r"again.safetensors holds latents of another autoencoder"):
        call(*again[:3], "--autoencoder", "ae-2/export.safetensors", "--out", "again.safetensors")
    with pytest.raises(TtiError, match="is another autoencoder than the one"):
        call(
            "sample", "--prompt", "дед", "--diffusion", "dit/export.safetensors",
            "--autoencoder", "ae-2/export.safetensors", "-o", "x.png",
        )  # fmt: skip
    tensors, about = load_tensors(tmp_path / "ae" / "export.safetensors")
    save_tensors(tmp_path / "celeba", tensors, {**about, "data": {"source": "celeba"}})
    with pytest.raises(TtiError, match="celeba learned from pictures of celeba, and these are of"):
        call("latents", "--data", ".", "--autoencoder", "celeba", "--out", "other.safetensors")
    assert not (tmp_path / "other.safetensors").exists()
    with Image.open(tmp_path / "sheet.png") as image:
        assert image.size == (2 * (3 * 66 + 2), 2 * (2 * 66 + 2))
    with pytest.raises(TtiError, match="holds no diffusion model"):
        call(
            "sample", "--prompt", "дед", "--diffusion", "ae/export.safetensors",
            "--autoencoder", "ae/export.safetensors", "-o", "x.png",
        )  # fmt: skip
    with pytest.raises(TtiError, match="no word of"):
        call(
            "sample", "--prompt", "ыъ", "--diffusion", "dit/export.safetensors",
            "--autoencoder", "ae/export.safetensors", "-o", "x.png",
        )  # fmt: skip
    assert not (tmp_path / "x.png").exists()


def test_wrong_options_say_what_to_do(call):
    with pytest.raises(TtiError, match="does not exist"):
        call("diffusion", "--latents", "nothing.safetensors", "--out", "dit")
    with pytest.raises(TtiError, match="choose auto, cpu or cuda"):
        call("autoencoder", "--data", ".", "--out", "ae", "--device", "abacus")
    with pytest.raises(TtiError, match="either --minutes or --samples"):
        call("autoencoder", "--data", ".", "--out", "ae", "--minutes", 1, "--samples", 1)
    if not torch.cuda.is_available():
        with pytest.raises(TtiError, match="no CUDA device"):
            call("autoencoder", "--data", ".", "--out", "ae", "--device", "cuda")
