"""What the guided teacher draws, and that its pairs survive a stop and are not mixed."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.training import pairs, speed  # noqa: E402
from ttikit.training.checkpoint import load_tensors, save_tensors  # noqa: E402
from ttikit.training.diffusion import EXPORT, save_diffusion  # noqa: E402
from ttikit.training.models import TextToLatent  # noqa: E402
from ttikit.training.reader import Reader  # noqa: E402
from ttikit.training.recipes import new_student  # noqa: E402

from .conftest import SMALL, captions, celebrities, small_cache, strangers  # noqa: E402


@pytest.fixture(scope="module")
def teacher():
    """A model of which every path carries a signal."""
    torch.manual_seed(0)
    model = TextToLatent(SMALL)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return model.requires_grad_(False)


@pytest.fixture(scope="module")
def files(teacher, tmp_path_factory):
    """A folder with a teacher, another one, a student and a reader."""
    folder, cache = tmp_path_factory.mktemp("files"), small_cache()
    torch.manual_seed(1)
    for name, model in (
        ("teacher", teacher),
        ("other", TextToLatent(SMALL)),
        ("student", new_student(teacher)),
    ):
        save_diffusion(folder / name, model.state_dict(), model.config, cache, {"samples": 1})
    about = {"attributes": ["Male"], "config": SMALL.to_dict(), "autoencoder": "test"}
    save_diffusion(folder / "celeba", teacher.state_dict(), SMALL, celebrities(), {"samples": 1})
    reader = Reader(1, SMALL)
    torch.nn.init.normal_(reader.shown.weight, std=3.0)  # or it would say the same of all faces
    torch.nn.init.normal_(reader.asked.weight, std=3.0)
    tensors = reader.state_dict() | cache.space.tensors
    save_tensors(folder / "reader", tensors, {"kind": "reader", **about})
    return folder


def draw(files, out, count=8, teacher="teacher", reader="reader", cache=None, chunk=4, seed=0):
    path = files / reader if reader else None
    return pairs.draw_pairs(
        cache or small_cache(), captions, files / teacher, out, count, path, chunk, seed
    )


def inputs(count=6):
    noise = torch.randn(count, 8, 8, 4, generator=torch.Generator().manual_seed(1))
    tokens = torch.arange(1, 2 * count + 1).view(count, 2)
    return noise, tokens, torch.arange(count) == 2, torch.linspace(1, 5, count)


class Sight:
    """A reader that always pulls the same way."""

    def pull(self, x, t, tokens):
        return torch.ones_like(x)


@pytest.mark.parametrize("reader", [None, Sight()])
def test_the_ends_are_those_of_late_guidance_and_push(teacher, reader):
    noise, tokens, hidden, guidance = inputs()
    ends = pairs.Painter(teacher, reader).end(noise, tokens, hidden, guidance)
    for i, g in enumerate(guidance.tolist()):
        w = 0.0 if hidden[i] else (g - 1) / 2 if g <= 3 else 1 + (g - 3) / 4
        x, null = noise[i : i + 1], teacher.null[None]
        text = null if hidden[i] else teacher.text(tokens[i : i + 1])
        for k in range(12):
            t = 1 - k / 12
            times = torch.tensor([t])
            velocity = teacher.dit(x, times, text)
            if t <= 0.8:
                bare = teacher.dit(x, times, null)
                velocity = bare + (1 + 2 * w) * (velocity - bare)
                # A pull of 1 is a velocity of −t/(1 − t).
                velocity -= 2.5 * w * t / (1 - t) * (reader is not None)
            x = x - velocity / 12
        torch.testing.assert_close(ends[i : i + 1], x, rtol=1e-3, atol=1e-3)


def test_half_precision_draws_nearly_the_same(files, monkeypatch):
    cache, cpu = small_cache(), torch.device("cpu")
    teacher = pairs.load_teacher(files / "other", cache).requires_grad_(False)
    torch.nn.init.normal_(teacher.dit.final.weight, std=0.1)
    seen = []
    teacher.dit.final.register_forward_hook(lambda layer, given, out: seen.append(out.dtype))
    painter = pairs.Painter(teacher, pairs.load_reader(files / "reader", cache.space))
    ends = []
    for halved, kind in ((set(), torch.float32), ({cpu.type}, torch.bfloat16)):
        monkeypatch.setattr(speed, "HALVED", halved)
        ends.append(painter.end(*inputs()))
        assert set(seen[-12:]) == {kind} and ends[-1].dtype == torch.float32
    change = (ends[0] - ends[1]).square().mean() / (ends[0] - inputs()[0]).square().mean()
    assert 0 < change < 1e-3


def test_a_reader_that_is_sure_pulls_in_full_precision(teacher, monkeypatch):
    monkeypatch.setattr(speed, "HALVED", {"cpu"})
    seen = []

    class Look:
        def pull(self, x, t, tokens):
            seen.append((x.dtype, (x[:1, 0, 0] @ x[:1, 0, 0].T).dtype))
            return torch.zeros_like(x)

    pairs.Painter(teacher, Look()).end(*inputs())
    assert len(seen) == 9 and set(seen) == {(torch.float32, torch.float32)}


def test_files_hold_what_was_drawn(files, teacher, tmp_path):
    result = draw(files, tmp_path, 190, chunk=50)
    assert result["pairs"] == 200 and math.isfinite(result["shortfall"])
    parts = [load_tensors(path) for path in sorted(tmp_path.iterdir())]
    assert len(parts) == 4
    tensors, about = parts[3]
    assert about["kind"] == "pairs" and about["autoencoder"] == "test" and about["seed"] == 0
    assert tensors["noise"].dtype == tensors["end"].dtype == torch.float16
    assert tensors["tokens"].dtype == torch.uint8 and tensors["tokens"].shape == (50, 32)
    known = pairs.load_reader(files / "reader", small_cache().space)
    noise, tokens = tensors["noise"].float(), tensors["tokens"].long()
    painter = pairs.Painter(teacher, known)
    end = painter.end(noise, tokens, tensors["hidden"].bool(), tensors["guidance"])
    torch.testing.assert_close(tensors["end"].float(), end, rtol=2e-3, atol=2e-3)
    shortfall = sum(known.shortfall(end, torch.full((50,), t), tokens) for t in (0.02, 0.1)) / 2
    torch.testing.assert_close(tensors["shortfall"], shortfall, rtol=1e-3, atol=1e-3)
    hidden = torch.cat([part["hidden"] for part, _ in parts]).float().mean().item()
    assert 0.005 < hidden < 0.1
    guidance = torch.cat([part["guidance"] for part, _ in parts])
    assert 0.5 < (guidance == 3).float().mean().item() < 0.7
    assert len(torch.cat([part["noise"][:, 0, 0, 0] for part, _ in parts]).unique()) > 180


def test_a_stop_loses_one_file_at_most(files, tmp_path, monkeypatch):
    draw(files, tmp_path / "whole", 12)
    original, calls = pairs.Painter.end, []

    def end(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(pairs.Painter, "end", end)
        with pytest.raises(KeyboardInterrupt):
            draw(files, tmp_path / "parts", 12)
    names = [path.name for path in sorted((tmp_path / "parts").iterdir())]
    assert names == ["00000.safetensors", "00001.safetensors"]
    (tmp_path / "parts" / names[0]).unlink()  # a lost one is drawn again
    before = (tmp_path / "parts" / names[1]).stat().st_mtime_ns
    assert draw(files, tmp_path / "parts", 12)["pairs"] == 12
    assert (tmp_path / "parts" / names[1]).stat().st_mtime_ns == before
    whole, parts = (sorted((tmp_path / name).iterdir()) for name in ("whole", "parts"))
    assert [path.read_bytes() for path in whole] == [path.read_bytes() for path in parts]
    assert draw(files, tmp_path / "parts", 12) == {"pairs": 12}


def test_pairs_of_other_origin_are_refused(files, tmp_path):
    draw(files, tmp_path, 4)
    others = {"teacher": "other"}, {"reader": None}, {"seed": 1}, {"cache": celebrities()}
    for options in others:
        with pytest.raises(TtiError, match=r"another teacher, reader, autoencoder, .* delete"):
            draw(files, tmp_path, **options)
    for stranger, what in strangers():
        with pytest.raises(TtiError, match=f"teacher .*{what}"):
            draw(files, tmp_path / "fresh", cache=stranger)
    with pytest.raises(TtiError, match="learned from pictures of celeba, and these are of render"):
        draw(files, tmp_path / "fresh", teacher="celeba")
    with pytest.raises(TtiError, match="distilled already"):
        draw(files, tmp_path / "fresh", teacher="student")
    save_tensors(tmp_path / "old" / "00000.safetensors", {}, {"kind": "pairs", "count": 0})
    with pytest.raises(TtiError, match="does not say 'autoencoder': it is too old, draw new pai"):
        draw(files, tmp_path / "old")
    save_tensors(tmp_path / "00009.safetensors", {}, {"kind": "diffusion"})
    with pytest.raises(TtiError, match="holds no pairs; give the folder"):
        draw(files, tmp_path)
    save_tensors(tmp_path / "run" / EXPORT, {}, {"kind": "diffusion"})
    with pytest.raises(TtiError, match="run holds a training run; name another folder"):
        draw(files, tmp_path / "run")


@pytest.mark.parametrize("options", [{"teacher": "nowhere"}, {"reader": "nowhere"}])
def test_missing_files_are_named_before_any_work(files, tmp_path, options):
    with pytest.raises(TtiError, match="nowhere cannot be read"):
        draw(files, tmp_path / "out", **options)
    (tmp_path / "file").touch()
    with pytest.raises(TtiError, match="file is a file; name a folder"):
        draw(files, tmp_path / "file")


def test_a_damaged_file_is_to_be_drawn_anew(files, tmp_path):
    draw(files, tmp_path, 8)
    torn = tmp_path / "00001.safetensors"
    whole = torn.read_bytes()
    torn.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(TtiError, match=r"00001.* is damaged.*; if it is damaged, delete it"):
        pairs.load_pairs(tmp_path, torch.device("cpu"))
    torn.write_bytes(whole[:50])
    with pytest.raises(TtiError, match=r"00001.* is damaged.*; if it is damaged, delete it"):
        draw(files, tmp_path, 8)
    torn.unlink()
    assert draw(files, tmp_path, 8)["pairs"] == 8 and torn.read_bytes() == whole
    (tmp_path / "copy of 00001.safetensors").write_bytes(whole)
    assert len(pairs.load_pairs(tmp_path, torch.device("cpu"))) == 8


def test_a_teacher_that_draws_no_numbers_is_refused(files, tmp_path, monkeypatch):
    monkeypatch.setattr(pairs.Painter, "end", lambda self, noise, *_: noise * torch.nan)
    with pytest.raises(TtiError, match="no numbers"):
        draw(files, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_least_obedient_are_left_out(files, tmp_path):
    draw(files, tmp_path, 80, chunk=40)
    parts = [load_tensors(path)[0] for path in sorted(tmp_path.iterdir())]
    every = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    asked = ((every["guidance"] >= 1.8) & (every["hidden"] == 0)).numpy()
    shortfall = every["shortfall"].numpy()
    worst = asked & (shortfall > np.quantile(shortfall[asked], 0.85))
    loaded = pairs.load_pairs(tmp_path, torch.device("cpu"), 0.15)
    assert 0 < worst.sum() == 80 - len(loaded) <= 12
    torch.testing.assert_close(loaded.end, every["end"][torch.from_numpy(~worst)])
    torch.testing.assert_close(loaded.guidance, every["guidance"][torch.from_numpy(~worst)])
    assert len(pairs.load_pairs(tmp_path, torch.device("cpu"))) == 80
    # Without a reader nothing is known about obedience, and all stay.
    assert draw(files, tmp_path / "plain", 8, reader=None) == {"pairs": 8}
    assert len(pairs.load_pairs(tmp_path / "plain", torch.device("cpu"), 0.15)) == 8


def test_folders_that_hold_nothing_to_learn_from_are_refused(files, tmp_path):
    with pytest.raises(TtiError, match="draw some with"):
        pairs.load_pairs(tmp_path, torch.device("cpu"))
    draw(files, tmp_path / "a", 4)
    draw(files, tmp_path / "b", 8, teacher="other")
    (tmp_path / "b" / "00001.safetensors").rename(tmp_path / "a" / "00001.safetensors")
    with pytest.raises(TtiError, match="of two teachers, readers or seeds"):
        pairs.load_pairs(tmp_path / "a", torch.device("cpu"))
