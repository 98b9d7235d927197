"""Draws the pictures of the README with the firmware: `make pictures`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
PROMPTS = (
    "улыбающаяся девушка со светлыми волосами",
    "пожилой мужчина",
    "дедушка с седой бородой",
    "рыжая девушка в очках",
    "брюнетка",
    "мужчина в шляпе",
    "лысый мужчина в очках",
    "бабушка",
)
SEEDS = range(13, 21)
ZOOM = 2

DRAW = """
import sys, tti
pipeline = tti.load(sys.argv[1])
out = bytearray(tti.PICTURE_BYTES)
with open(sys.argv[2], "wb") as file:
    for seed in sys.argv[3].split():
        for prompt in sys.argv[4:]:
            pipeline.generate_into(out, prompt, int(seed), 8, 3)
            file.write(out)
"""


def main(firmware: str, model: str) -> None:
    """Write face.png, the picture of the README's command, and faces.png, prompts × seeds."""
    raw = HERE / "faces.rgb"
    seeds = " ".join(map(str, SEEDS))
    try:
        subprocess.run([firmware, "-c", DRAW, model, str(raw), seeds, *PROMPTS], check=True)
        faces = np.fromfile(raw, np.uint8).reshape(len(SEEDS), len(PROMPTS), 64, 64, 3)
    finally:
        raw.unlink(missing_ok=True)
    first = Image.fromarray(faces[0, 0])
    first.resize((256, 256), Image.Resampling.NEAREST).save(HERE / "face.png")
    grid = faces.transpose(0, 2, 1, 3, 4).reshape(64 * len(SEEDS), 64 * len(PROMPTS), 3)
    sheet = Image.fromarray(grid)
    size = (sheet.width * ZOOM, sheet.height * ZOOM)
    sheet.resize(size, Image.Resampling.NEAREST).save(HERE / "faces.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
