"""`ttikit evaluate` from the outside: one sentence for what is missing, and the whole once."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")


@pytest.fixture
def evaluate(repo, tmp_path, fake_firmware):
    """A function that runs the command in the repository, with the fake firmware by default."""

    def run(*arguments, timeout=120, program=fake_firmware):
        return subprocess.run(
            [
                sys.executable, "-m", "ttikit", "evaluate", "--firmware", str(program),
                "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "page"), *arguments,
            ],
            cwd=repo, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--model", "the file cannot be read"),
        ("--float", "does not exist"),
        ("--firmware", "build it with `make firmware`"),
    ],
)
def test_missing_files_are_named_in_one_sentence(evaluate, tmp_path, option, says):
    missing = tmp_path / "nowhere"
    done = evaluate(option, str(missing))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("ttikit: ") and len(done.stderr.splitlines()) == 1
    assert says in done.stderr and str(missing) in done.stderr
    assert not (tmp_path / "page").exists()


def test_float_weights_are_those_of_the_model(repo, tmp_path):
    from ttikit.errors import TtiError
    from ttikit.evaluate.run import Inputs, check_weights, open_model
    from ttikit.training.autoencoder import save_autoencoder
    from ttikit.training.models import Autoencoder

    model, float16 = repo / "models" / "faces.tti", repo / "models" / "float16"
    others = (tmp_path / name for name in ("firmware", "judge", "cache"))
    firmware, judge, cache = others
    inputs = Inputs(model, firmware, None, float16, judge, cache)
    check_weights(inputs, open_model(model))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "diffusion.safetensors").symlink_to(float16 / "diffusion.safetensors")
    save_autoencoder(mixed / "autoencoder.safetensors", Autoencoder(), {})
    with pytest.raises(TtiError, match="is another autoencoder than the one"):
        check_weights(Inputs(model, firmware, None, mixed, judge, cache), open_model(model))
    (tmp_path / "diffusion.safetensors").symlink_to(float16 / "autoencoder.safetensors")
    swapped = Inputs(model, firmware, None, tmp_path, judge, cache)
    with pytest.raises(TtiError, match="holds no diffusion model; check --float"):
        check_weights(swapped, open_model(model))


def test_a_damaged_model_is_refused(evaluate, repo, tmp_path):
    content = bytearray((repo / "models" / "faces.tti").read_bytes())
    content[-1000] ^= 1
    (tmp_path / "bad.tti").write_bytes(content)
    done = evaluate("--model", str(tmp_path / "bad.tti"))
    assert done.returncode == 2
    assert done.stderr.startswith("ttikit: ") and "bad.tti" in done.stderr


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    from ttikit.evaluate.cli import default_cache

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "tti" / "evaluate"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache() == tmp_path / ".cache" / "tti" / "evaluate"


@pytest.mark.long
def test_a_quick_evaluation_of_the_shipped_model(evaluate, firmware, tmp_path):
    first = evaluate("--quick", "--json", timeout=1800, program=firmware)
    assert first.returncode == 0, first.stderr
    figures = json.loads(first.stdout)
    assert len(figures["settings"]) == 8 and figures["frechet"] is None
    assert figures["int8"]["pictures"] == 8 and figures["renders"]["pictures"] == 96
    assert 0 <= figures["settings"]["8 steps, guidance 3"]["failure_rate"] <= 1
    page = {path.name: path.read_bytes() for path in (tmp_path / "page").iterdir()}
    assert b"quick trial" in page["README.md"]
    again = evaluate("--quick", "--json", timeout=600, program=firmware)
    assert json.loads(again.stdout) == figures
    assert {path.name: path.read_bytes() for path in (tmp_path / "page").iterdir()} == page
