"""Models of related runs can be added; others are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.mixing import mix, parse_share  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402

from .conftest import SMALL  # noqa: E402

ABOUT = {"kind": "diffusion", "config": SMALL.to_dict(), "autoencoder": "one", "samples": 10}
SPACE = {"latent.mean": torch.tensor([1 / 3, 0, 0, 0]), "latent.std": torch.full((4,), 0.1)}


@pytest.fixture
def model(tmp_path):
    """Writes a model, all of whose weights are one value."""

    def write(name, value, tensors=None, **changes):
        state = TextToLatent(SMALL).state_dict()
        weights = {key: torch.full_like(old, value) for key, old in state.items()}
        path = tmp_path / f"{name}.safetensors"
        save_tensors(path, {**weights, **SPACE, **(tensors or {})}, {**ABOUT, **changes})
        return path

    return write


def all_are(path, value):
    tensors, _ = load_tensors(path)
    weights = [tensor for name, tensor in tensors.items() if name not in SPACE]
    return len(weights) > 40 and all(torch.equal(w, torch.full_like(w, value)) for w in weights)


def test_weights_are_added_and_scale_and_counters_kept(model, tmp_path):
    start = model("start", 1.0, samples=30)
    first = model("first", 2.0, paths=7, data={"source": "render", "domain": ""})
    second = model("second", 4.0, paths=5, captions=3)
    out = tmp_path / "out.safetensors"
    about = mix([(first, 0.5), (second, 0.75), (start, -0.25)], out)
    tensors, read = load_tensors(out)
    assert all_are(out, 3.75)
    assert all(torch.equal(tensors[name], value) for name, value in SPACE.items())
    data = {"source": "render", "domain": ""}
    assert read == about == {**ABOUT, "samples": 30, "paths": 7, "captions": 3, "data": data}


def test_one_model_alone_stays_what_it_is(model, tmp_path):
    path, out = model("one", 0.7, paths=3), tmp_path / "out.safetensors"
    mix([(path, 1.0)], out)
    before, after = load_tensors(path), load_tensors(out)
    assert before[1] == after[1]
    assert all(torch.equal(value, after[0][name]) for name, value in before[0].items())


def test_copies_in_half_precision_can_be_added(model, tmp_path):
    halves = {name: w.half() for name, w in TextToLatent(SMALL).state_dict().items()}
    one, other, out = model("one", 0.0), model("other", 0.0, halves), tmp_path / "out"
    mix([(one, 0.5), (other, 0.5)], out)
    tensors, _ = load_tensors(out)
    assert all(torch.equal(tensors[name], w.float() / 2) for name, w in halves.items())


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"autoencoder": "two"}, "was trained on latents of another autoencoder"),
        ({"tensors": {"latent.std": torch.ones(4)}}, "was trained on latents of another scale"),
        ({"data": {"domain": "x"}}, "knows the words of another domain"),
        ({"config": {**SMALL.to_dict(), "guides": 5}}, "does not fit the sizes that it names"),
        ({"config": {"dim": "x"}}, "does not fit the sizes that it names"),
        ({"config": {"more": 1}}, "does not fit the sizes that it names"),
        ({"config": 7}, "does not fit the sizes that it names"),
        ({"tensors": {"null": torch.zeros(3, 2)}}, "does not fit the sizes that it names"),
        ({"tensors": {"more": torch.zeros(1)}}, "does not fit the sizes that it names"),
        ({"tensors": {"latent.std": torch.zeros(4)}}, "has latents of a scale that is none"),
        ({"tensors": {"latent.mean": torch.full((4,), torch.nan)}}, "has latents of a scale that"),
        ({"kind": "judge"}, "holds no diffusion model"),
    ],
)
def test_strangers_are_refused(model, tmp_path, changes, what):
    out, one, other = tmp_path / "out", model("one", 1.0), model("other", 1.0, **changes)
    with pytest.raises(TtiError, match=rf"other.safetensors {what}"):
        mix([(one, 0.5), (other, 0.5)], out)
    assert not out.exists()


def test_the_sum_has_the_licence_of_its_part(model, tmp_path):
    celeba = model("celeba", 1.0, data={"source": "celeba"})
    free, folder = model("free", 1.0), model("folder", 1.0, data={"source": "folder"})
    for shares in ((free, celeba), (celeba, free)):
        about = mix([(path, 0.5) for path in shares], tmp_path / "out")
        assert about["data"] == {"source": "celeba"}
    for shares in ((celeba, free, folder), (folder, celeba, free)):
        with pytest.raises(TtiError, match=r"learned from pictures of .*, and these are of"):
            mix([(path, 1 / 3) for path in shares], tmp_path / "out")


def test_other_files_are_not_replaced(model, tmp_path):
    one, old = model("one", 1.0), tmp_path / "old.safetensors"
    for about in ({"kind": "reader"}, {"kind": "pairs"}, {"seed": 0, "step": 1}):
        save_tensors(old, {"w": torch.zeros(1)}, about)
        before = old.read_bytes()
        with pytest.raises(TtiError, match="holds no diffusion model that could be replaced"):
            mix([(one, 1.0)], old)
        assert old.read_bytes() == before
    old.write_bytes(model("older", 2.0).read_bytes())
    mix([(one, 1.0)], old)
    assert all_are(old, 1.0)


def test_other_sizes_are_refused(model, tmp_path):
    one, large = model("one", 1.0), TextToLatent()
    about = {**ABOUT, "config": large.config.to_dict()}
    save_tensors(tmp_path / "large", large.state_dict() | SPACE, about)
    for shares in ((one, tmp_path / "large"), (tmp_path / "large", one)):
        with pytest.raises(TtiError, match=r"has other sizes than"):
            mix([(path, 0.5) for path in shares], tmp_path / "out")


def test_shares_make_sense(model, tmp_path):
    one, out = model("one", 1.0), tmp_path / "out.safetensors"
    with pytest.raises(TtiError, match=r"the shares add up to 0\.9"):
        mix([(one, 0.4), (one, 0.5)], out)
    for share in (11.0, -1e30, float("nan")):
        with pytest.raises(TtiError, match=r"has a share of .*; choose one from -10 to 10"):
            mix([(one, share), (one, 1 - share)], out)
    assert not out.exists()


def test_no_model_is_overwritten(model, tmp_path):
    one, link, loop = model("one", 1.0), tmp_path / "link", tmp_path / "loop"
    link.symlink_to(one)
    loop.symlink_to(loop)
    before, pipe = one.read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    for taken in (one, link, tmp_path / "x" / ".." / one.name):
        with pytest.raises(TtiError, match="is one of the models to mix; name another -o"):
            mix([(one, 1.0)], taken)
    with pytest.raises(TtiError, match="is one of the models to mix"):
        mix([(link, 1.0)], one)
    for name in (tmp_path, one / "below", tmp_path / ("x" * 300), pipe):
        with pytest.raises(TtiError, match="cannot be written"):
            mix([(one, 1.0)], name)
    with pytest.raises(TtiError, match="loop does not exist"):
        mix([(loop, 1.0)], tmp_path / "out")
    assert one.read_bytes() == before and pipe.is_fifo()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(model, tmp_path, value):
    out, bad = tmp_path / "out", model("bad", 1.0, {"null": torch.full((32,), value)})
    with pytest.raises(TtiError, match=r"bad.safetensors has weights that are no numbers \(null"):
        mix([(model("one", 1.0), 1.0), (bad, 0.0)], out)
    assert not out.exists()


def test_large_shares_cost_no_precision(model, tmp_path):
    one, other, out = model("one", 1.0 + 2**-23), model("other", 1.0), tmp_path / "out"
    mix([(one, 10.0), (other, -9.0)], out)
    assert all_are(out, 1 + 10 * 2**-23)


def test_shares_of_a_command_line():
    assert parse_share("a=b/c.safetensors=-0.2") == (Path("a=b/c.safetensors"), -0.2)
    for text in (
        "model.safetensors",
        "model.safetensors=",
        "model.safetensors=much",
        "a=nan",
        "a=inf",
    ):
        with pytest.raises(TtiError, match="is no FILE=SHARE"):
            parse_share(text)
