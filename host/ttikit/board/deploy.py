"""A model onto a board, so that a cut at any moment never leaves a wrong one."""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ttikit.board.romfs import build_romfs
from ttikit.board.session import MARK, Session, SessionError, answers

ERASED = b"\xff"
NAME = "faces.tti"

OnBlock = Callable[[int, int], None]  # blocks done, of how many


@dataclass(frozen=True)
class Deployed:
    """What `deploy` did: "rom" or "file", bytes in the store, blocks that had to be written."""

    store: str
    size: int
    written: int


class Deployment:
    """Writes to the board of ``session``. Raises `SessionError`."""

    def __init__(self, session: Session, to: str = "") -> None:
        self.session = session
        session.load("deploying")
        (text,) = answers(session, f"choose({to!r})", "store")
        self.store, size, block = text.split()
        self.size, self.block = int(size), int(block)

    def check_format(self, wanted: object) -> None:
        """Refuse a model of the format ``wanted`` that the board's firmware does not draw with."""
        code = f"import tti.checks\nprint({MARK!r}, 'format', tti.checks.FORMAT)"
        (known,) = answers(self.session, code, "format")
        if known != wanted:
            raise SessionError(
                f"{self.session.port}: the firmware draws with models of the format '{known}', "
                f"and this is '{wanted}'; take the model of that version"
            )

    def write(self, model: bytes, on_block: OnBlock = lambda done, total: None) -> Deployed:
        """Put a model file onto the board and check it there."""
        content = build_romfs({NAME: model}) if self.store == "rom" else model
        if len(content) > self.size:
            place = "flash for the ROMFS" if self.store == "rom" else "free space"
            raise SessionError(
                f"{self.session.port}: the model needs {len(content):,} bytes and the board's "
                f"{place} is {self.size:,}; "
                + ("use a smaller model" if self.store == "rom" else "delete files there")
            )
        blocks = self._blocks(content)
        written = (self._rom if self.store == "rom" else self._file)(blocks, on_block)
        return Deployed(self.store, len(content), written)

    def _blocks(self, content: bytes) -> list[bytes]:
        if self.store == "rom":  # a last block that is written whole can be compared whole
            content += ERASED * (-len(content) % self.block)
        return [content[at : at + self.block] for at in range(0, len(content), self.block)]

    def _rom(self, blocks: Sequence[bytes], on_block: OnBlock) -> int:
        wanted = [zlib.crc32(block) for block in blocks]
        missing = [n for n, crc in enumerate(self._crcs(0, len(blocks))) if crc != wanted[n]]
        if not missing:
            return 0
        self.session.run("store.begin()")
        rest = [n for n in missing if n > 0]
        for done, n in enumerate(rest):
            self._put(n, blocks[n])
            on_block(done + 1, len(rest) + 1)
        self._check(self._crcs(1, len(blocks)), wanted[1:])
        self._put(0, blocks[0])
        self.session.run("store.commit()")
        self._check(self._crcs(0, 1), wanted[:1])
        on_block(len(rest) + 1, len(rest) + 1)
        return len(rest) + 1

    def _file(self, blocks: Sequence[bytes], on_block: OnBlock) -> int:
        self.session.run("store.begin()")
        try:
            for n, block in enumerate(blocks):
                self._put(n, block)
                on_block(n + 1, len(blocks))
            self._check(self._crcs(0, 1), [zlib.crc32(b"".join(blocks))])
        except SessionError:
            with contextlib.suppress(SessionError):  # perhaps the board is gone
                self.session.run("store.drop()")
            raise
        self.session.run("store.commit()")
        return len(blocks)

    def _put(self, n: int, block: bytes) -> None:
        self.session.run(f"put({n},b'{base64.b64encode(block).decode()}')")

    def _crcs(self, first: int, end: int) -> list[int]:
        return [int(crc) for crc in answers(self.session, f"crcs({first},{end})", "crc")]

    def _check(self, found: Sequence[int], wanted: Sequence[int]) -> None:
        if list(found) != list(wanted):
            raise SessionError(
                f"{self.session.port}: the flash does not hold what was written; repeat, and if "
                "it fails again, the flash is worn out"
            )
