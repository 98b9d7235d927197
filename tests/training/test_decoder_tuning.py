"""Tuning of the decoder: what it changes, what it must not, and that it resumes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.export.half import write_half  # noqa: E402
from ttikit.training import autoencoder as ae  # noqa: E402
from ttikit.training import decoder_tuning, loop, revival  # noqa: E402
from ttikit.training.checkpoint import load_tensors  # noqa: E402
from ttikit.training.latents import build_cache, check_autoencoder  # noqa: E402
from ttikit.training.loop import Budget, Settings  # noqa: E402
from ttikit.training.models import Autoencoder, Decoder  # noqa: E402


@pytest.fixture
def start(pictures, tmp_path):
    """A random autoencoder, its cache, and a function that tunes its decoder."""
    torch.manual_seed(0)
    path = tmp_path / "start.safetensors"
    whole = Autoencoder()
    torch.nn.init.constant_(whole.decoder.conv_out.bias, 0.9)  # far too bright: easy to improve
    ae.save_autoencoder(path, whole, {"samples": 7})
    labels = np.zeros((len(pictures), 1), np.uint8)
    whole = ae.load_autoencoder(path)
    cache = build_cache(
        whole, pictures, labels, pictures[:4], labels[:4], ["Male"], tmp_path / "latents"
    )

    def tune(out, samples, stop=None, **options):
        settings = Settings(tmp_path / out, 2, Budget(samples=samples), save_seconds=1e9)
        return decoder_tuning.tune_decoder(
            cache, pictures, pictures[:4], path, settings, **options
        )

    return cache, path, tune


def weights(path):
    return load_tensors(path)[0]


def test_the_decoder_learns_and_the_encoder_stays(start, tmp_path, monkeypatch):
    monkeypatch.setattr(decoder_tuning, "CALIBRATE_EVERY", 5)  # random weights change fast
    _, path, tune = start
    before = tune("few", 2, rate=1e-6)
    after = tune("run", 60, rate=1e-2)
    assert after["held_out_psnr"] > before["held_out_psnr"] + 1
    assert after["pictures"] == 4
    old, new = weights(path), weights(tmp_path / "run" / ae.EXPORT)
    assert all(torch.equal(old[n], new[n]) for n in old if n.startswith("encoder."))
    assert all(not torch.equal(old[n], new[n]) for n in old if n.startswith("decoder."))
    about = load_tensors(tmp_path / "run" / ae.EXPORT)[1]
    assert about == {"kind": "autoencoder", "samples": 7, "tuned_samples": 60, "data": {}}
    ae.load_autoencoder(tmp_path / "run" / ae.EXPORT)


def test_a_decoder_tuned_from_a_copy_in_half_precision_fits_its_latents(start, pictures, tmp_path):
    cache, path, _ = start
    half = write_half(path, tmp_path / "half.safetensors")
    settings = Settings(tmp_path / "run", 2, Budget(samples=2))
    decoder_tuning.tune_decoder(cache, pictures, pictures[:4], half, settings)
    check_autoencoder(settings.out / ae.EXPORT, cache.autoencoder)


def test_a_resumed_run_equals_an_uninterrupted_one(start, tmp_path, monkeypatch):
    _, _, tune = start
    monkeypatch.setattr(decoder_tuning, "CALIBRATE_EVERY", 2)
    tune("whole", 12)
    plain, agree = decoder_tuning._loss, loop.Trainer._agree

    class PowerCut(Exception):
        pass

    def cut_at_six(model, cache, pictures, batch, counters):
        if counters.samples == 6:
            raise PowerCut
        return plain(model, cache, pictures, batch, counters)

    monkeypatch.setattr(loop.Trainer, "_agree", lambda self, due: (agree(self, due)[0], True))
    monkeypatch.setattr(decoder_tuning, "_loss", cut_at_six)
    with pytest.raises(PowerCut):
        tune("parts", 12)
    monkeypatch.setattr(decoder_tuning, "_loss", plain)
    tune("parts", 12)
    whole = weights(tmp_path / "whole" / ae.EXPORT)
    parts = weights(tmp_path / "parts" / ae.EXPORT)
    assert [name for name in whole if not torch.equal(whole[name], parts[name])] == []


def test_refusals(start, pictures, tmp_path):
    cache, path, tune = start
    tune("run", 2)
    with pytest.raises(TtiError, match="another percentile"):
        tune("run", 4, percentile=99.0)
    celebrities = replace(cache, data={"source": "celeba"})
    settings = Settings(tmp_path / "run", 2, Budget(samples=4))
    with pytest.raises(TtiError, match="or on other latents"):
        decoder_tuning.tune_decoder(celebrities, pictures, pictures[:4], path, settings)
    settings = Settings(tmp_path / "celeba", 2, Budget(samples=2))
    decoder_tuning.tune_decoder(celebrities, pictures, pictures[:4], path, settings)
    settings = Settings(tmp_path / "x", 2, Budget(samples=2))
    tuned = tmp_path / "celeba" / ae.EXPORT
    with pytest.raises(TtiError, match="learned from pictures of celeba, and these are of render"):
        decoder_tuning.tune_decoder(cache, pictures, pictures, tuned, settings)
    with pytest.raises(TtiError, match="24 cached latents but 3 pictures"):
        decoder_tuning.tune_decoder(cache, pictures[:3], pictures, path, settings)
    with pytest.raises(TtiError, match="the latents are of other pictures; give the --data"):
        decoder_tuning.tune_decoder(cache, pictures[::-1], pictures, path, settings)
    other = replace(cache, autoencoder="of another")
    with pytest.raises(TtiError, match="ttikit train latents"):
        decoder_tuning.tune_decoder(other, pictures, pictures, path, settings)
    assert not (tmp_path / "x").exists()


def test_dead_channels_begin_again_and_the_picture_stays():
    torch.manual_seed(1)
    decoder = Decoder()
    with torch.no_grad():
        for branch in (decoder.res1, decoder.res2, decoder.res3):
            branch.conv1.bias.fill_(0.5)  # so that all others are active
        decoder.res1.conv1.bias[5:] = -100.0
        decoder.res3.conv1.bias[[2, 7]] = -100.0
    latents = torch.randn(8, 4, 16, 16)
    before = {name: value.clone() for name, value in decoder.state_dict().items()}
    with torch.no_grad():
        picture = decoder(latents)
    assert revival.revive(decoder, latents, 0) == {"res1": 59, "res2": 0, "res3": 2}
    with torch.no_grad():
        torch.testing.assert_close(decoder(latents), picture)
    after = decoder.state_dict()
    for branch, dead in (("res1", list(range(5, 64))), ("res3", [2, 7])):
        active = revival._inner(decoder, decoder.get_submodule(branch), latents) > 0
        share = active.float().mean(dim=(0, 2, 3))[dead]
        assert ((share - revival.ALIVE).abs() < 0.02).all()
        living = [i for i in range(len(active[0])) if i not in dead]
        for name in (f"{branch}.conv1.weight", f"{branch}.conv1.bias"):
            assert torch.equal(after[name][living], before[name][living])
        name = f"{branch}.conv2.weight"
        assert torch.equal(after[name][:, living], before[name][:, living])
    assert torch.equal(after["res2.conv1.weight"], before["res2.conv1.weight"])
