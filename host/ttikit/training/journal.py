"""The log of a run: what each step measured, as means over some seconds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.training.plot import plot_log

LOG = "log.jsonl"


class Journal:
    """Collects the numbers of steps and writes lines of JSON into ``log.jsonl`` in ``out``.

    Numbers stay on the device until `settle`, because fetching them makes the program wait for a
    GPU. Where ``writes`` is false the numbers are checked all the same, but no file is touched.
    """

    def __init__(self, out: Path, writes: bool = True) -> None:
        self.out, self.writes = out, writes
        self._names: list[str] = []
        self._waiting: list[tuple[int, float, Tensor]] = []
        self._rows: list[dict[str, float]] = []

    def note(self, step: int, rate: float, values: Mapping[str, Tensor]) -> None:
        """Take the scalars that ``step`` measured; every step has the same names."""
        self._names = list(values)
        numbers = torch.stack([value.detach().float() for value in values.values()])
        self._waiting.append((step, rate, numbers))

    def settle(self) -> None:
        """Fetch and check what was noted; raises `TtiError` if a number is not finite."""
        if not self._waiting:
            return
        fetched = torch.stack([numbers for _, _, numbers in self._waiting]).tolist()
        for (step, rate, _), numbers in zip(self._waiting, fetched, strict=True):
            if not all(map(math.isfinite, numbers)):
                raise TtiError(
                    f"the loss is no longer a number at step {step}; "
                    f"resume with a smaller --rate (the checkpoint before it is unharmed)"
                )
            self._rows.append({**dict(zip(self._names, numbers, strict=True)), "rate": rate})
        self._waiting.clear()

    def means(self) -> dict[str, float]:
        """Mean of every number since the last call."""
        self.settle()
        rows, self._rows = self._rows, []
        return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}

    def append(self, row: Mapping[str, float]) -> None:
        """Add one line to the log."""
        if self.writes:
            self.out.mkdir(parents=True, exist_ok=True)
            with (self.out / LOG).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def plot(self) -> None:
        """Draw the loss so far as ``loss.png``."""
        if self.writes:
            plot_log(self.out / LOG, self.out / "loss.png")
