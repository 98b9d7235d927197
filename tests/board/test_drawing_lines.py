"""What a board prints becomes a picture, or is refused; nothing in between."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.board.drawing import PICTURE_BYTES, Artist, Recipe, Watch
from ttikit.board.session import MARK, SessionError, _Lines


def printed(pixels, notes=(), seed=7):
    """What device/drawing.py prints for a picture."""
    lines = [f"{MARK} note {note}" for note in notes] + [f"{MARK} step"]
    for at in range(0, PICTURE_BYTES, 192):
        lines.append(f"{MARK} row {base64.b64encode(pixels[at : at + 192]).decode()}")
    return [*lines, f"{MARK} done {seed} {zlib.crc32(pixels):08x}"]


class Terminal:
    """Stands in for a `Session`: its board prints these bytes."""

    port = "terminal"

    def __init__(self, lines):
        self.bytes = "".join(line + "\r\n" for line in lines).encode() + b"\x04"

    def load(self, name):
        pass

    def run(self, code, on_line=None):
        if code == "about()":
            return [f"{MARK} about 0000abcd"]
        lines = _Lines(on_line)
        lines.take(self.bytes)
        lines.end()
        return []


SPECIAL = st.sampled_from([0x03, 0x04, 0x0A, 0x0D, 0x00, 0xFF])


@given(st.binary(min_size=1, max_size=64), st.lists(SPECIAL, max_size=40))
def test_any_bytes_come_back(start, special):
    pixels = (start + bytes(special) * 400).ljust(PICTURE_BYTES, b"\x0a")[:PICTURE_BYTES]
    seen, other = [], []
    watch = Watch(seen.append, other.append)
    lines = ["boot.py says hello", *printed(pixels, ["слово «кот»"])]
    drawing, _ = Artist(Terminal(lines)).draw(Recipe("кот", None, 1, 3), watch)
    assert drawing.pixels == pixels
    assert (drawing.seed, drawing.fingerprint) == (7, 0xABCD)
    assert drawing.notes == ("слово «кот»",)
    assert (seen, other) == ([1], ["boot.py says hello"])


@given(st.data())
def test_a_garbled_picture_is_refused(data):
    pixels = bytes(range(256)) * 48
    lines = printed(pixels)
    n = data.draw(st.integers(1, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[n]) - 1))
    how = data.draw(st.sampled_from(["change", "drop", "cut", "lose"]))
    line = lines[n]
    if how == "change":
        lines[n] = line[:at] + chr(data.draw(st.integers(33, 126))) + line[at + 1 :]
    elif how == "drop":
        lines[n] = line[:at] + line[at + 1 :]
    elif how == "cut":
        lines[n] = line[:at]
    else:
        del lines[n]
    try:
        drawing, _ = Artist(Terminal(lines)).draw(Recipe("кот", None, 1, 3))
    except SessionError as error:
        assert "garbled on its way; repeat" in str(error)
    else:
        assert drawing.pixels == pixels  # the seed, or a blank at the end


def test_a_board_that_answers_nonsense_is_refused():
    class Nonsense(Terminal):
        def run(self, code, on_line=None):
            return ["tti> about", "hello"]

    with pytest.raises(SessionError, match="terminal: the picture was garbled"):
        Artist(Nonsense([]))
