"""How fast the renderer is."""

import multiprocessing
import time
from dataclasses import dataclass

from ttikit.data.dataset import render_one


@dataclass(frozen=True)
class RenderSpeed:
    """Pictures a second of all processes together, and CPU milliseconds a picture."""

    processes: int
    pictures: int
    per_second: float
    cpu_ms: float


def _share(task: tuple[int, int]) -> tuple[float, float, float]:
    """Draw pictures first..first+count; return start, end and CPU seconds."""
    first, count = task
    for index in range(12):
        render_one(1, "train", index)
    start, cpu = time.time(), time.process_time()
    for index in range(first, first + count):
        render_one(0, "train", index)
    return start, time.time(), time.process_time() - cpu


def bench_render(processes: int = 2, pictures: int = 200) -> RenderSpeed:
    """Draw `pictures` in `processes`, after a warm-up that compiles the kernels."""
    count = max(1, pictures // processes)
    tasks = [(i * count, count) for i in range(processes)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        shares = pool.map(_share, tasks, chunksize=1)
    wall = max(end for _, end, _ in shares) - min(start for start, _, _ in shares)
    cpu = sum(seconds for _, _, seconds in shares)
    total = count * processes
    return RenderSpeed(processes, total, total / wall, 1000 * cpu / total)
