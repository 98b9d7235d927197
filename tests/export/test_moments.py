"""The moments of what layers read belong to the right layer, in the right order."""

from types import SimpleNamespace

import numpy as np
import pytest
from ttikit.cli import app
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.data.domain import FACE_DOMAIN  # noqa: E402
from ttikit.data.vocabulary import FORMS  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.export import run  # noqa: E402
from ttikit.export.build import model, text_and_dit  # noqa: E402
from ttikit.export.decoder import LAYERS, LatentScale, tensors  # noqa: E402
from ttikit.export.moments import recorded  # noqa: E402
from ttikit.export.quantize import convolution, quantize_rows  # noqa: E402
from ttikit.export.reference import FloatModel, tokens  # noqa: E402
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


@pytest.fixture(scope="module")
def source():
    """A `FloatModel` of random weights that notes what it is asked to draw."""
    torch.manual_seed(0)
    network = TextToLatent(ModelConfig(guides=5, paces=5))
    for layer in (network.dit.adaln, network.dit.final):
        torch.nn.init.normal_(layer.weight, std=0.02)
    drawn = []

    def latents(ids, seeds, steps, guidance, note):
        drawn.append((ids, list(seeds), steps, guidance))
        return FloatModel.latents(parts, ids, seeds, steps, guidance, note)

    def pictures(latents):
        return FloatModel.pictures(parts, latents)

    parts = SimpleNamespace(
        model=network, decoder=Decoder(), mean=torch.zeros(4), std=torch.ones(4),
        latents=latents, pictures=pictures, drawn=drawn,
    )  # fmt: skip
    return parts


@pytest.fixture(scope="module")
def measured(source):
    """The moments of ``source``, and the tokens that its text encoder read."""
    read = []
    hook = source.model.text.register_forward_pre_hook(lambda layer, given: read.append(given[0]))
    ids = tokens(["мужчина", "девушка в очках", "бабушка", "лысый мужчина"], FORMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "CAPTIONS", 200)
        moments = run._moments(source, FACE_DOMAIN, ids, np.ones((2, 16, 16, 4), np.float32))
    hook.remove()
    return moments, read


def test_the_transformer_is_measured_in_all_that_people_ask_for(source, measured):
    assert {steps for _, _, steps, _ in source.drawn} >= {*range(1, 17), 24}
    strengths = [guidance for *_, guidance in source.drawn]
    assert {*strengths} == {1, 2, 3, 5} and strengths.count(3) > len(strengths) / 2  # the default
    assert all(len(ids) == 2 for ids, *_ in source.drawn)  # one of the four, and the empty one
    assert len({tuple(seeds) for _, seeds, _, _ in source.drawn}) == len(source.drawn)
    assert all(min(seeds) >= run.CALIBRATION_SEED for _, seeds, _, _ in source.drawn)
    assert all(not ids[-1].any() and ids[:-1].any(axis=1).all() for ids, *_ in source.drawn)
    words = {tuple(row) for ids, *_ in source.drawn for row in ids}
    assert len(words) == 5  # the four prompts and the empty one
    moments, _ = measured
    times = sum(steps * len(ids) for ids, _, steps, _ in source.drawn)
    assert np.trace(moments["dit.time1"]) == pytest.approx(times * 192 / 2)  # cos² + sin² = 1
    far = np.linalg.matrix_rank(moments["dit.time1"], tol=1e-3 * times)
    assert far > 60  # of the times that 1, 2, 4, 8 and 16 steps pass through there are 16


def test_the_text_encoder_is_measured_on_words_without_padding(source, measured):
    moments, read = measured
    captions = [ids for ids in read if ids.shape[1] < 32]
    assert sum(len(ids) for ids in captions) > 150 and all((ids != 0).all() for ids in captions)
    with torch.no_grad(), recorded(source.model.text, "text") as seen:
        for ids in captions:
            source.model.text(ids)
    assert set(seen) == {name for name in moments if name.startswith("text.")}
    for name, moment in seen.items():
        np.testing.assert_allclose(moments[name], moment, rtol=1e-6)


def test_each_layer_is_rounded_by_its_own_moment(source, measured):
    moments, _ = measured
    state = {name: value.numpy() for name, value in source.model.state_dict().items()}
    file = text_and_dit(state, moments)
    for name, gain in (("dit.time2", 1), ("dit.blocks.1.fc1", 1), ("dit.blocks.0.q", 32**-0.5)):
        weight = state[f"{name}.weight"] * np.float32(gain)
        codes, _ = quantize_rows(weight, moments[name])
        assert np.array_equal(file[f"{name}.weight"].values, codes)
        assert not np.array_equal(codes, quantize_rows(weight)[0])


def test_a_model_that_draws_no_numbers_is_refused(source, monkeypatch):
    ids, latents = tokens(["мужчина"], FORMS), np.ones((1, 16, 16, 4), np.float32)
    monkeypatch.setattr(run, "CAPTIONS", 20)
    monkeypatch.setattr(run, "PACES", (1,))
    monkeypatch.setattr(source.model.dit.time1.weight, "data", torch.full((192, 192), 3e38))
    with pytest.raises(TtiError, match=r"layer dit.time2 is given numbers that are too large"):
        run._moments(source, FACE_DOMAIN, ids, latents)


@pytest.mark.parametrize("own", [["кот"], []])
def test_calibration_takes_the_prompts_of_the_domain(repo, monkeypatch, own):
    """Four seeds of each for the scales; for the moments each prompt once, one latent in four."""
    given = {}

    class Source:
        def __init__(self, diffusion, autoencoder):
            self.model, self.decoder = TextToLatent(), Decoder()
            self.mean = self.std = torch.ones(4)

        def latents(self, ids, seeds, note):
            given["drawn"] = ids
            return np.zeros((len(seeds), 16, 16, 4), np.float32)

    def moments(source, domain, ids, latents):
        given.update(ids=ids, latents=latents)
        return {}

    domain = SimpleNamespace(vocabulary=SimpleNamespace(forms={"кот": 7}), prompts=own)
    monkeypatch.setattr(run, "FloatModel", Source)
    monkeypatch.setattr(run, "domain_of", lambda data: domain if own else FACE_DOMAIN)
    monkeypatch.setattr(run, "_moments", moments)
    float16 = repo / "models" / "float16"
    paths = float16 / "diffusion.safetensors", float16 / "autoencoder.safetensors"
    run.calibrated(*paths, 99.0)
    count = len(own) or 64
    assert given["ids"].shape == (count, 32) and len(given["latents"]) == count
    assert np.array_equal(given["drawn"], np.repeat(given["ids"], 4, axis=0))
    assert (given["ids"][0, 0] == 7) == bool(own)


def test_an_export_uses_one_thread(repo, tmp_path, monkeypatch):
    threads = []

    def stop(diffusion):
        threads.append(torch.get_num_threads())
        raise TtiError("far enough")

    monkeypatch.setattr(run, "check_distilled", stop)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    done = CliRunner().invoke(app, ["export", "--diffusion", "a", "--autoencoder", "b", "-o", "c"])
    torch.set_num_threads(before)
    assert done.exit_code != 0 and threads == [1]
