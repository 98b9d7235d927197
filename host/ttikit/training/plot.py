"""Loss curve of a run as a PNG, drawn with Pillow."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL import Image, ImageDraw

from ttikit.files import write_atomically

WIDTH, HEIGHT, MARGIN = 900, 420, 50


def read_log(path: Path) -> list[dict[str, float]]:
    """Rows of a log; a line that a power cut left unfinished is skipped."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def plot_log(log: Path, out: Path) -> None:
    """Draw loss over samples into ``out``; nothing happens before two rows are logged."""
    points = [(row["samples"], row["loss"]) for row in read_log(log) if "loss" in row]
    if len(points) < 2:
        return
    # The first values of a run dwarf all others: the upper 2 % are cut off.
    ordered = sorted(loss for _, loss in points)
    low, high = ordered[0], ordered[int(0.98 * (len(ordered) - 1))]
    high = max(high, low + 1e-9)
    last = max(points[-1][0], 1)

    def place(samples: float, loss: float) -> tuple[float, float]:
        x = MARGIN + (WIDTH - 2 * MARGIN) * samples / last
        y = MARGIN + (HEIGHT - 2 * MARGIN) * (high - min(loss, high)) / (high - low)
        return x, y

    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    for k in range(6):
        loss = low + (high - low) * k / 5
        y = place(0, loss)[1]
        draw.line([(MARGIN, y), (WIDTH - MARGIN, y)], fill="#dddddd")
        draw.text((4, y - 6), f"{loss:.4g}", fill="black")
    draw.line([place(*point) for point in points], fill="#1f5fbf", width=2)
    draw.text((MARGIN, HEIGHT - MARGIN + 12), f"loss over {last:,.0f} samples", fill="black")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, buffer.getvalue())
