"""A trial draws what the model would draw elsewhere, and counts it like the evaluation."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")

from ttikit.data.attributes import ATTRIBUTES, INDEX  # noqa: E402
from ttikit.data.vocabulary import FORMS  # noqa: E402
from ttikit.errors import TtiError  # noqa: E402
from ttikit.evaluate.expectations import parse  # noqa: E402
from ttikit.evaluate.trial import FloatArtist, Way, run_trial  # noqa: E402
from ttikit.export import reference  # noqa: E402
from ttikit.training.checkpoint import load_tensors, read_metadata, save_tensors  # noqa: E402
from ttikit.training.cli import app  # noqa: E402
from ttikit.training.diffusion import latent_space  # noqa: E402
from ttikit.training.models import Autoencoder, ModelConfig, TextToLatent  # noqa: E402
from ttikit.training.pairs import Painter  # noqa: E402
from ttikit.training.reader import Reader, load_reader  # noqa: E402
from ttikit.training.recipes import GUIDES, PACES  # noqa: E402

JOBS = [("девушка в очках", 3), ("old man", 4), ("лысый мужчина", 3)]


@pytest.fixture(scope="module")
def files(repo, tmp_path_factory):
    """Teacher, student and reader of random weights, and the shipped autoencoder."""
    folder = tmp_path_factory.mktemp("files")
    autoencoder = repo / "models" / "float16" / "autoencoder.safetensors"
    shipped = read_metadata(repo / "models" / "float16" / "diffusion.safetensors")
    torch.manual_seed(0)
    for name, rows in (("teacher", {}), ("student", {"guides": GUIDES, "paces": PACES})):
        model = TextToLatent(ModelConfig(**rows))
        for part, parameter in model.named_parameters():  # loud where prompts and guidance speak
            loud = part.startswith(("null", "guide", "text"))
            torch.nn.init.normal_(parameter, std=0.1 if loud else 0.03)
        scale = {"latent.mean": torch.zeros(4), "latent.std": torch.ones(4)}
        about = {**shipped, "config": model.config.to_dict()}
        save_tensors(folder / name, {**model.state_dict(), **scale}, about)
    about = {"attributes": list(ATTRIBUTES), "autoencoder": shipped["autoencoder"]}
    config = ModelConfig()
    read = {"kind": "reader", "config": config.to_dict(), **about}
    reader = Reader(len(ATTRIBUTES), config)
    for parameter in reader.parameters():  # or it would hardly push
        torch.nn.init.normal_(parameter, std=0.1)
    torch.nn.init.normal_(reader.asked.weight, std=3.0)
    save_tensors(folder / "reader", reader.state_dict() | scale, read)
    return {name: folder / name for name in ("teacher", "student", "reader")} | {
        "autoencoder": autoencoder
    }


def test_a_student_draws_what_the_float_reference_draws(files):
    artist = FloatArtist(files["student"], files["autoencoder"], Way(steps=2, guidance=4.0))
    model = reference.FloatModel(files["student"], files["autoencoder"])
    tokens = reference.tokens([prompt for prompt, _ in JOBS], FORMS)
    latents = model.latents(tokens, [seed for _, seed in JOBS], 2, 4.0)
    ours = artist.pictures(JOBS, "").astype(int)
    assert abs(ours - model.pictures(latents)).max() <= 1
    assert ours[0].std() > 5 and abs(ours[0] - ours[1]).mean() > 1


def test_any_number_of_pictures_is_the_same_as_one_by_one(files, monkeypatch):
    artist = FloatArtist(files["student"], files["autoencoder"], Way(steps=1))
    monkeypatch.setattr("ttikit.evaluate.trial.BATCH", 2)
    together = artist.pictures(JOBS, "")
    alone = np.concatenate([artist.pictures([job], "") for job in JOBS])
    assert together.shape == (3, 64, 64, 3)
    assert abs(together.astype(int) - alone).max() <= 1


@pytest.mark.parametrize("pushed", [False, True])
def test_a_teacher_draws_as_for_its_pairs(files, pushed):
    way = Way(guidance=3.0, reader=files["reader"] if pushed else None)
    artist = FloatArtist(files["teacher"], files["autoencoder"], way)
    drawn = artist.pictures(JOBS[:1], "")
    space = latent_space(files["teacher"])
    reader = load_reader(files["reader"], space) if pushed else None
    end = Painter(artist.model, reader).end(
        reference.board_noise(3),
        torch.from_numpy(reference.tokens([JOBS[0][0]], FORMS).astype(np.int64)),
        torch.tensor([False]),
        torch.tensor([3.0]),
    )
    model = reference.FloatModel(files["student"], files["autoencoder"])
    assert abs(drawn.astype(int) - model.pictures(end.numpy())).max() <= 1


def test_ways_that_do_not_fit_are_refused(files):
    with pytest.raises(TtiError, match="leave out --steps"):
        FloatArtist(files["teacher"], files["autoencoder"], Way(steps=4))
    with pytest.raises(TtiError, match="leave out --reader"):
        FloatArtist(files["student"], files["autoencoder"], Way(reader=files["reader"]))
    with pytest.raises(TtiError, match="no diffusion"):
        FloatArtist(files["reader"], files["autoencoder"], Way())
    stranger = files["reader"].with_name("stranger")
    tensors, about = load_tensors(files["reader"])
    save_tensors(stranger, tensors | {"latent.std": 2 * torch.ones(4)}, about)
    with pytest.raises(TtiError, match="stranger was trained on latents of another scale"):
        FloatArtist(files["teacher"], files["autoencoder"], Way(reader=stranger))
    other = files["student"].with_name("other")
    save_tensors(other, Autoencoder().state_dict(), {"kind": "autoencoder"})
    with pytest.raises(TtiError, match="other is another autoencoder than the one"):
        FloatArtist(files["student"], other, Way())


class Marks:
    """A judge that finds the attributes whose number is written into the first pixels."""

    clear = ("Bald",)
    thresholds = np.full(len(ATTRIBUTES), 0.5, np.float32)

    def look(self, pictures):
        seen = pictures.reshape(len(pictures), -1)[:, : len(ATTRIBUTES)].astype(np.float32)
        return seen, seen

    def present(self, probabilities):
        return probabilities > 0.5


class Faces:
    """An artist of men; those of even seeds are bald, the old ones are all of seed 0."""

    def pictures(self, jobs, note):
        out = np.zeros((len(jobs), 64 * 64 * 3), np.uint8)
        for row, (_, seed) in zip(out, jobs, strict=True):
            row[INDEX["Male"]] = 1
            row[INDEX["Bald"]] = seed % 2 == 0
            row[INDEX["Young"]] = seed > 0
        return out.reshape(-1, 64, 64, 3)


class Renders:
    held_out = type("", (), {"labels": np.zeros((9, len(ATTRIBUTES)), np.uint8)})

    def __init__(self, *given):
        self.given = given

    def distance(self, features):
        return float(len(features))

    def baseline(self, count):
        return count / 2


def test_figures_count_what_the_page_counts():
    some = parse("лысый старик: Male=1, Young=0, Bald=1, Smiling=1\nженщина: Male=0")
    figures = run_trial(Faces(), Marks(), 4, Renders(), 6, some)
    assert figures["pictures"] == 8
    assert figures["failed"] == 7 / 8  # all but the bald old man of seed 0
    assert figures["failed_but_for_age"] == 6 / 8  # seed 2 is only too young
    assert figures["present"] == (4 + 1 + 2 + 0) / 16  # Smiling is not seen clearly
    assert figures["presence"] == {"Man": 1.0, "Old": 0.25, "Bald": 0.5, "Woman": 0.0}
    assert figures["frechet"] == 6 and figures["frechet_of_real_latents"] == 3
    figures = run_trial(Faces(), Marks(), 1, Renders(), 100, some)  # there are no more than nine
    assert (figures["captions"], figures["frechet"]) == (9, 9)
    assert figures["frechet_of_real_latents"] == 4.5
    assert "frechet" not in run_trial(Faces(), Marks(), 1, expectations=some)


def test_the_command(repo, files, monkeypatch):
    monkeypatch.chdir(repo)
    few = parse("лысый мужчина: Male=1, Bald=1\nдевушка: Male=0")
    monkeypatch.setattr("ttikit.evaluate.trial.read_expectations", lambda: few)
    monkeypatch.setattr("ttikit.evaluate.reference.Reference", Renders)
    names = "--diffusion", files["student"], "--autoencoder", files["autoencoder"]
    given = ["trial", *map(str, names), "--seeds", "2", "--steps", "1"]
    found = CliRunner().invoke(app, [*given, "--json"])
    assert found.exit_code == 0, found.output
    figures = json.loads(found.stdout)
    assert figures["pictures"] == 4 and set(figures["presence"]) == {"Man", "Bald", "Woman"}
    text = CliRunner().invoke(app, [*given, "--data", "renders", "--pictures", "3"]).stdout
    assert f"{figures['failed']:.1%} of 4 pictures failed" in text
    assert "Fréchet distance of 3 captions 3.0; real latents, decoded: 1.5" in text
