"""CelebA as it is distributed, in small: read, framed, and refused in one sentence if damaged."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from ttikit.data.attributes import ATTRIBUTES, CELEBA_ATTRIBUTES, INDEX, UNKNOWN
from ttikit.data.celeba import read_celeba
from ttikit.data.cli import app
from ttikit.data.collect import collect
from ttikit.data.dataset import FaceDataset
from ttikit.data.domain import FACE_DOMAIN
from ttikit.data.domain_file import licence_of
from ttikit.errors import TtiError
from typer.testing import CliRunner

COLUMNS = sorted((*CELEBA_ATTRIBUTES, "Attractive"))
PEOPLE = {
    "000001.jpg": ("Male", "Mustache", "Young", "Attractive", "Black_Hair"),
    "000002.jpg": ("Male", "Eyeglasses"),
    "000003.jpg": ("No_Beard", "Smiling", "Young", "Wearing_Lipstick", "Pale_Skin"),
    "000004.jpg": ("Male", "No_Beard", "Bald", "Eyeglasses"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four pictures with eyes where CelebA has them, and the lists."""
    root = tmp_path / "celeba"
    (root / "img_align_celeba").mkdir(parents=True)
    y, x = np.mgrid[:218, :178]
    for number, name in enumerate(PEOPLE):
        pixels = np.full((218, 178, 3), (190, 150, 120 + number), np.uint8)
        for eye in (69, 108):
            pixels[(x - eye) ** 2 + (y - 111) ** 2 < 30] = 0
        Image.fromarray(pixels).save(root / "img_align_celeba" / name, quality=95)
    lines = [str(len(PEOPLE)), " ".join(COLUMNS) + " "]
    for name, has in PEOPLE.items():
        lines.append(f"{name} " + " ".join(" 1" if c in has else "-1" for c in COLUMNS))
    (root / "list_attr_celeba.txt").write_text("\r\n".join(lines) + "\r\n")
    (root / "list_eval_partition.txt").write_text(
        "".join(f"{name} {part}\n" for name, part in zip(PEOPLE, (0, 0, 1, 2), strict=True))
    )
    return root


def test_pictures_labels_and_partition(root: Path, tmp_path: Path) -> None:
    arguments = ["celeba", "--root", str(root), "--out", str(tmp_path / "d"), "--workers", "1"]
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert json.loads(result.stdout.splitlines()[-1])["train"] == 2
    train, held_out = (FaceDataset(tmp_path / "d", split) for split in ("train", "held-out"))
    assert (len(train), len(held_out)) == (2, 2)
    assert train.attributes == ATTRIBUTES
    assert train.data == {"source": "celeba", "domain": ""}
    for labels, has in zip([*train.labels, *held_out.labels], PEOPLE.values(), strict=True):
        named = dict(zip(ATTRIBUTES, labels, strict=True))
        for name in CELEBA_ATTRIBUTES:
            assert named[name] == (name in has), name


def test_eyes_lie_where_our_renders_have_them(root: Path, tmp_path: Path) -> None:
    collect(read_celeba(root), tmp_path / "d")
    dark = FaceDataset(tmp_path / "d").images[0].min(2) < 90
    rows, columns = np.nonzero(dark)
    assert rows.mean() == pytest.approx(30.7, abs=0.6)
    left, right = columns[columns < 32].mean(), columns[columns > 32].mean()
    assert right - left == pytest.approx(13, abs=0.5)
    assert (left + right) / 2 == pytest.approx(31.5, abs=0.6)


def test_what_celeba_does_not_know_is_unknown(root: Path) -> None:
    collection = read_celeba(root)
    labels = np.concatenate([collection.train[1], collection.held_out[1]])

    def column(name: str) -> list[int]:
        return labels[:, INDEX[name]].tolist()

    assert column("Blue_Eyes") == column("Freckles") == column("Surprised") == [UNKNOWN] * 4
    assert column("Sunglasses") == [0, UNKNOWN, 0, UNKNOWN]
    assert column("Full_Beard") == [UNKNOWN, 1, 0, 0]
    assert column("Red_Hair") == [0, UNKNOWN, UNKNOWN, UNKNOWN]
    assert column("Sad") == [UNKNOWN, UNKNOWN, 0, UNKNOWN]
    assert column("Dark_Skin") == [UNKNOWN, UNKNOWN, 0, UNKNOWN]
    rng = np.random.default_rng(0)
    texts = " ".join(FACE_DOMAIN.caption(row, rng) for row in labels for _ in range(150))
    assert "очках" in texts and "glasses" in texts and "beard" in texts
    for word in ("серьез", "serious", "dark glasses", "sunglasses", "eyes", "глаз", "корот"):
        assert word not in texts


