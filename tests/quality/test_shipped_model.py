"""The shipped model against its float32 original and against pictures it has never seen."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

PSNR_LIMIT = 30.0  # dB
INT8_LIMIT = 1.0  # levels of 255, mean over all pictures
WORST_LIMIT = 6.0  # the same, in the worst picture
HELD_OUT = 200  # pictures rendered for the PSNR
SEED = 0  # of the data set that the model was trained on

DRAW = """
import json, sys, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
with open(sys.argv[3], "wb") as file:
    for i, prompt in enumerate(json.load(open(sys.argv[2]))):
        pipeline.generate_into(out, prompt, i, 8, 3)
        file.write(out)
"""


@pytest.fixture(scope="module")
def original(repo: Path) -> dict[str, Path]:
    """The float weights (stored in half precision) that the shipped model was exported from."""
    folder = repo / "models" / "float16"
    return {name: folder / f"{name}.safetensors" for name in ("diffusion", "autoencoder")}


def test_autoencoder_on_held_out_pictures(original):
    torch = pytest.importorskip("torch")
    from ttikit.data.dataset import render_one
    from ttikit.training.autoencoder import load_autoencoder, psnr

    pictures = np.stack([render_one(SEED, "held-out", i)[0] for i in range(HELD_OUT)])
    reached = psnr(load_autoencoder(original["autoencoder"]), pictures, torch.device("cpu"))
    print(f"PSNR of {HELD_OUT} held-out pictures: {reached:.2f} dB")
    assert reached >= PSNR_LIMIT


def test_int8_against_float(original, repo, firmware, tmp_path):
    pytest.importorskip("torch")
    from ttikit.data.vocabulary import FORMS
    from ttikit.export.reference import FloatModel, prompts, tokens

    texts = prompts()
    assert len(texts) == 64
    (tmp_path / "prompts.json").write_text(json.dumps(texts), "utf-8")
    drawn = tmp_path / "pictures.rgb"
    model = repo / "models" / "faces.tti"
    subprocess.run(
        [str(firmware), "-c", DRAW, str(model), str(tmp_path / "prompts.json"), str(drawn)],
        check=True,
        timeout=300,
    )
    int8 = np.fromfile(drawn, np.uint8).reshape(-1, 64, 64, 3)
    source = FloatModel(original["diffusion"], original["autoencoder"])
    latents = source.latents(tokens(texts, FORMS), range(len(texts)))
    error = np.abs(int8.astype(int) - source.pictures(latents)).mean(axis=(1, 2, 3))
    print(f"int8 − float: mean {error.mean():.3f}, worst picture {error.max():.3f} of 255")
    assert error.mean() <= INT8_LIMIT
    assert error.max() <= WORST_LIMIT


def test_prompts_and_seeds_give_different_pictures(repo, run_mpy):
    code = """
import sys, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
def draw(prompt, seed):
    pipeline.generate_into(out, prompt, seed, 4)
    return bytes(out)
base = draw("пожилой мужчина", 1)
again = draw("пожилой мужчина", 1)
def far(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)
print(far(base, again), far(base, draw("блондинка", 1)), far(base, draw("пожилой мужчина", 2)))
"""
    done = run_mpy(code, str(repo / "models" / "faces.tti"))
    same, other_prompt, other_seed = map(float, done.stdout.split())
    assert same == 0
    assert other_prompt > 10
    assert other_seed > 10
