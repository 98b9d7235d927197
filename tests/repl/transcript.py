"""A picture drawn by typing at the friendly prompt."""

from __future__ import annotations

import json
from pathlib import Path

from .model import ENTER
from .terminal import PROMPT, Terminal

WORDS, SEED, STEPS = "пожилой мужчина", 1, 2
CALL = f'tti.generate("{WORDS}", seed={SEED}, steps={STEPS})'.encode()
HASH = b"import hashlib; hashlib.sha256(_.data).digest().hex()"


def golden(repo: Path) -> str:
    rows = json.loads((repo / "tests" / "golden" / "pictures.json").read_text())
    wanted = {"prompt": WORDS, "seed": SEED, "steps": STEPS, "guidance": 3}
    (row,) = [row for row in rows if wanted.items() <= row.items()]
    return str(row["sha256"])


def draw(terminal: Terminal) -> str:
    """Type the call byte by byte; return what is shown of the picture's hash."""
    terminal.run(b"import tti" + ENTER)
    terminal.send_bytes(CALL + ENTER)
    terminal.read_until(PROMPT, seconds=300)  # an emulated board draws slowly
    return terminal.run(HASH + ENTER)