def test_it_goes_on_and_refuses_other_labels(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "d"
    collect(read_celeba(root), out)
    before = (out / "train-images-00000.npy").read_bytes()
    (out / "train-images-00000.npy").unlink()
    counted: list[tuple[int, int]] = []
    collect(read_celeba(root), out, 2, lambda done, total: counted.append((done, total)))
    assert counted == [(2, 4), (4, 4)]
    assert (out / "train-images-00000.npy").read_bytes() == before
    with pytest.raises(TtiError, match="another set of pictures, labels or options"):
        collect(read_celeba(root, train=1), out)
    change(root / "list_attr_celeba.txt", "000002.jpg -1", "000002.jpg 1")
    with pytest.raises(TtiError, match="another set of pictures, labels or options"):
        collect(read_celeba(root), out)


def test_without_a_partition_every_tenth_is_kept_aside_and_counts_limit(root: Path) -> None:
    (root / "list_eval_partition.txt").unlink()
    assert [len(part[0]) for part in (read_celeba(root).train, read_celeba(root).held_out)] == [
        4,
        0,
    ]
    assert read_celeba(root, train=3).train[0] == list(PEOPLE)[:3]


def test_the_folders_of_the_archive_are_found(root: Path) -> None:
    for folder, name in (
        ("Img", "img_align_celeba"),
        ("Anno", "list_attr_celeba.txt"),
        ("Eval", "list_eval_partition.txt"),
    ):
        (root / folder).mkdir()
        (root / name).rename(root / folder / name)
    assert len(read_celeba(root).held_out[0]) == 2


def change(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("attr", "4\r\n", "5\r\n", "lists 4 pictures, not 5"),
        ("attr", "4\r\n", "file\r\n", "does not begin with the number of pictures"),
        ("attr", "Bangs", "Fringe", r"other columns than CelebA's 40 \(Bangs\)"),
        ("attr", "Bangs ", "", r"other columns than CelebA's 40 \(Bangs\)"),
        ("attr", "Bangs", "Bald", r"other columns than CelebA's 40 \(Bangs\)"),
        ("attr", "000002.jpg -1", "000002.jpg 0", "line 4, is not a name and 40 times 1 or -1"),
        ("attr", "000002.jpg -1", "000002.jpg", "line 4, is not a name and 40 times 1 or -1"),
        ("attr", "000002.jpg", "000001.jpg", "lists a picture twice"),
        ("attr", "000002.jpg", "000009.jpg", r"img_align_celeba/000009.jpg is missing"),
        ("attr", "000002.jpg", "00000я.jpg", "cannot be read"),
        ("eval", "000002.jpg 0", "000002.jpg 3", "does not hold a name and 0, 1 or 2"),
        ("eval", "000002.jpg 0\n", "", "does not say where 000002.jpg belongs"),
    ],
)
def test_damaged_lists_are_one_sentence(root: Path, file, old, new, message) -> None:
    name = "list_attr_celeba.txt" if file == "attr" else "list_eval_partition.txt"
    change(root / name, old, new)
    with pytest.raises(TtiError, match=message) as caught:
        read_celeba(root)
    assert "\n" not in str(caught.value)


def test_damaged_pictures_are_named(root: Path, tmp_path: Path) -> None:
    path = root / "img_align_celeba" / "000002.jpg"
    whole = path.read_bytes()
    for content, message in (
        (whole[: len(whole) // 2], "is damaged"),
        (b"", "is no picture that can be read"),
        (b"<html>", "is no picture that can be read"),
    ):
        path.write_bytes(content)
        with pytest.raises(TtiError, match=rf"000002\.jpg {message}"):
            collect(read_celeba(root), tmp_path / "d")
    Image.new("RGB", (178, 200)).save(path)
    with pytest.raises(TtiError, match=r"000002\.jpg has 178×200 pixels, not 178×218"):
        collect(read_celeba(root), tmp_path / "d")
    path.write_bytes(whole)
    collect(read_celeba(root), tmp_path / "d")
    assert len(FaceDataset(tmp_path / "d")) == 2


def test_a_missing_root_says_what_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(TtiError, match="--root is the folder of CelebA"):
        read_celeba(tmp_path)


def test_the_three_trainings_read_it_and_say_where_it_comes_from(
    root, tmp_path, monkeypatch
) -> None:
    pytest.importorskip("torch")
    from ttikit.cli import app as ttikit
    from ttikit.training.checkpoint import load_tensors

    monkeypatch.chdir(tmp_path)
    for line in (
        f"data celeba --root {root} --out data --workers 1",
        "train autoencoder --data data --out ae --samples 4 --batch 2",
        "train latents --data data --autoencoder ae/export.safetensors --out l.safetensors",
        "train diffusion --latents l.safetensors --out dit --samples 4 --batch 2",
    ):
        result = CliRunner().invoke(ttikit, line.split())
        assert result.exit_code == 0, (line, result.output, result.exception)
    _, metadata = load_tensors(Path("dit/export.safetensors"))
    assert metadata["pictures"] == 2
    assert licence_of(metadata["data"]) == "non-commercial research only; trained on CelebA"
    assert licence_of({}).startswith("MIT; trained on our own renders")
    assert licence_of({"source": "folder"}).startswith("not stated")
