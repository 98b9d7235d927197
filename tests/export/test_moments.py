"""The moments of what layers read belong to the right layer, in the right order."""

import numpy as np
import pytest
from ttikit.export.build import model
from ttikit.export.quantize import convolution

torch = pytest.importorskip("torch")

from ttikit.export.decoder import LAYERS, LatentScale, tensors  # noqa: E402
from ttikit.export.moments import recorded  # noqa: E402
from ttikit.training.models import Block, Decoder, ModelConfig, TextToLatent  # noqa: E402


def energy(weight, moment):
    """Sum of squares of all that a layer without bias gives, from its inputs' moment."""
    return float(np.einsum("ok,kl,ol->", weight, moment, weight))


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_a_convolution_reads_windows_in_the_order_of_its_rows():
    layer = torch.nn.Conv2d(5, 7, 3, padding=1, bias=False)
    x = torch.randn(3, 5, 6, 4)
    with recorded(layer, "conv") as seen, torch.no_grad():
        given = layer(x)
    rows = layer.weight.detach().permute(0, 2, 3, 1).reshape(7, -1).double().numpy()
    assert energy(rows, seen["conv"]) == pytest.approx(float(given.double().square().sum()))


def test_a_block_reads_what_its_projections_read():
    block = Block(64, 2, 96)
    torch.nn.init.normal_(block.table)
    for name in ("q", "k", "v", "o", "fc1", "fc2"):
        torch.nn.init.zeros_(getattr(block, name).bias)
    x, mods = torch.randn(2, 5, 64), torch.randn(2, 6, 64)
    with recorded(block, "b") as seen, torch.no_grad():
        block(x, mods)
        block(x, mods)
    assert sorted(seen) == ["b.fc1", "b.fc2", "b.k", "b.o", "b.q", "b.v"]
    h = torch.nn.functional.layer_norm(x, (64,), eps=1e-6) * (1 + mods[:, 1, None])
    given = block.q(h + mods[:, 0, None]).detach().double()
    weight = block.q.weight.detach().double().numpy()
    assert energy(weight, seen["b.q"]) == pytest.approx(2 * float(given.square().sum()), rel=1e-5)


def test_hooks_are_gone_after_an_error():
    layer = torch.nn.Linear(4, 4)
    with pytest.raises(ValueError, match="stop"), recorded(layer, "x"):
        raise ValueError("stop")
    assert not layer._forward_pre_hooks


def test_every_layer_of_a_model_has_a_moment():
    network, decoder = TextToLatent(ModelConfig(guides=5, paces=5)), Decoder()
    ids = torch.ones(2, 3, dtype=torch.long)
    with torch.no_grad(), recorded(network, "") as seen, recorded(decoder, "decoder") as last:
        network(torch.randn(2, 16, 16, 4), torch.rand(2), ids, torch.zeros(2, dtype=torch.bool))
        decoder(torch.randn(1, 4, 16, 16))
    moments = seen | last
    asked = set()

    class Watch(dict):
        def get(self, name, default=None):
            asked.add(name)
            return super().get(name, default)

    scales = {name: np.float32(0.1) for name in LAYERS} | {"latent": np.ones(4, np.float32)}
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    weights = {name: value.numpy() for name, value in decoder.state_dict().items()}
    zeros = LatentScale(np.zeros(4, np.float32), np.ones(4, np.float32))
    model(state, weights, scales, zeros, Watch(moments))
    assert asked == set(moments)


def test_what_the_first_layer_of_the_decoder_reads_are_codes_of_the_latent():
    rng = np.random.default_rng(0)
    state = {name: value.numpy() for name, value in Decoder().state_dict().items()}
    latent_scale = np.array([0.01, 0.1, 1, 10], np.float32)
    scales = {name: np.float32(0.1) for name in LAYERS} | {"latent": latent_scale}
    read = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 36)) * np.tile(latent_scale, 9)
    codes = read / np.tile(latent_scale, 9)
    weight = state["conv_in.weight"] * latent_scale[None, :, None, None]
    expected, _ = convolution(weight, codes.T @ codes)
    zeros = LatentScale(np.zeros(4, np.float32), np.ones(4, np.float32))
    got = tensors(state, scales, zeros, {"decoder.conv_in": read.T @ read})
    assert np.array_equal(got["decoder.conv_in.weight"].values, expected)
    assert not np.array_equal(expected, convolution(weight)[0])
