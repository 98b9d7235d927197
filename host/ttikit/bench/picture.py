"""Time of one picture: the firmware's int8 graphs against the float32 ones in torch."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import track

from ttikit.errors import TtiError

STEPS = 8
SCRIPT = """
import sys, time, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, "пожилой мужчина", 1, 1)
for _ in range(int(sys.argv[3])):
    start = time.ticks_us()
    pipeline.generate_into(out, "пожилой мужчина", 1, int(sys.argv[2]))
    print(time.ticks_diff(time.ticks_us(), start))
"""


@dataclass(frozen=True)
class PictureTimes:
    """Seconds of one picture, 8 steps, one core: medians over the rounds."""

    firmware: float
    torch: float

    @property
    def ratio(self) -> float:
        """How many times longer the firmware takes than torch."""
        return self.firmware / self.torch


def measure(firmware: Path, model: Path, rounds: int = 7) -> PictureTimes:
    """Time firmware and torch in turns, so that other load on the machine meets both alike."""
    float_picture = torch_picture()
    float_picture()
    ours, theirs = [], []
    for _ in track(range(rounds), description="picture", console=Console(stderr=True)):
        ours += firmware_seconds(firmware, model, 1)
        start = time.perf_counter()
        float_picture()
        theirs.append(time.perf_counter() - start)
    return PictureTimes(median(ours), median(theirs))


def firmware_seconds(firmware: Path, model: Path, pictures: int) -> list[float]:
    """Return the seconds that the firmware takes for each of some pictures."""
    done = subprocess.run(
        [str(firmware), "-c", SCRIPT, str(model), str(STEPS), str(pictures)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise TtiError(f"the firmware {firmware} failed: {(done.stderr or done.stdout).strip()}")
    return [int(line) / 1e6 for line in done.stdout.split()]


def torch_picture() -> Callable[[], None]:
    """Return a function that draws one picture in float32 torch on one thread.

    The weights are random: they do not change the time.
    """
    import numpy as np
    import torch

    from ttikit.training.models import Decoder, TextToLatent
    from ttikit.training.sampling import sample

    torch.set_num_threads(1)
    model, decoder = TextToLatent().eval(), Decoder().eval()
    mean, std = torch.zeros(4), torch.ones(4)
    tokens = np.zeros((1, model.config.length), np.int64)
    tokens[0, :2] = 1, 2

    def draw() -> None:
        sample(model, mean, std, decoder, tokens, [1], STEPS, 1.0)  # one branch, as on a board

    return draw
