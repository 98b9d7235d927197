"""Models that a board could not guide are refused before anything is written."""

import shutil

import pytest
from ttikit.cli import app
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.export.reference import FloatModel  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.models import Autoencoder, ModelConfig, TextToLatent  # noqa: E402


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({}, "is a base model, which needs two passes per step; distil it first with"),
        ({"guides": 3, "paces": 5}, "knows 3 guidance strengths and 5 numbers of steps"),
        ({"guides": 5, "paces": 4}, "knows 5 guidance strengths and 4 numbers of steps"),
    ],
)
def test_a_model_without_the_rows_of_a_board_is_refused(tmp_path, rows, sentence):
    config = ModelConfig(depth=1, text_depth=1, **rows)
    tensors = dict(TextToLatent(config).state_dict())
    tensors |= {"latent.mean": torch.zeros(4), "latent.std": torch.ones(4)}
    path = tmp_path / "export.safetensors"
    about = {"kind": "diffusion", "config": config.to_dict(), "autoencoder": "any"}
    save_tensors(path, tensors, about)
    out, half = tmp_path / "faces.tti", tmp_path / "half"
    args = ["export", "--diffusion", path, "--autoencoder", tmp_path / "none", "-o", out]
    done = CliRunner().invoke(app, [*map(str, args), "--half", str(half)])
    assert done.exit_code != 0
    assert sentence in done.stderr
    assert not out.exists() and not half.exists()


@pytest.mark.parametrize("name", ["diffusion", "autoencoder"])
def test_no_input_is_overwritten(repo, tmp_path, name):
    for part in ("diffusion", "autoencoder"):
        shutil.copy(repo / "models" / "float16" / f"{part}.safetensors", tmp_path)
    path = tmp_path / f"{name}.safetensors"
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    args = ["export", "--diffusion", tmp_path / "diffusion.safetensors"]
    args += ["--autoencoder", tmp_path / "autoencoder.safetensors", "-o"]
    for more in ([path], [tmp_path / "link"], [tmp_path / "faces.tti", "--half", tmp_path]):
        done = CliRunner().invoke(app, list(map(str, [*args, *more])))
        assert done.exit_code != 0
        assert "is one of the files to export; choose another" in done.stderr
    assert path.read_bytes() == before and not (tmp_path / "faces.tti").exists()


def test_a_decoder_under_another_licence_is_refused(repo, tmp_path):
    float16, other = repo / "models" / "float16", tmp_path / "other"
    tensors, about = load_tensors(float16 / "autoencoder.safetensors")
    save_tensors(other, tensors, {**about, "data": {"source": "celeba"}})
    args = ["export", "--diffusion", float16 / "diffusion.safetensors", "--autoencoder", other]
    done = CliRunner().invoke(app, [*map(str, args), "-o", str(tmp_path / "faces.tti")])
    assert done.exit_code != 0
    assert "other learned from pictures of celeba, and these are of render" in done.stderr
    assert not (tmp_path / "faces.tti").exists()


def test_the_float_model_needs_its_own_autoencoder(repo, tmp_path):
    other = tmp_path / "other"
    save_tensors(other, Autoencoder().state_dict(), {"kind": "autoencoder"})
    with pytest.raises(TtiError, match="other is another autoencoder than the one whose latents"):
        FloatModel(repo / "models" / "float16" / "diffusion.safetensors", other)


def test_another_autoencoder_is_refused_before_copies_are_written(repo, tmp_path):
    other, out, half = (tmp_path / name for name in ("other", "faces.tti", "half"))
    save_tensors(other, Autoencoder().state_dict(), {"kind": "autoencoder"})
    shipped = repo / "models" / "float16" / "diffusion.safetensors"
    args = ["export", "--diffusion", shipped, "--autoencoder", other, "-o", out, "--half", half]
    done = CliRunner().invoke(app, list(map(str, args)))
    assert done.exit_code != 0
    assert "other is another autoencoder than the one whose latents" in done.stderr
    assert not out.exists() and not half.exists()
