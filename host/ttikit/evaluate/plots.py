"""Plots of an evaluation, drawn with Pillow: bars of presence, curves of the distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

COLOURS = ("#1f5fbf", "#e08214", "#4d9221")
GREY = "#d5d5d5"
_BAR, _ROW, _LEFT, _WIDTH = 7, 26, 150, 700
_CURVE = (340, 240)
_MARGIN = 46


@dataclass(frozen=True)
class Bars:
    """A row of a bar chart: a name, values from 0 to 1 and the limit they should reach."""

    name: str
    values: Sequence[float]
    limit: float | None


def bar_chart(rows: Sequence[Bars], legend: Sequence[str]) -> Image.Image:
    """Horizontal bars from 0 to 100 %, a group per row; a black mark is the row's limit."""
    font = ImageFont.load_default(size=11)
    height = len(rows) * _ROW + 44
    image = Image.new("RGB", (_WIDTH, height), "white")
    draw = ImageDraw.Draw(image)
    scale = _WIDTH - _LEFT - 40

    def x(value: float) -> float:
        return _LEFT + scale * value

    for tenth in range(0, 11, 2):
        draw.line([(x(tenth / 10), 20), (x(tenth / 10), height - 20)], fill=GREY)
        draw.text((x(tenth / 10) - 8, height - 16), f"{tenth * 10}%", "black", font)
    for k, name in enumerate(legend):
        draw.rectangle((_LEFT + k * 170, 4, _LEFT + k * 170 + 10, 14), COLOURS[k])
        draw.text((_LEFT + k * 170 + 15, 2), name, "black", font)
    for i, row in enumerate(rows):
        top = 24 + i * _ROW
        draw.text((4, top + 3), row.name, "black", font)
        for k, value in enumerate(row.values):
            y = top + k * _BAR
            if value == value:  # not NaN
                draw.rectangle((_LEFT, y, x(value), y + _BAR - 2), COLOURS[k])
        if row.limit is not None:
            draw.line([(x(row.limit), top - 2), (x(row.limit), top + _ROW - 6)], "black", 2)
    return image


def curves(
    charts: Sequence[tuple[str, Mapping[str, float]]], lines: Mapping[str, float]
) -> Image.Image:
    """Charts side by side, one point per named value, with horizontal lines in each of them."""
    width, height = _CURVE
    image = Image.new("RGB", (width * len(charts), height), "white")
    draw = ImageDraw.Draw(image)
    high = max([*lines.values(), *(v for _, values in charts for v in values.values())]) * 1.08
    for i, (title, values) in enumerate(charts):
        _curve(draw, i * width, title, values, lines, high or 1.0)
    return image


def _curve(
    draw: ImageDraw.ImageDraw,
    left: int,
    title: str,
    values: Mapping[str, float],
    lines: Mapping[str, float],
    high: float,
) -> None:
    font = ImageFont.load_default(size=11)
    width, height = _CURVE
    x0, x1, y0, y1 = left + _MARGIN, left + width - 12, height - 34, 24

    def y(value: float) -> float:
        return y0 - (y0 - y1) * value / high

    draw.text((x0, 4), title, "black", font)
    for k in range(5):
        value = high * k / 4
        draw.line([(x0, y(value)), (x1, y(value))], fill=GREY)
        draw.text((left + 4, y(value) - 7), f"{value:.3g}", "black", font)
    for k, (name, value) in enumerate(lines.items()):
        draw.line([(x0, y(value)), (x1, y(value))], COLOURS[1 + k % 2], 1)
        # One name above its line on the right, the other below on the left: lines may coincide.
        place = (x0 + 4, y(value) + 2) if k % 2 else (x1 - font.getlength(name), y(value) - 14)
        draw.text(place, name, COLOURS[1 + k % 2], font)
    gap = (x1 - x0) / max(len(values), 1)
    points = [(x0 + gap * (i + 0.5), y(value)) for i, value in enumerate(values.values())]
    if len(points) > 1:
        draw.line(points, COLOURS[0], 2)
    for (px, py), name in zip(points, values, strict=True):
        draw.ellipse((px - 3, py - 3, px + 3, py + 3), COLOURS[0])
        draw.text((px - font.getlength(name) / 2, y0 + 6), name, "black", font)
