"""Many pictures from the firmware: several processes, a cache, a progress bar."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ttikit.evaluate.cache import PictureCache
from ttikit.evaluate.firmware import PATIENCE, Firmware, Job
from ttikit.evaluate.progress import progress

Pictures = NDArray[np.uint8]  # (N, 64, 64, 3)
_AHEAD = 4  # jobs waiting per process, so that Ctrl-C ends soon


class Artist:
    """Draws pictures with `jobs` processes of the firmware and remembers them in `cache`."""

    def __init__(
        self,
        program: Path,
        model: Path,
        cache: PictureCache,
        jobs: int = 1,
        patience: float = PATIENCE,
    ) -> None:
        self.cache = cache
        self.workers = [Firmware(program, model, patience) for _ in range(jobs)]
        self.drawn = 0
        self._trusted: set[tuple[int, int]] = set()

    def pictures(self, jobs: Sequence[Job], note: str) -> Pictures:
        """Return pictures (N, 64, 64, 3) of `jobs`; only those that the cache lacks are drawn.

        Stopping it loses what is being drawn at that moment only. Raises TtiError.
        """
        self._spot_check(jobs)
        missing = [job for job in dict.fromkeys(jobs) if job not in self.cache]
        with progress(note, len(missing)) as advance:
            for job, picture in self._drawn(missing):
                self.cache.put(job, picture)
                self.drawn += 1
                advance()
        out = np.empty((len(jobs), 64, 64, 3), np.uint8)
        for i, job in enumerate(jobs):
            picture = self.cache.get(job) or self._again(job)
            out[i] = np.frombuffer(picture, np.uint8).reshape(64, 64, 3)
        return out

    def stages(self, jobs: Sequence[Job], note: str) -> Iterator[list[bytes]]:
        """Yield text vector, latent after each step, and picture of each job, never cached."""
        with progress(note, len(jobs)) as advance:
            for job in jobs:
                yield self.workers[0].stages(job)
                advance()

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers:
            worker.close()

    def __enter__(self) -> Artist:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spot_check(self, jobs: Sequence[Job]) -> None:
        """Draw one cached picture anew: firmware that draws another one gets none of the old."""
        for job in jobs:
            setting = job.steps, job.guidance
            if setting in self._trusted:
                continue
            kept = self.cache.get(job)
            if kept is not None:
                self._trusted.add(setting)
                if kept != self.workers[0].draw(job):
                    self.cache.forget(job)

    def _again(self, job: Job) -> bytes:
        picture = self.workers[0].draw(job)
        self.cache.put(job, picture)
        return picture

    def _drawn(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, bytes]]:
        idle: queue.SimpleQueue[Firmware] = queue.SimpleQueue()
        for worker in self.workers:
            idle.put(worker)

        def draw(job: Job) -> tuple[Job, bytes]:
            worker = idle.get()
            try:
                return job, worker.draw(job)
            finally:
                idle.put(worker)

        left = iter(jobs)
        waiting: set[Future[tuple[Job, bytes]]] = set()
        with ThreadPoolExecutor(len(self.workers)) as pool:
            try:
                while True:
                    while len(waiting) < _AHEAD * len(self.workers):
                        job = next(left, None)
                        if job is None:
                            break
                        waiting.add(pool.submit(draw, job))
                    if not waiting:
                        return
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            except BaseException:
                self.close()  # the threads end with their processes
                for future in waiting:
                    future.cancel()
                raise
