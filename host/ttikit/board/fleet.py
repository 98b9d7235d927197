"""Several boards at once: a thread and a line of progress each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ttikit.board.session import Session
from ttikit.errors import TtiError

T = TypeVar("T")


@dataclass
class Done(Generic[T]):
    """What became of a job: the results of the boards that managed it, and a sentence for each
    that failed."""

    results: list[T]
    failures: list[str]

    def check(self) -> None:
        """Raise TtiError if a board failed; to be called after the others' results are shown."""
        if self.failures:
            raise TtiError("\n".join(self.failures))


def run_on(ports: Sequence[str], job: Callable[[str], T]) -> Done[T]:
    """``job(port)`` for every port at the same time; the results in the order of the ports.

    A TtiError of one board does not keep the others from finishing. KeyboardInterrupt stops all.
    """
    if len(ports) == 1:  # no thread: Ctrl-C need not wait for a board that hangs
        try:
            return Done([job(ports[0])], [])
        except TtiError as failure:
            return Done([], [str(failure)])
    with ThreadPoolExecutor(len(ports)) as pool:
        futures = [pool.submit(job, port) for port in ports]
        try:
            wait(futures)
        except KeyboardInterrupt:
            Session.stop_all()
            wait(futures)
            Session.stopped.clear()
            raise
    done: Done[T] = Done([], [])
    for future in futures:
        try:
            done.results.append(future.result())
        except TtiError as failure:
            done.failures.append(str(failure))
    return done


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
