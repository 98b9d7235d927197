"""The figures of an evaluation, as data: what the page shows and `--json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ttikit.evaluate.expectations import AGE, Expectation
from ttikit.evaluate.measures import Failure, Presence, Share
from ttikit.evaluate.precision import Precision
from ttikit.evaluate.settings import ALL, FULL, Plan, Setting


@dataclass(frozen=True)
class Obedience:
    """How one set of pictures follows the prompts."""

    presence: Presence
    failed: Share  # share of pictures that fail
    failures: tuple[Failure, ...]  # the worst first

    @property
    def failed_but_for_age(self) -> Share:
        """The share of pictures that fail by more than age, which the judge sees least surely."""
        bad = sum(any(one.names != (AGE,) for one in each.missing) for each in self.failures)
        return Share(bad, self.failed.count)


@dataclass(frozen=True)
class Frechet:
    """Squared Fréchet distances to the held-out renders, all of `count` pictures."""

    count: int
    held_out: int
    values: Mapping[Setting, float]
    floor: float  # other renders
    baseline: float  # decoded real latents

    def of(self, setting: Setting) -> float:
        """Return the distance of a setting; NaN if it was not measured."""
        return self.values.get(setting, float("nan"))


@dataclass(frozen=True)
class People:
    """Mean Euclidean distances in the judge's features."""

    seeds: float  # two seeds of one prompt
    nearest: float  # the nearest such pair
    renders: float  # two renders of one prompt's demands
    strangers: float  # two renders of any two prompts


@dataclass(frozen=True)
class Nearest:
    """Distances to the nearest training picture, for each of n pictures."""

    pixels: tuple[float, ...]  # generated; root mean square, 0 to 255
    features: tuple[float, ...]
    held_out_pixels: tuple[float, ...]  # held-out renders: how far a new face lies
    held_out_features: tuple[float, ...]
    known: int  # training pictures, each also mirrored


@dataclass
class Report:
    """Everything that was measured; what is None was left out, and `left_out` says why."""

    crc: str  # of the model's data
    about: dict[str, Any]
    plan: Plan
    expectations: list[Expectation]
    judge: str  # fingerprint
    judge_samples: int
    clear: list[str]
    accuracy: dict[str, Any]
    obedience: dict[Setting, Obedience] = field(default_factory=dict)
    truth: Obedience | None = None  # renders after the autoencoder
    plain_truth: Obedience | None = None  # renders
    frechet: Frechet | None = None
    precision: Precision | None = None
    people: People | None = None
    nearest: Nearest | None = None
    left_out: list[str] = field(default_factory=list)

    @property
    def full(self) -> Obedience:
        """At 8 steps with guidance 3."""
        return self.obedience[FULL]

    def settings(self) -> list[Setting]:
        """Return the settings that were drawn, in the order of the tables."""
        return [setting for setting in ALL if setting in self.obedience]

    def to_json(self) -> dict[str, Any]:
        """Return all figures by name, for scripts."""
        return {
            "model_crc": self.crc,
            "about": self.about,
            "plan": vars(self.plan),
            "judge": {"fingerprint": self.judge, "clear": self.clear, "accuracy": self.accuracy},
            "settings": {str(one): _figures(self.obedience[one]) for one in self.settings()},
            "renders": _figures(self.plain_truth),
            "renders_decoded": _figures(self.truth),
            "frechet": self.frechet
            and {
                **vars(self.frechet),
                "values": {str(one): value for one, value in self.frechet.values.items()},
            },
            "int8": self.precision and _precision(self.precision),
            "people": self.people and vars(self.people),
            "nearest": self.nearest and vars(self.nearest),
            "left_out": self.left_out,
        }


def _figures(obedience: Obedience | None) -> dict[str, Any] | None:
    if obedience is None:
        return None
    shares = obedience.presence
    return {
        "pictures": obedience.failed.count,
        "failure_rate": obedience.failed.value,
        "failure_rate_but_for_age": obedience.failed_but_for_age.value,
        "presence": {str(one): shares.of(one).value for one in shares.demands()},
        "presence_overall": shares.overall().value,
        "failures": [
            {"prompt": one.prompt, "seed": one.seed, "missing": [str(d) for d in one.missing]}
            for one in obedience.failures
        ],
    }


def _precision(precision: Precision) -> dict[str, Any]:
    return {
        "pictures": precision.count,
        "text": vars(precision.text),
        "steps": [vars(error) for error in precision.steps],
        "decoder": vars(precision.decoder),
        "picture": vars(precision.picture),
    }
