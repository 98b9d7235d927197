"""The page docs/quality/README.md: tables in Markdown, pictures beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ttikit.evaluate.evaluation import SHOWN, Sheets
from ttikit.evaluate.expectations import Demand
from ttikit.evaluate.limits import limits, percent
from ttikit.evaluate.measures import Presence, limit_of
from ttikit.evaluate.page_images import by_clearness, write_images
from ttikit.evaluate.report import Report
from ttikit.evaluate.settings import FAST, FULL, Plan, Setting
from ttikit.files import write_atomically

PAGE = "README.md"
MARKS = {True: "yes", False: "**no**", None: "–"}


def write_page(report: Report, pictures: Sheets, folder: Path) -> Path:
    """Write the page and its PNGs into `folder`; the same figures give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    images = write_images(report, pictures, folder)
    for old in folder.glob("*.png"):
        if old.name not in images:
            old.unlink()
    path = folder / PAGE
    write_atomically(path, ("\n".join(_page(report, images)) + "\n").encode())
    return path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table and an empty line."""
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def _page(report: Report, images: set[str]) -> Iterator[str]:
    yield from _head(report)
    yield "## Limits\n"
    rows = ([one.what, one.limit, one.measured, MARKS[one.met]] for one in limits(report))
    yield from table(["", "limit", "measured", "met"], rows)
    yield from _attributes(report)
    yield from _settings(report)
    yield from _failed(report, images)
    yield from _precision(report)
    yield from _people(report, images)
    yield from _sheets(images, len(report.expectations), report.plan)
    yield from _prompts(report)


def _head(report: Report) -> Iterator[str]:
    trained = report.about.get("trained", {}).get("samples")
    plan = report.plan
    yield "# Quality, measured\n"
    yield (
        "This page is written by `make quality` (`ttikit evaluate`); do not edit it by hand. "
        "[How the figures are made](../evaluation.md).\n"
    )
    if plan.quick:
        yield (
            "> **A quick trial with few pictures.** The figures are rough; Fréchet distances of "
            "so few pictures say next to nothing.\n"
        )
    seen = "" if trained is None else f", trained on {trained:,} samples"
    yield (
        f"Model `{report.crc}`{seen}. Every picture was drawn by the firmware for the PC, int8, "
        f"whose bytes are those of every board: {len(report.expectations)} prompts × {plan.seeds} "
        f"seeds at {FULL} and at {FAST.steps} steps, × {plan.few} at other settings. The judge "
        f"`{report.judge}` is a network that has learnt {len(report.accuracy)} attributes from "
        f"{report.judge_samples:,} pictures ([docs/judge.md](../judge.md)).\n"
    )
    for sentence in report.left_out:
        yield f"Left out: {sentence}\n"


def _attributes(report: Report) -> Iterator[str]:
    yield "## Attributes that the prompt asks for\n"
    yield (
        "How often the judge sees what the prompt demands. `alone` counts prompts of common "
        "combinations, `rare` those that fewer than one training picture in a hundred shows. "
        "`renders` are rendered people that are exactly what the same prompts demand, after the "
        "autoencoder: what the judge misses there is its own error. Attributes in *italics* are "
        "none that the judge sees clearly; no limit holds for them.\n"
    )
    yield "![Bars of presence](attributes.png)\n"
    yield from table(
        ["attribute", "pictures", "8 steps", "alone", "rare", "4 steps", "renders", "judge right"],
        (_attribute_row(report, one) for one in by_clearness(report)),
    )


def _attribute_row(report: Report, demand: Demand) -> list[str]:
    truth = report.truth
    shares, quick = report.full.presence, report.obedience[FAST].presence
    clear = demand.counts(report.clear)
    right = min(report.accuracy[name]["accuracy"] for name in demand.names)
    value = percent(shares.of(demand).value)
    below = clear and shares.of(demand).value < limit_of(demand)
    return [
        demand.label if clear else f"*{demand.label}*",
        str(shares.of(demand).count),
        f"**{value}**" if below else value,
        percent(shares.common[demand].value) if demand in shares.common else "",
        percent(shares.rare[demand].value) if demand in shares.rare else "",
        percent(quick.of(demand).value),
        "" if truth is None else percent(truth.presence.of(demand).value),
        percent(right),
    ]


def _settings(report: Report) -> Iterator[str]:
    found = report.frechet
    yield "## Steps and guidance\n"
    yield (
        "Failed: the prompted gender, age, glasses or a prompted clear attribute is missing; then "
        "the same but for age, which the judge sees least surely. Present: the share of all "
        "demands for clear attributes.\n"
    )
    head = ["steps", "guidance", "pictures", "present", "failed", "but for age"]
    yield from table(
        [*head, "Fréchet distance"] if found else head,
        (_setting_row(report, setting) for setting in report.settings()),
    )
    for name, truth in (("", report.plain_truth), (" after the autoencoder", report.truth)):
        if truth is not None:
            yield (
                f"Renders of what the prompts demand{name}: present "
                f"{percent(_present(report, truth.presence))}, failed "
                f"{percent(truth.failed.value)}, but for age "
                f"{percent(truth.failed_but_for_age.value)}.\n"
            )
    if found:
        yield (
            f"The Fréchet distance compares {found.count:,} captions of held-out people, drawn, "
            f"with {found.held_out:,} held-out renders, in the judge's features. At as many "
            f"pictures other renders are {found.floor:.4g} away and real latents, decoded, "
            f"{found.baseline:.4g}. Fewer pictures give larger distances, so compare only within "
            f"this page.\n"
        )
        yield "![Fréchet distance over steps and guidance](frechet.png)\n"


def _setting_row(report: Report, setting: Setting) -> list[str]:
    one = report.obedience[setting]
    row = [
        str(setting.steps),
        f"{setting.guidance / 100:g}",
        str(one.failed.count),
        percent(_present(report, one.presence)),
        percent(one.failed.value),
        percent(one.failed_but_for_age.value),
    ]
    if report.frechet is not None:
        known = setting in report.frechet.values
        row.append(f"{report.frechet.of(setting):.4g}" if known else "")
    return row


def _present(report: Report, shares: Presence) -> float:
    return shares.overall([one for one in shares.demands() if one.counts(report.clear)]).value


def _failed(report: Report, images: set[str]) -> Iterator[str]:
    if "failed.png" not in images:
        return
    yield "## The worst failures\n"
    yield (
        "The number of the prompt and what the judge misses, surest first, of "
        f"{report.full.failed.met} failed pictures at {FULL}.\n"
    )
    yield "![Failed pictures](failed.png)\n"


def _precision(report: Report) -> Iterator[str]:
    found = report.precision
    if found is None:
        return
    yield "## int8 against float\n"
    yield (
        f"{found.count} pictures at {FULL}: the firmware's stages against the float32 model on "
        "the same tokens and noise. Vectors and latents: RMS of the difference over RMS of the "
        "value. Pictures: mean difference in levels of 255.\n"
    )
    rows = [["text vector", f"{found.text.mean:.2%}", f"{found.text.worst:.2%}"]]
    for i, error in enumerate(found.steps, 1):
        rows.append([f"latent after step {i}", f"{error.mean:.2%}", f"{error.worst:.2%}"])
    for name, error in (
        ("decoder alone, given the same latent", found.decoder),
        ("whole picture", found.picture),
    ):
        rows.append([name, f"{error.mean:.2f}", f"{error.worst:.2f}"])
    yield from table(["stage", "mean", "worst picture"], rows)


def _people(report: Report, images: set[str]) -> Iterator[str]:
    people, near = report.people, report.nearest
    if people is not None:
        yield "## Another seed, another person\n"
        rows = [
            ["two seeds of one prompt", f"{people.seeds:.2f}"],
            ["the two most alike of them", f"{people.nearest:.2f}"],
            ["two renders of one prompt's demands", f"{people.renders:.2f}"],
            ["two renders of any prompts", f"{people.strangers:.2f}"],
        ]
        yield from table(["mean distance in the judge's features", ""], rows)
    if near is not None:
        yield "## Nearest training pictures\n"
        yield (
            f"Of {near.known:,} training pictures and their mirror images the nearest to "
            f"{len(near.pixels)} drawn faces, against the same for {len(near.held_out_pixels)} "
            "held-out renders, which are new for certain.\n"
        )
        groups = (
            ("pixels (RMS of 255), drawn", near.pixels),
            ("pixels, held-out render", near.held_out_pixels),
            ("features, drawn", near.features),
            ("features, held-out render", near.held_out_features),
        )
        rows = [
            [name, f"{min(values):.2f}", f"{sum(values) / len(values):.2f}"]
            for name, values in groups
        ]
        yield from table(["distance", "nearest", "mean"], rows)
        if "neighbours.png" in images:
            yield "Drawn, nearest by pixels, nearest by features:\n"
            yield "![Drawn faces and their neighbours](neighbours.png)\n"


def _sheets(images: set[str], prompts: int, plan: Plan) -> Iterator[str]:
    chosen = "one prompt a column, seed 0"
    for name, title, text in (
        ("steps", "Steps", f"{chosen}; a row for each number of steps."),
        ("guidance", "Guidance", f"{chosen}; a row for each guidance, at {FULL.steps} steps."),
        ("seeds", "Seeds", f"A row is one prompt, a column one seed, at {FULL}."),
        (
            "prompts",
            f"All {prompts} prompts",
            f"The first {min(SHOWN, plan.seeds)} seeds of each, at {FULL}.",
        ),
    ):
        if f"{name}.png" in images:
            yield f"## {title}\n"
            yield text[0].upper() + text[1:] + " Sheets are reduced to 256 colours.\n"
            yield f"![{title}]({name}.png)\n"


def _prompts(report: Report) -> Iterator[str]:
    lacking: dict[str, list[str]] = {}
    for failure in report.full.failures:
        lacking.setdefault(failure.prompt, []).extend(one.label for one in failure.missing)
    failed = [one.prompt for one in report.full.failures]
    yield "## The prompts\n"
    rows = []
    for number, one in enumerate(report.expectations, 1):
        missing = lacking.get(one.prompt, [])
        rows.append(
            [
                str(number),
                one.prompt + (" (rare)" if one.rare else ""),
                ", ".join(demand.label for demand in one.demands),
                f"{failed.count(one.prompt)} of {report.plan.seeds}" if missing else "",
                ", ".join(f"{missing.count(name)} {name}" for name in sorted(set(missing))),
            ]
        )
    yield from table(["", "prompt", "demands", "failed", "missing"], rows)
