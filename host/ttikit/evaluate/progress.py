"""One progress bar for all parts of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(note: str, total: int) -> Iterator[Callable[[], Any]]:
    """Show a bar of `total` steps on standard error; yields the function that advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    with Progress(*columns, console=Console(stderr=True), disable=total == 0) as bar:
        task = bar.add_task(note, total=total)
        yield lambda: bar.advance(task)
