"""What an evaluation draws: settings of the sampler, numbers of pictures, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttikit.evaluate.firmware import Job


@dataclass(frozen=True, order=True)
class Setting:
    """Steps of the sampler and guidance in hundredths."""

    steps: int
    guidance: int = 300

    def __str__(self) -> str:
        return f"{self.steps} steps, guidance {self.guidance / 100:g}"

    def job(self, prompt: str, seed: int) -> Job:
        """Return the picture of a prompt and a seed with this setting."""
        return Job(prompt, seed, self.steps, self.guidance)


FULL = Setting(8)
FAST = Setting(4)
STEPS = (1, 2, 4, 8, 16)
GUIDANCES = (100, 200, 300, 500)
OVER_STEPS = tuple(Setting(steps) for steps in STEPS)
OVER_GUIDANCE = tuple(Setting(FULL.steps, guidance) for guidance in GUIDANCES)
ALL = tuple(dict.fromkeys(OVER_STEPS + OVER_GUIDANCE))

# Limits of the project, as `docs/evaluation.md` explains them.
PRESENCE = 0.90
PRESENCE_SURE = 0.95  # gender and glasses
FAILURES = 0.10
FRECHET_RATIO = 3.0  # 8 steps against decoded real latents
FAST_FRECHET = 1.15  # 4 steps against 8
FAST_PRESENCE = 0.03
INT8_MEAN = 1.0  # levels of 255
INT8_WORST = 6.0
SEED_DISTANCE = 0.5  # of the distance between two renders of one prompt
COPY = 0.5  # of the distance of the nearest held-out render to its nearest training picture


@dataclass(frozen=True)
class Plan:
    """How many pictures: `seeds` per prompt at FULL and FAST, `few` at the other settings."""

    seeds: int = 8
    few: int = 2
    frechet: int = 1000  # pictures per setting
    int8: int = 256
    neighbours: int = 32
    quick: bool = False

    def seeds_of(self, setting: Setting) -> int:
        """How many seeds of each prompt are drawn with `setting`."""
        return self.seeds if setting in (FULL, FAST) else self.few


QUICK = Plan(seeds=2, few=1, frechet=64, int8=8, neighbours=8, quick=True)


def grid(setting: Setting, prompts: Sequence[str], seeds: int) -> list[Job]:
    """Return the jobs of all prompts × seeds 0, 1, …; the seeds of a prompt are neighbours."""
    return [setting.job(prompt, seed) for prompt in prompts for seed in range(seeds)]
