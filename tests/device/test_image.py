"""Pictures in files and in the terminal."""

import io
import random

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def picture(tti):
    data = bytearray(random.Random(1).randbytes(12288))
    return tti.Image(data, "пожилой мужчина", 7, 8, 3)


@pytest.mark.parametrize("kind", ["png", "bmp"])
def test_files_hold_the_same_pixels(picture, tmp_path, kind):
    path = tmp_path / f"face.{kind}"
    picture.save(str(path))
    with Image.open(path) as image:
        image.load()
        assert image.format == kind.upper()
        assert image.convert("RGB").tobytes() == bytes(picture.data)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_png_tells_how_it_was_drawn(picture):
    with Image.open(io.BytesIO(picture.png())) as image:
        assert image.text["tti"] == "пожилой мужчина\nseed 7\nsteps 8\nguidance 3.00"


def test_rgb565(picture):
    got = np.frombuffer(picture.rgb565(), ">u2")
    r, g, b = np.frombuffer(picture.data, np.uint8).reshape(-1, 3).astype(int).T
    assert (got == (r >> 3) << 11 | (g >> 2) << 5 | b >> 3).all()


def test_ansi_lines_hold_every_pixel(picture):
    lines = list(picture.lines())
    assert len(lines) == 32
    numbers = [part.split("m")[0] for line in lines for part in line.split("8;2;")[1:]]
    pixels = np.array([[int(n) for n in part.split(";")] for part in numbers]).reshape(
        32, 64, 2, 3
    )
    whole = np.frombuffer(picture.data, np.uint8).reshape(32, 2, 64, 3).transpose(0, 2, 1, 3)
    assert (pixels == whole).all()


def test_ascii_goes_from_dark_to_bright(tti):
    grey = bytearray(np.repeat(np.arange(64, dtype=np.uint8) * 4 + 3, 3).tobytes() * 64)
    lines = list(tti.Image(grey, "x", 0, 1, 1).lines(color=False))
    assert len(lines) == 32
    shades = " .:-=+*#%@"
    found = [shades.index(ch) for ch in lines[0]]
    assert found == sorted(found)
    assert set(found) == set(range(10))


def test_no_color(picture, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    picture.show()
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    picture.show()
    assert "\x1b[38;2;" in capsys.readouterr().out


def test_another_ending_is_refused(picture):
    with pytest.raises(ValueError, match=r"saved as \.png or \.bmp, not as face\.gif"):
        picture.save("face.gif")


def test_a_failed_write_keeps_the_old_file(picture, tmp_path):
    path = tmp_path / "face.png"
    path.write_bytes(b"old")
    (tmp_path / "face.png.part").mkdir()  # stands for a full disk
    with pytest.raises(OSError, match=r"can't write .*face\.png"):
        picture.save(str(path))
    assert path.read_bytes() == b"old"


def test_a_folder_in_the_way_leaves_nothing_behind(picture, tmp_path):
    (tmp_path / "face.png").mkdir()
    with pytest.raises(OSError, match=r"can't write .*face\.png"):
        picture.save(str(tmp_path / "face.png"))
    assert [p.name for p in tmp_path.iterdir()] == ["face.png"]


@pytest.mark.parametrize("path", [None, 5, b"face.png"])
def test_a_path_is_text(picture, path):
    with pytest.raises(TypeError, match="saved under a path"):
        picture.save(path)


def test_repr_is_short_and_readable(picture):
    assert repr(picture) == "<Image 64x64 «пожилой мужчина» seed=7 steps=8 guidance=3.00>"
