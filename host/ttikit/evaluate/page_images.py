"""The pictures of the page: plots and sheets of an evaluation as PNGs."""

from __future__ import annotations

from pathlib import Path

from ttikit.evaluate import plots, sheets
from ttikit.evaluate.evaluation import Sheets
from ttikit.evaluate.expectations import Demand
from ttikit.evaluate.measures import limit_of
from ttikit.evaluate.report import Report
from ttikit.evaluate.settings import FAST, FULL, OVER_GUIDANCE, OVER_STEPS


def write_images(report: Report, pictures: Sheets, folder: Path) -> set[str]:
    """Write the PNGs into `folder`; their names."""
    images = {"attributes.png": plots.bar_chart(*_bars(report))}
    if report.frechet is not None:
        images["frechet.png"] = plots.curves(*_curves(report))
    for name, grid in pictures.grids.items():
        if name == "prompts":
            seeds = grid.shape[1] // 4
            image = sheets.blocks_image(grid, seeds, len(report.expectations))
        else:
            image = sheets.grid_image(grid, rows=_row_names(name, len(grid)))
        images[f"{name}.png"] = image
    if pictures.failed:
        images["failed.png"] = sheets.words_image(pictures.failed)
    for name, image in images.items():
        sheets.write_png(folder / name, image)
    return set(images)


def _row_names(name: str, count: int) -> list[str]:
    if name == "steps":
        return [str(one.steps) for one in OVER_STEPS]
    if name == "guidance":
        return [f"{one.guidance / 100:g}" for one in OVER_GUIDANCE]
    if name == "neighbours":
        return ["drawn", "pixels", "features"] * (count // 3)
    return []


def _bars(report: Report) -> tuple[list[plots.Bars], list[str]]:
    sets = [report.obedience[FULL], report.obedience[FAST]]
    legend = [f"{FULL.steps} steps", f"{FAST.steps} steps"]
    if report.truth is not None:
        sets.append(report.truth)
        legend.append("real renders, decoded")
    rows = []
    for one in by_clearness(report):
        limit = limit_of(one) if one.counts(report.clear) else None
        values = [each.presence.of(one).value for each in sets]
        rows.append(plots.Bars(one.label, values, limit))
    return rows, legend


def _curves(report: Report) -> tuple[list[tuple[str, dict[str, float]]], dict[str, float]]:
    found = report.frechet
    assert found is not None
    steps = {str(one.steps): found.of(one) for one in OVER_STEPS if one in found.values}
    guidance = {
        f"{one.guidance / 100:g}": found.of(one) for one in OVER_GUIDANCE if one in found.values
    }
    lines = {"decoded real latents": found.baseline, "renders": found.floor}
    charts = [("steps, guidance 3", steps), (f"guidance, {FULL.steps} steps", guidance)]
    return charts, lines


def by_clearness(report: Report) -> list[Demand]:
    """All demands: clear ones first, the weakest of each kind on top."""
    shares = report.full.presence
    demands = shares.demands()
    return sorted(
        demands, key=lambda one: (not one.counts(report.clear), shares.of(one).value, one.label)
    )
