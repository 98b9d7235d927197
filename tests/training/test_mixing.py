"""Models of related runs can be added; others are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.mixing import mix, parse_share  # noqa: E402

ABOUT = {"kind": "diffusion", "config": {"dim": 2}, "autoencoder": "one", "samples": 10}


@pytest.fixture
def model(tmp_path):
    def write(name, value, **changes):
        tensors = {"w": torch.full((2, 3), value), "latent.mean": torch.tensor([1 / 3])}
        tensors["latent.std"] = torch.tensor([changes.pop("std", 0.1)])
        tensors |= changes.pop("tensors", {})
        path = tmp_path / f"{name}.safetensors"
        save_tensors(path, tensors, {**ABOUT, **changes})
        return path

    return write


def test_weights_are_added_and_scale_and_counters_kept(model, tmp_path):
    start = model("start", 1.0, samples=30)
    first = model("first", 2.0, paths=7, data={"source": "render", "domain": ""})
    second = model("second", 4.0, paths=5, captions=3)
    out = tmp_path / "out.safetensors"
    about = mix([(first, 0.5), (second, 0.75), (start, -0.25)], out)
    tensors, read = load_tensors(out)
    assert torch.allclose(tensors["w"], torch.full((2, 3), 3.75))
    assert torch.equal(tensors["latent.mean"], torch.tensor([1 / 3]))
    assert torch.equal(tensors["latent.std"], torch.tensor([0.1]))
    data = {"source": "render", "domain": ""}
    assert read == about == {**ABOUT, "samples": 30, "paths": 7, "captions": 3, "data": data}


def test_one_model_alone_stays_what_it_is(model, tmp_path):
    path, out = model("one", 0.7, paths=3), tmp_path / "out.safetensors"
    mix([(path, 1.0)], out)
    before, after = load_tensors(path), load_tensors(out)
    assert before[1] == after[1]
    assert all(torch.equal(value, after[0][name]) for name, value in before[0].items())


@pytest.mark.parametrize(
    "changes",
    [
        {"autoencoder": "two"},
        {"config": {"dim": 3}},
        {"std": 0.2},
        {"data": {"domain": "x"}},
        {"data": {"source": "celeba"}},
        {"tensors": {"w": torch.zeros(3, 2)}},
        {"tensors": {"w": torch.zeros(())}},  # would be added to each weight
        {"tensors": {"more": torch.zeros(1)}},
    ],
)
def test_strangers_are_refused(model, tmp_path, changes):
    out = tmp_path / "out.safetensors"
    one, other = model("one", 1.0), model("other", 1.0, **changes)
    with pytest.raises(TtiError, match=r"other.safetensors is no relative of .*one.safetensors"):
        mix([(one, 0.5), (other, 0.5)], out)
    with pytest.raises(TtiError, match=r"one.safetensors is no relative of .*other.safetensors"):
        mix([(other, 0.5), (one, 0.5)], out)
    with pytest.raises(TtiError, match="holds no diffusion model"):
        mix([(one, 0.5), (model("judge", 1.0, kind="judge"), 0.5)], out)
    with pytest.raises(TtiError, match=r"the shares add up to 0\.9"):
        mix([(one, 0.4), (one, 0.5)], out)
    for share in (11.0, -1e30, float("nan")):
        with pytest.raises(TtiError, match=r"has a share of .*; choose one from -10 to 10"):
            mix([(one, share), (one, 1 - share)], out)
    assert not out.exists()


def test_no_model_is_overwritten(model, tmp_path):
    one, link = model("one", 1.0), tmp_path / "link"
    link.symlink_to(one)
    before = one.read_bytes()
    for taken in (one, link, tmp_path / "x" / ".." / one.name, tmp_path):
        with pytest.raises(TtiError, match="a folder or one of the models to mix"):
            mix([(one, 1.0)], taken)
    with pytest.raises(TtiError, match="a folder or one of the models to mix"):
        mix([(link, 1.0)], one)
    with pytest.raises(TtiError, match="cannot be written"):
        mix([(one, 1.0)], one / "below")
    assert one.read_bytes() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(model, tmp_path, value):
    out = tmp_path / "out.safetensors"
    with pytest.raises(TtiError, match=r"bad.safetensors has weights that are no numbers \(w\)"):
        mix([(model("one", 1.0), 1.0), (model("bad", value), 0.0)], out)
    assert not out.exists()


def test_large_shares_cost_no_precision(model, tmp_path):
    one, other, out = model("one", 1.0 + 2**-23), model("other", 1.0), tmp_path / "out.safetensors"
    mix([(one, 10.0), (other, -9.0)], out)
    assert torch.equal(load_tensors(out)[0]["w"], torch.full((2, 3), 1 + 10 * 2**-23))


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
