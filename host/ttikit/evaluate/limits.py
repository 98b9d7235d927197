"""The head of the page: each limit of the project, what was measured, and whether it is met."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ttikit.evaluate import settings as s
from ttikit.evaluate.classifier_figures import ACCURACY
from ttikit.evaluate.expectations import GENDER, GLASSES, Demand
from ttikit.evaluate.measures import Presence
from ttikit.evaluate.report import Report


@dataclass(frozen=True)
class Limit:
    """A line of the table. met: None where nothing could be measured."""

    what: str
    limit: str
    measured: str
    met: bool | None


def limits(report: Report) -> list[Limit]:
    """Return all lines, measured or not."""
    return [*_judge(report), *_presence(report), *_frechet(report), *_int8(report), *_new(report)]


def percent(value: float) -> str:
    """93.2 %, or a dash for NaN."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def _judge(report: Report) -> Iterator[Limit]:
    found = {name: report.accuracy[name]["accuracy"] for name in report.clear}
    what = f"the judge itself, {len(found)} clear attributes on held-out renders"
    limit = f"≥ {ACCURACY:.0%} of answers right"
    if not found:
        yield Limit(what, limit, "it sees no attribute clearly", False)
        return
    worst = min(found, key=lambda name: found[name])
    yield Limit(
        what,
        limit,
        f"{percent(sum(found.values()) / len(found))} in the mean, {percent(found[worst])} for "
        f"{worst}",
        found[worst] >= ACCURACY,
    )


def _presence(report: Report) -> Iterator[Limit]:
    full, fast = report.obedience[s.FULL], report.obedience[s.FAST]
    shares = full.presence
    judged = [one for one in shares.demands() if one.counts(report.clear)]
    sure = [one for one in judged if {GENDER, *GLASSES}.issuperset(one.names)]
    others = [one for one in judged if one not in sure]
    for name, demands, limit in (
        ("gender and glasses, each", sure, s.PRESENCE_SURE),
        ("every other prompted clear attribute", others, s.PRESENCE),
    ):
        if demands:
            yield _each(f"{name}, at {s.FULL}", demands, shares, limit)
    yield Limit(
        f"failure rate at {s.FULL}: gender, age, glasses or a clear attribute is missing",
        f"≤ {s.FAILURES:.0%}",
        _failure_text(report),
        full.failed.value <= s.FAILURES,
    )
    gap = shares.overall(judged).value - fast.presence.overall(judged).value
    yield Limit(
        f"attributes present at {s.FAST.steps} steps against {s.FULL.steps}",
        f"at most {100 * s.FAST_PRESENCE:.0f} points fewer",
        f"{percent(fast.presence.overall(judged).value)} against "
        f"{percent(shares.overall(judged).value)}",
        gap <= s.FAST_PRESENCE,
    )


def _each(what: str, demands: list[Demand], shares: Presence, limit: float) -> Limit:
    found = {one: shares.of(one) for one in demands}
    worst = min(demands, key=lambda one: found[one].value)
    below = sum(share.value < limit for share in found.values())
    text = f"{len(found) - below} of {len(found)}; the lowest: {worst.label} "
    return Limit(what, f"≥ {limit:.0%}", text + percent(found[worst].value), not below)


def _failure_text(report: Report) -> str:
    full, truth = report.full, report.truth
    text = f"{percent(full.failed.value)} of {full.failed.count}"
    apart = f"without age {percent(full.failed_but_for_age.value)}"
    if truth is None:
        return f"{text}; {apart}"
    return (
        f"{text} (the judge alone: {percent(truth.failed.value)} of real renders); {apart} "
        f"({percent(truth.failed_but_for_age.value)})"
    )


def _frechet(report: Report) -> Iterator[Limit]:
    names = (
        (
            f"Fréchet distance at {s.FULL.steps} steps against decoded real latents",
            f"≤ {s.FRECHET_RATIO:g} ×",
        ),
        (
            f"Fréchet distance at {s.FAST.steps} steps against {s.FULL.steps}",
            f"≤ {s.FAST_FRECHET:g} ×",
        ),
    )
    found = report.frechet
    if found is None:
        for what, limit in names:
            yield Limit(what, limit, "not measured", None)
        return
    pairs = (
        (found.of(s.FULL), found.baseline, s.FRECHET_RATIO),
        (found.of(s.FAST), found.of(s.FULL), s.FAST_FRECHET),
    )
    for (what, limit), (ours, theirs, ratio) in zip(names, pairs, strict=True):
        measured = f"{ours / theirs:.2f} × ({ours:.4g} against {theirs:.4g})"
        # Of a quick trial's few pictures, chance makes up most of both distances.
        yield Limit(what, limit, measured, None if report.plan.quick else ours / theirs <= ratio)


def _int8(report: Report) -> Iterator[Limit]:
    found = report.precision
    mean, worst = (None, None) if found is None else (found.picture.mean, found.picture.worst)
    for what, limit, value in (
        ("mean", s.INT8_MEAN, mean),
        ("worst picture", s.INT8_WORST, worst),
    ):
        yield Limit(
            f"int8 against float, {what}, levels of 255",
            f"≤ {limit:g}",
            "not measured" if value is None else f"{value:.2f}",
            None if value is None else value <= limit,
        )


def _new(report: Report) -> Iterator[Limit]:
    people, near = report.people, report.nearest
    yield Limit(
        "two seeds of one prompt show different people (distance in features)",
        f"≥ {s.SEED_DISTANCE:.0%} of two renders of the prompt",
        "not measured" if people is None else percent(people.seeds / people.renders),
        None if people is None else people.seeds >= s.SEED_DISTANCE * people.renders,
    )
    copied = None
    if near is not None:
        copied = sum(
            pixels < s.COPY * min(near.held_out_pixels)
            or features < s.COPY * min(near.held_out_features)
            for pixels, features in zip(near.pixels, near.features, strict=True)
        )
    yield Limit(
        "copies of training pictures",
        f"none nearer than {s.COPY:.0%} of the nearest held-out render",
        "not measured" if near is None else f"{copied} of {len(near.pixels)}",
        None if copied is None else copied == 0,
    )
