# A picture for people: in the terminal, in a file, on a display.

import os
from errno import EEXIST

from _tti import crc32

from .checks import picture_buffer
from .decoder import SIZE

_ROW = SIZE * 3
_SHADES = " .:-=+*#%@"  # dark to bright


class Image:
    """A 64×64 picture and how it was made.

    data: bytearray of 12,288 bytes, rows of R, G, B. `prompt`, `seed`, `steps` and `guidance` draw
    it again. notes: sentences on what of the prompt was not understood."""

    width = SIZE
    height = SIZE

    def __init__(self, data, prompt, seed, steps, guidance, notes=()):
        self.data = data
        self.prompt = prompt
        self.seed = seed
        self.steps = steps
        self.guidance = guidance
        self.notes = notes

    def __repr__(self):
        return "<Image %dx%d «%s» seed=%d steps=%d guidance=%.2f>" % (
            SIZE,
            SIZE,
            self.prompt,
            self.seed,
            self.steps,
            self.guidance,
        )

    def lines(self, color=True):
        """Yield the lines of the picture for a terminal: two rows of pixels per line.

        With color: 24-bit ANSI half blocks; otherwise plain ASCII by brightness."""
        for y in range(0, SIZE, 2):
            yield self._ansi(y) if color else self._ascii(y)

    def _ansi(self, y):
        data = self.data
        line = ""
        for at in range(y * _ROW, (y + 1) * _ROW, 3):
            top, low = data[at : at + 3], data[at + _ROW : at + _ROW + 3]
            line += "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dm\u2580" % (tuple(top) + tuple(low))
        return line + "\x1b[0m"

    def _ascii(self, y):
        data = self.data
        line = ""
        for at in range(y * _ROW, (y + 1) * _ROW, 3):
            light = 0
            for k in (at, at + _ROW):
                light += 77 * data[k] + 150 * data[k + 1] + 29 * data[k + 2]
            line += _SHADES[light * len(_SHADES) // 131072]
        return line

    def show(self, color=None):
        """Print the picture. color: True, False, or None for what the terminal says (NO_COLOR,
        TERM=dumb)."""
        if color is None:
            color = terminal_has_color()
        try:
            for line in self.lines(color):
                print(line)
        except KeyboardInterrupt:  # perhaps in the middle of a line, in its colours
            print("\x1b[0m" if color else "")
            raise

    def rgb565(self, out=None):
        """Return (or fill) a buffer of 8,192 bytes, rows of 16-bit RGB565, high byte first as
        displays want it."""
        if out is None:
            out = bytearray(SIZE * SIZE * 2)
        picture_buffer(out, SIZE * SIZE * 2)
        data = self.data
        for i in range(SIZE * SIZE):
            r, g, b = data[3 * i], data[3 * i + 1], data[3 * i + 2]
            out[2 * i] = (r & 0xF8) | g >> 5
            out[2 * i + 1] = (g & 0x1C) << 3 | b >> 3
        return out

    def png(self):
        """Return the picture as the bytes of a PNG file, with the recipe in a text chunk."""
        recipe = "tti\0\0\0\0\0%s\nseed %d\nsteps %d\nguidance %.2f" % (
            self.prompt,
            self.seed,
            self.steps,
            self.guidance,
        )
        rows = b"".join(b"\0" + bytes(self.data[y * _ROW : (y + 1) * _ROW]) for y in range(SIZE))
        size = SIZE.to_bytes(4, "big")
        return (
            b"\x89PNG\r\n\x1a\n"
            + _chunk(b"IHDR", size + size + b"\x08\x02\0\0\0")
            + _chunk(b"iTXt", recipe.encode())
            + _chunk(b"IDAT", _zlib_stored(rows))
            + _chunk(b"IEND", b"")
        )

    def bmp(self):
        """Return the picture as the bytes of a BMP file."""
        head = bytearray(54)
        head[0:2] = b"BM"
        for at, value in (
            (2, 54 + SIZE * _ROW),
            (10, 54),
            (14, 40),
            (18, SIZE),
            (22, SIZE),
            (26, 1 | 24 << 16),
            (34, SIZE * _ROW),
        ):
            head[at : at + 4] = value.to_bytes(4, "little")
        body = bytearray(self.data)
        for at in range(0, len(body), 3):
            body[at], body[at + 2] = body[at + 2], body[at]
        return bytes(head) + b"".join(
            bytes(body[y * _ROW : (y + 1) * _ROW]) for y in range(SIZE - 1, -1, -1)
        )

    def save(self, path):
        """Write the picture to `path`, which ends in .png or .bmp. A failed write leaves an older
        file as it was."""
        check_target(path)
        _write_whole(path, self.png() if path.lower().endswith(".png") else self.bmp())


def check_target(path):
    """Raise TypeError, ValueError or OSError unless a picture can be saved as `path`."""
    if not isinstance(path, str):
        raise TypeError("a picture is saved under a path, such as 'face.png'")
    if path.lower()[-4:] not in (".png", ".bmp"):
        raise ValueError("a picture is saved as .png or .bmp, not as %s" % path)
    slash = path.rfind("/")
    if slash >= 0:
        folder = path[:slash] or "/"
        try:
            os.stat(folder)
        except OSError:
            raise OSError("can't write %s: there is no folder %s" % (path, folder))


def terminal_has_color():
    """False if the environment asks for plain text."""
    getenv = getattr(os, "getenv", None)
    return getenv is None or not (getenv("NO_COLOR") or getenv("TERM") == "dumb")


def _write_whole(path, content):
    part = path + ".part"
    try:
        with open(part, "wb") as file:
            file.write(content)
        try:
            os.rename(part, path)
        except OSError as error:
            if error.errno != EEXIST:
                raise
            os.remove(path)  # a FAT file system doesn't replace
            os.rename(part, path)
    except OSError as error:
        try:
            os.remove(part)
        except OSError:
            pass
        raise OSError("can't write %s: %s" % (path, error))


def _chunk(kind, content):
    body = kind + content
    return len(content).to_bytes(4, "big") + body + crc32(0, body).to_bytes(4, "big")


def _zlib_stored(content):
    """`content` (under 64 KB) as a zlib stream that isn't compressed (RFC 1950, 1951)."""
    a, b = 1, 0
    for byte in content:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    n = len(content)
    head = b"\x78\x01\x01" + n.to_bytes(2, "little") + (n ^ 0xFFFF).to_bytes(2, "little")
    return head + content + ((b << 16) | a).to_bytes(4, "big")
