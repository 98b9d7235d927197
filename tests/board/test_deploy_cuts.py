"""The power goes at every page that a deployment programs, and at every block that it erases."""

import contextlib
import io
import itertools

import numpy as np
import pytest
from ttikit.board.deploy import Deployment
from ttikit.board.romfs import RomfsError, build_romfs, read_romfs
from ttikit.board.session import DEVICE, SessionError
from ttikit.model_file import ModelFileError, Tensor, encode_model, read_model

BLOCK, PAGE, BLOCKS = 1024, 256, 24


class PowerCut(Exception):
    pass


class Flash:
    """NOR flash as a block device of MicroPython; the power goes after so many pages."""

    def __init__(self, content=b"", pages=None):
        self.bytes = bytearray(content.ljust(BLOCK * BLOCKS, b"\xff"))
        self.pages = pages
        self.worn = None  # a block that no longer takes what is written

    def _page(self):
        if self.pages is not None:
            if self.pages == 0:
                raise PowerCut
            self.pages -= 1

    def ioctl(self, op, arg):
        return {4: BLOCKS, 5: BLOCK}.get(op, 0)

    def readblocks(self, n, buf):
        buf[:] = self.bytes[n * BLOCK : n * BLOCK + len(buf)]

    def writeblocks(self, n, buf, offset=None):
        if offset is None:
            self._page()
            self.bytes[n * BLOCK : (n + 1) * BLOCK] = b"\xff" * BLOCK  # erase
        first = n * BLOCK + (offset or 0)
        for at in range(0, len(buf), PAGE):
            self._page()
            if n != self.worn:
                for i, byte in enumerate(buf[at : at + PAGE]):
                    self.bytes[first + at + i] &= byte


class Bench:
    """Stands in for a `Session`: runs the board's own script on CPython over a `Flash`."""

    port = "bench"

    def __init__(self, flash):
        self.flash, self.names = flash, {}

    def load(self, name):
        exec((DEVICE / f"{name}.py").read_text("utf-8"), self.names)
        self.names["segment"] = lambda: self.flash

    def run(self, code, on_line=None):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, self.names)
        return said.getvalue().splitlines()


def model(size, seed):
    values = np.random.default_rng(seed).integers(-127, 128, size, np.int8)
    return encode_model({"a.weight": Tensor(values)}, {"seed": seed})


OLD, NEW = model(5_000, 1), model(7_700, 2)


def deployed(model, flash):
    return Deployment(Bench(flash)).write(model)


def on_board(flash):
    """The model that a board would use from this flash, or None: it checks the structure only."""
    try:
        found = read_romfs(bytes(flash.bytes)).get("faces.tti")
        return None if found is None else read_model(bytes(found.data)).raw
    except (RomfsError, ModelFileError):
        return None


def pages_of(model, before):
    flash = Flash(before, pages=10**9)
    deployed(model, flash)
    return 10**9 - flash.pages


@pytest.mark.parametrize("before", [b"", build_romfs({"faces.tti": OLD})], ids=["empty", "old"])
def test_a_cut_at_any_page_leaves_the_old_model_or_none_or_the_new_one(before):
    old = OLD if before else None
    total = pages_of(NEW, before)
    assert total >= 5 * (1 + BLOCK // PAGE)
    left = []
    for pages in range(total + 1):
        flash = Flash(before, pages)
        with contextlib.suppress(PowerCut):
            deployed(NEW, flash)
        left.append(on_board(flash))
        assert left[-1] in (old, None, NEW), f"a wrong model after {pages} pages"
        flash.pages = None
        deployed(NEW, flash)  # once more, with power
        assert on_board(flash) == NEW
    assert left[0] == old and left[-1] == NEW and None in left
    changes = [what for what, _ in itertools.groupby(left)]
    assert changes == ([OLD, None, NEW] if before else [None, NEW])


def test_a_deployment_after_a_cut_goes_on_where_it_was():
    total = pages_of(NEW, b"")
    flash = Flash(b"", total - 8)
    with pytest.raises(PowerCut):
        deployed(NEW, flash)
    flash.pages = 10**9
    deployed(NEW, flash)
    assert 10**9 - flash.pages <= 4 * (1 + BLOCK // PAGE)


def test_the_same_model_writes_nothing():
    flash = Flash()
    assert deployed(NEW, flash).written > 5
    flash.pages = 0
    assert deployed(NEW, flash).written == 0


@pytest.mark.parametrize("worn", [0, 1, 7])
def test_worn_flash_is_found(worn):
    flash = Flash()
    flash.worn = worn
    with pytest.raises(SessionError, match="the flash does not hold what was written; repeat"):
        deployed(NEW, flash)
    assert on_board(flash) is None


def test_a_model_that_is_too_large_leaves_the_old_one():
    flash = Flash(build_romfs({"faces.tti": OLD}))
    with pytest.raises(SessionError, match=r"flash for the ROMFS is 24,576; use a smaller model"):
        deployed(bytes(BLOCK * BLOCKS), flash)
    assert on_board(flash) == OLD
