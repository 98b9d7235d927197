"""Shapes, sizes and names that the graphs on the board rely on."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from ttikit.training.models import (  # noqa: E402
    Autoencoder,
    Block,
    Decoder,
    DiT,
    Encoder,
    ModelConfig,
    TextEncoder,
    TextToLatent,
    count,
    positions,
    time_features,
)

CONFIG = ModelConfig()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = TextToLatent()
    # Shake everything that starts at zero, so that every path carries a signal.
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.05)
    return model


def test_sizes():
    assert count(Decoder()) == 178_707
    assert count(DiT(CONFIG)) == 2_617_168
    assert count(TextEncoder(CONFIG)) == 308_352
    assert count(Encoder()) < 500_000


def test_names_and_shapes_of_the_tensors(model):
    state = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    expected = {
        "text.embed.weight": (64, 96),
        "text.pos": (32, 96),
        "text.proj.weight": (192, 96),
        "text.proj.bias": (192,),
        "null": (192,),
        "dit.patch.weight": (192, 16),
        "dit.patch.bias": (192,),
        "dit.pos": (64, 192),
        "dit.adaln.weight": (1536, 192),
        "dit.adaln.bias": (1536,),
        "dit.final.weight": (16, 192),
        "dit.final.bias": (16,),
    }
    for name in ("time1", "time2"):
        expected |= {f"dit.{name}.weight": (192, 192), f"dit.{name}.bias": (192,)}
    for part, depth, dim, hidden in (("text", 3, 96, 288), ("dit", 6, 192, 576)):
        for i in range(depth):
            block = f"{part}.blocks.{i}."
            for name in "qkvo":
                expected[f"{block}{name}.weight"] = (dim, dim)
                expected[f"{block}{name}.bias"] = (dim,)
            expected |= {f"{block}fc1.weight": (hidden, dim), f"{block}fc1.bias": (hidden,)}
            expected |= {f"{block}fc2.weight": (dim, hidden), f"{block}fc2.bias": (dim,)}
            expected[f"{block}table"] = (6, dim)
    assert state == expected


def test_names_of_the_decoder():
    convolutions = {
        "conv_in": (64, 4), "res1.conv1": (64, 64), "res1.conv2": (64, 64), "up1": (48, 64),
        "res2.conv1": (48, 48), "res2.conv2": (48, 48), "up2": (32, 48),
        "res3.conv1": (32, 32), "res3.conv2": (32, 32), "conv_out": (3, 32),
    }  # fmt: skip
    expected = {}
    for name, (outputs, inputs) in convolutions.items():
        expected[f"decoder.{name}.weight"] = (outputs, inputs, 3, 3)
        expected[f"decoder.{name}.bias"] = (outputs,)
    state = {name: tuple(value.shape) for name, value in Autoencoder().state_dict().items()}
    assert {name: shape for name, shape in state.items() if "decoder." in name} == expected


def test_autoencoder_shapes():
    model = Autoencoder()
    mean, logvar = model.encoder(torch.zeros(2, 3, 64, 64))
    assert mean.shape == logvar.shape == (2, 4, 16, 16)
    assert model.decoder(mean).shape == (2, 3, 64, 64)


def test_block_equals_its_formula():
    torch.manual_seed(1)
    block = Block(64, 2, 96)
    x, mods = torch.randn(3, 5, 64), torch.randn(1, 6, 64)
    keys = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
    shift1, scale1, gate1, shift2, scale2, gate2 = mods[0]

    def norm(v):
        centred = v - v.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()

    h = norm(x) * (1 + scale1) + shift1
    parts = []
    for head in range(2):
        cut = slice(32 * head, 32 * head + 32)
        scores = block.q(h)[..., cut] @ block.k(h)[..., cut].transpose(1, 2) / 32**0.5
        scores = scores.masked_fill(~keys[:, None], float("-inf"))
        parts.append(scores.softmax(-1) @ block.v(h)[..., cut])
    x1 = x + gate1 * block.o(torch.cat(parts, -1))
    h = block.fc1(norm(x1) * (1 + scale2) + shift2)
    gelu = 0.5 * h * (1 + torch.erf(h / 2**0.5))
    torch.testing.assert_close(
        block(x, mods, keys), x1 + gate2 * block.fc2(gelu), rtol=1e-4, atol=1e-4
    )


def test_patches_are_rows_then_columns_then_channels(model):
    x = torch.arange(16 * 16 * 4).float().view(1, 16, 16, 4)
    patches = model.dit._patchify(x)
    ty, tx, dy, dx, c = 3, 5, 1, 0, 2
    assert patches[0, ty * 8 + tx, (dy * 2 + dx) * 4 + c] == x[0, 2 * ty + dy, 2 * tx + dx, c]
    assert torch.equal(model.dit._unpatchify(patches), x)


def test_time_features_are_cosines_then_sines():
    features = time_features(torch.tensor([0.0, 0.3]), 192)
    assert features.shape == (2, 192)
    assert torch.equal(features[0], torch.cat((torch.ones(96), torch.zeros(96))))
    angle = torch.tensor(0.3 * 1000 * 10000 ** (-5 / 96))
    torch.testing.assert_close(features[1, 5], angle.cos(), rtol=0, atol=1e-4)
    torch.testing.assert_close(features[1, 96 + 5], angle.sin(), rtol=0, atol=1e-4)


def test_every_position_starts_different():
    table = positions(8, 192)
    assert table.shape == (64, 192)
    assert len(torch.unique(table, dim=0)) == 64


def test_padding_changes_nothing(model):
    tokens = torch.tensor([[5, 9, 2, 0, 0, 0], [7, 0, 0, 0, 0, 0]])
    full = torch.zeros(2, 32, dtype=torch.long)
    full[:, :6] = tokens
    torch.testing.assert_close(model.text(full), model.text(tokens))
    torch.testing.assert_close(model.text(tokens)[1:], model.text(tokens[1:, :1]))


def test_order_of_words_matters(model):
    one, two = torch.tensor([[5, 9, 2]]), torch.tensor([[9, 5, 2]])
    assert not torch.allclose(model.text(one), model.text(two), atol=1e-5)


def test_dropped_prompts_are_unseen(model):
    x, t = torch.randn(2, 16, 16, 4), torch.tensor([0.5, 0.5])
    x[1] = x[0]
    tokens = torch.tensor([[5, 9], [8, 3]])
    kept = model(x, t, tokens, torch.tensor([False, False]))
    dropped = model(x, t, tokens, torch.tensor([True, True]))
    assert not torch.allclose(kept[0], kept[1], atol=1e-5)
    torch.testing.assert_close(dropped[0], dropped[1])


def test_a_fresh_model_is_the_zero_field():
    model = TextToLatent()
    out = model(
        torch.randn(1, 16, 16, 4), torch.rand(1), torch.ones(1, 1).long(), torch.zeros(1).bool()
    )
    assert torch.equal(out, torch.zeros_like(out))


def test_recipe_interpolates_between_its_rows():
    model = TextToLatent(ModelConfig(guides=5, paces=5))
    torch.nn.init.normal_(model.guide)
    torch.nn.init.normal_(model.pace)

    def recipe(guidance, steps):
        return model.recipe(torch.tensor([guidance]), torch.tensor([float(steps)]))[0]

    for row in range(5):
        expected = model.guide[row] + model.pace[row]
        torch.testing.assert_close(recipe(row + 1.0, 2**row), expected)
    torch.testing.assert_close(
        recipe(2.25, 16) - model.pace[4], 0.75 * model.guide[1] + 0.25 * model.guide[2]
    )
    # 1/3 lies two thirds of the way from 1/2 to 1/4, and 1/100 counts as 1/16.
    torch.testing.assert_close(
        recipe(1.0, 3) - model.guide[0], model.pace[1] / 3 + 2 * model.pace[2] / 3
    )
    torch.testing.assert_close(recipe(1.0, 100), model.guide[0] + model.pace[4])


def test_an_undistilled_model_has_no_recipe_rows(model):
    assert not {"guide", "pace"} & set(model.state_dict())
