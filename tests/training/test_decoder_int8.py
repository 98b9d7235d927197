"""The int8 decoder in torch is the board's graph, and its scales are found well."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit import simulator  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.export.decoder import (  # noqa: E402
    LAYERS,
    LatentScale,
    activation_scales,
    scale_of,
    tensors,
)
from ttikit.training import decoder_figures  # noqa: E402
from ttikit.training.autoencoder import psnr, save_autoencoder  # noqa: E402
from ttikit.training.decoder_figures import EACH, compare, loss  # noqa: E402
from ttikit.training.int8_decoder import (  # noqa: E402
    Int8Decoder,
    float_pictures,
    int8_pictures,
    psnr_of,
)
from ttikit.training.models import Autoencoder, Decoder  # noqa: E402

MEAN, STD = torch.tensor([0.1, -0.2, 0.0, 0.3]), torch.tensor([0.9, 1.1, 1.0, 0.7])


def lively_decoder():
    """Random weights whose pictures use the whole range of bytes and clip at both ends."""
    torch.manual_seed(5)
    decoder = Decoder()
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            parameter.mul_(12.0 if name == "conv_out.weight" else 2.0)
    return decoder.eval()


def standardised(count, seed=1):
    return torch.randn(count, 16, 16, 4, generator=torch.Generator().manual_seed(seed))


def board_pictures(decoder, scales, latents):
    """What the graph of the boards draws from standardised latents, over the simulator's ops."""
    simulator.install()
    state = {name: value.numpy() for name, value in decoder.state_dict().items()}
    parts = tensors(state, scales, LatentScale(MEAN.numpy(), STD.numpy()), {})
    weights = SimpleNamespace(tensor=lambda name: np.ascontiguousarray(parts[name].values))
    graph = importlib.import_module("tti.decoder").Decoder(weights, 32)
    ws = SimpleNamespace(**{n: memoryview(bytearray(size)) for n, size in graph.buffers()})
    pictures = []
    for latent in latents.numpy():
        tokens = latent.reshape(8, 2, 8, 2, 4).transpose(0, 2, 1, 3, 4).reshape(64, 16).copy()
        out = bytearray(64 * 64 * 3)
        for _ in graph.run(ws, out, tokens):
            pass
        pictures.append(np.frombuffer(out, np.uint8).reshape(64, 64, 3))
    return np.stack(pictures)


def test_same_bytes_as_the_board():
    decoder = lively_decoder()
    calibration = (standardised(4, seed=2) * STD + MEAN).numpy()
    scales = activation_scales(decoder, calibration, 99.0)  # so low that many values clip
    latents = standardised(2)
    model = Int8Decoder(decoder, scales, MEAN, STD)
    ours = int8_pictures(model, latents)
    np.testing.assert_array_equal(ours, board_pictures(decoder, scales, latents))
    assert (ours == 0).any() and (ours == 255).any() and len(np.unique(ours)) > 200
    gap = np.abs(ours.astype(float) - float_pictures(model, latents)).mean()
    assert 0 < gap < 12


def test_every_weight_gets_a_gradient():
    decoder = lively_decoder()
    calibration = (standardised(4, seed=2) * STD + MEAN).numpy()
    model = Int8Decoder(decoder, activation_scales(decoder, calibration, 99.99), MEAN, STD)
    exact = torch.autograd.grad(
        decoder((standardised(1) * STD + MEAN).permute(0, 3, 1, 2)).mean(),
        list(decoder.parameters()),
    )
    (model(standardised(1)) / 127.5 - 1).mean().backward()
    for (name, parameter), wanted in zip(decoder.named_parameters(), exact, strict=True):
        likeness = torch.cosine_similarity(parameter.grad.flatten(), wanted.flatten(), dim=0)
        assert likeness > 0.9, f"{name}: {likeness:.3f}"


def test_zeros_do_not_count_for_a_scale():
    values = np.zeros(100_000, np.float32)
    values[:10] = np.arange(1, 11)
    assert scale_of(values, 100) == np.float32(10 / 127)
    assert scale_of(values, 99.9) == pytest.approx(10 / 127, rel=0.01)
    assert np.isfinite(scale_of(np.zeros(8, np.float32), 99.9)) and scale_of(values[10:], 50) > 0


def test_a_layer_without_activity_exports():
    decoder = lively_decoder()
    with torch.no_grad():
        decoder.res1.conv1.bias.fill_(-1e6)
    scales = activation_scales(decoder, standardised(2).numpy(), 99.99)
    state = {name: value.numpy() for name, value in decoder.state_dict().items()}
    parts = tensors(state, scales, LatentScale(MEAN.numpy(), STD.numpy()), {})
    assert all(np.isfinite(part.values).all() for part in parts.values())


def test_psnr_is_that_of_the_autoencoder(pictures):
    torch.manual_seed(0)
    whole = Autoencoder().eval()
    model = Int8Decoder(
        whole.decoder,
        {name: np.float32(1) for name in LAYERS} | {"latent": np.ones(4, np.float32)},
        torch.zeros(4),
        torch.ones(4),
    )
    with torch.no_grad():
        scaled = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 127.5 - 1
        latents = whole.encoder(scaled)[0].permute(0, 2, 3, 1)
    mine = psnr_of(float_pictures(model, latents), pictures)
    assert mine == pytest.approx(psnr(whole, pictures, torch.device("cpu")), abs=0.01)


def test_figures(pictures, tmp_path):
    path = tmp_path / "export.safetensors"
    whole = Autoencoder()
    whole.decoder = lively_decoder()
    save_autoencoder(path, whole, {})
    latents = (standardised(3) * STD + MEAN).numpy()
    figures = compare(path, MEAN, STD, latents, latents[:2], pictures[:2])
    assert [row.scales for row in figures.rows] == ["99.9 %", "99.99 %", "99.999 %", "100 %", EACH]
    assert (figures.generated, figures.pictures) == (2, 2)
    for row in figures.rows:
        assert 0 < row.mean <= row.worst < 12
        assert row.psnr == pytest.approx(figures.float_psnr, abs=1.0)
    assert len({row.mean for row in figures.rows}) >= 4
    assert figures.table().count("\n") == 3 + len(figures.rows)
    with pytest.raises(TtiError, match="no held-out pictures"):
        compare(path, MEAN, STD, latents, latents, pictures[:0])


def test_loss_of_a_scale_counts_rounding_and_clipping():
    values = np.array([0.0, 0.5, 1.0, 200.0], np.float32)
    assert loss(values, np.float32(1)) == pytest.approx((0.25 + 73**2) / 4)


def test_measure_calibrates_on_latents_of_the_model(pictures, tmp_path, monkeypatch, repo):
    monkeypatch.setattr(decoder_figures, "prompts", lambda: ["девушка в очках", "дед"])
    seen = []
    monkeypatch.setattr(decoder_figures, "compare", lambda *arguments: seen.append(arguments))
    weights = repo / "models" / "float16"
    diffusion, autoencoder = (
        weights / f"{name}.safetensors" for name in ("diffusion", "autoencoder")
    )
    decoder_figures.measure(diffusion, autoencoder, pictures[:2])
    ((path, mean, std, calibration, generated, held_out),) = seen
    assert path == autoencoder and held_out is not pictures and len(held_out) == 2
    assert calibration.shape == (8, 16, 16, 4) and generated.shape == (2, 16, 16, 4)
    spread = (calibration - mean.numpy()) / std.numpy()
    assert 0.5 < spread.std() < 2
    assert np.abs(calibration[0] - generated[0]).mean() > 0.05
