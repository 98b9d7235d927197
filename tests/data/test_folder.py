"""Own pictures and their table: every kind of picture, every fault in one sentence."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from ttikit.data.attributes import INDEX, UNKNOWN
from ttikit.data.collect import collect
from ttikit.data.dataset import FaceDataset
from ttikit.data.domain import FACE_DOMAIN
from ttikit.data.folder import read_folder
from ttikit.data.pictures import read_picture
from ttikit.errors import TtiError


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    for i in range(10):
        Image.new("RGB", (90, 70), (20 * i, 0, 0)).save(folder / f"{i}.png")
    Image.new("RGB", (64, 64), "blue").save(folder / "more" / "a.jpg")
    return folder


def table(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_values_and_missing_columns(pictures: Path, tmp_path: Path) -> None:
    path = table(tmp_path, "file,Male,Young\n0.png,1,0\n1.png,,-1\nmore/a.jpg,0,1\n")
    collection = read_folder(pictures, path, FACE_DOMAIN, 0)
    collect(collection, tmp_path / "d")
    data = FaceDataset(tmp_path / "d")
    assert data.labels[:, INDEX["Male"]].tolist() == [1, UNKNOWN, 0]
    assert data.labels[:, INDEX["Young"]].tolist() == [0, UNKNOWN, 1]
    assert (data.labels[:, INDEX["Bald"]] == UNKNOWN).all()
    assert data.images[2].mean((0, 1))[2] > 240


@pytest.mark.parametrize(
    "text",
    [
        "\ufefffile;Male\r\n0.png;1\r\n\r\nmore\\a.jpg; 0 \r\n",  # as Excel writes it
        'file,Male\n"0.png",1\n"more/a.jpg",0',
        "file\tMale\n0.png\t1\n more/a.jpg\t0\n\t\n",
    ],
)
def test_tables_of_other_programs_are_read_alike(pictures: Path, tmp_path: Path, text) -> None:
    names, labels = read_folder(pictures, table(tmp_path, text), FACE_DOMAIN, 0).train
    assert names == ["0.png", "more/a.jpg"]
    assert labels[:, INDEX["Male"]].tolist() == [1, 0]


def test_the_pictures_kept_aside_depend_on_their_names_only(
    pictures: Path, tmp_path: Path
) -> None:
    rows = [f"{i}.png,{i % 2}" for i in range(10)]
    first = read_folder(
        pictures, table(tmp_path, "\n".join(["file,Male", *rows])), FACE_DOMAIN, 0.3
    )
    rows.reverse()
    again = read_folder(
        pictures, table(tmp_path, "\n".join(["file,Male", *rows])), FACE_DOMAIN, 0.3
    )
    assert len(first.held_out[0]) == 3 and len(first.train[0]) == 7
    assert sorted(first.held_out[0]) == sorted(again.held_out[0])
    for names, labels in (first.train, first.held_out):
        assert labels[:, INDEX["Male"]].tolist() == [int(name[0]) % 2 for name in names]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: its first line is file,ATTRIBUTE"),
        ("name,Male\n0.png,1\n", "first column is file, not 'name'"),
        ("file\n0.png\n", "no column of an attribute"),
        ("file,male\n0.png,1\n", "'male' is no attribute; did you mean Male"),
        ("file,Eye glasses\n0.png,1\n", "'Eye glasses' is no attribute; did you mean Eyeglasses"),
        ("file,Zebra\n0.png,1\n", "'Zebra' is no attribute; use names from 5_o_Clock"),
        ("file,Male,Male\n0.png,1,1\n", "two columns Male"),
        ("file,Male\n0.png,1\n\n0.png,0\n", "line 4: 0.png stands in line 2 already"),
        ("file,Male\n0.png,yes\n", "line 2: Male is 'yes', not 0, 1"),
        ("file,Male\n0.png,1,1\n", "line 2, has 3 cells, not 2"),
        ("file,Male\n77.png,1\n78.png,1\n", "77.png and 1 more are missing"),
        ("file,Male\n77.png,1\n", "77.png is missing"),
        ("file,Male\nno/77.png,1\n", "no/77.png is missing"),
        ("file,Male\n../table.csv,1\n", "no path below the folder"),
        ("file,Male\n,1\n", "'' is no path below"),
        ('file,Male\n"0.png,1\n', "is no CSV"),
        ("file,Male\n0.png,1\n".encode("utf-16"), "is not UTF-8.*CSV UTF-8"),
    ],
)
def test_faults_of_the_table_are_one_sentence(pictures, tmp_path, text, message) -> None:
    with pytest.raises(TtiError, match=message) as caught:
        read_folder(pictures, table(tmp_path, text), FACE_DOMAIN, 0)
    assert "\n" not in str(caught.value)


def test_wrong_options_are_refused(pictures: Path, tmp_path: Path) -> None:
    path = table(tmp_path, "file,Male\n0.png,1\n")
    with pytest.raises(TtiError, match="share from 0 to below 1, not 1"):
        read_folder(pictures, path, FACE_DOMAIN, 1)
    with pytest.raises(TtiError, match="is no folder"):
        read_folder(tmp_path / "x", path, FACE_DOMAIN, 0)
    with pytest.raises(TtiError, match="cannot be read"):
        read_folder(pictures, tmp_path / "x.csv", FACE_DOMAIN, 0)
    empty = table(tmp_path, "file,Male\n")
    with pytest.raises(TtiError, match="no picture is left to train on"):
        collect(read_folder(pictures, empty, FACE_DOMAIN, 0), tmp_path / "d")
    with pytest.raises(TtiError, match="--workers"):
        collect(read_folder(pictures, path, FACE_DOMAIN, 0), tmp_path / "d", 0)


def saved(tmp_path: Path, image: Image.Image, kind: str = "PNG", **options: object) -> Path:
    path = tmp_path / f"x.{kind.lower()}"
    image.save(path, kind, **options)
    return path


def halves(mode: str, left: object, right: object, size: tuple[int, int]) -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def test_kinds_of_pictures(tmp_path: Path) -> None:
    grey = read_picture(saved(tmp_path, halves("L", 0, 200, (100, 100))))
    assert grey[0, 0].tolist() == [0, 0, 0] and grey[0, 63].tolist() == [200, 200, 200]
    deep = np.full((80, 80), 0x8000, np.uint16)
    assert read_picture(saved(tmp_path, Image.fromarray(deep)))[5, 5].tolist() == [128] * 3
    clear = Image.new("RGBA", (70, 70), (255, 0, 0, 0))
    assert read_picture(saved(tmp_path, clear))[9, 9].tolist() == [255, 255, 255]
    palette = halves("RGB", "red", "blue", (64, 64)).convert("P")
    assert read_picture(saved(tmp_path, palette))[9, 9].tolist()[0] > 240
    cmyk = Image.new("RGB", (64, 64), "green").convert("CMYK")
    assert read_picture(saved(tmp_path, cmyk, "JPEG"))[9, 9].argmax() == 1


def test_the_centre_is_kept_and_small_and_huge_pictures_work(tmp_path: Path) -> None:
    wide = Image.new("RGB", (300, 100), "black")
    wide.paste("white", (100, 0, 200, 100))
    assert read_picture(saved(tmp_path, wide)).min() > 240
    assert read_picture(saved(tmp_path, Image.new("RGB", (1, 1), "white"))).min() == 255
    large = halves("RGB", "black", "white", (3000, 3000))
    picture = read_picture(saved(tmp_path, large, "JPEG"))
    assert picture[:, :31].max() < 60 and picture[:, 33:].min() > 200


def test_the_orientation_of_a_camera_is_applied(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise: the left half comes to the top
    turned = halves("RGB", "black", "white", (128, 128))
    picture = read_picture(saved(tmp_path, turned, "JPEG", exif=exif))
    assert picture[:28].max() < 60 and picture[36:].min() > 200


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    with pytest.raises(TtiError, match=r"x\.png is missing"):
        read_picture(path)
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(buffer, "PNG")
    path.write_bytes(buffer.getvalue()[:900])
    with pytest.raises(TtiError, match=r"x\.png is damaged"):
        read_picture(path)
    path.write_text("hello")
    with pytest.raises(TtiError, match=r"x\.png is no picture"):
        read_picture(path)
