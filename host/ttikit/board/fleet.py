"""Several boards at once: a thread and a line of progress each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ttikit.board.session import Session
from ttikit.errors import TtiError

T = TypeVar("T")


def run_on(ports: Sequence[str], job: Callable[[str], T]) -> list[T]:
    """``job(port)`` for every port at the same time; the results in the order of the ports.

    All boards finish before a failure is reported: `TtiError`, a sentence for each that failed.
    KeyboardInterrupt stops them all.
    """
    if len(ports) == 1:
        return [job(ports[0])]
    with ThreadPoolExecutor(len(ports)) as pool:
        futures = [pool.submit(job, port) for port in ports]
        try:
            wait(futures)
        except KeyboardInterrupt:
            Session.stop_all()
            wait(futures)
            Session.stopped.clear()
            raise
    failures = [future.exception() for future in futures]
    for failure in failures:
        if failure is not None and not isinstance(failure, TtiError):
            raise failure
    if any(failures):
        raise TtiError("\n".join(str(failure) for failure in failures if failure))
    return [future.result() for future in futures]


class Lines:
    """A line of progress for each board, on a terminal; a context manager."""

    def __init__(self, ports: Sequence[str], unit: str, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._tasks = {port: self._bar.add_task(port, total=None) for port in ports}

    def __enter__(self) -> Lines:
        self._bar.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.stop()

    def on(self, port: str) -> Callable[[int, int], None]:
        """A function of (done, total) that moves the line of ``port``."""
        task = self._tasks[port]
        return lambda done, total: self._bar.update(task, completed=done, total=total)
