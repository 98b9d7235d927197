"""Writes pictures.json anew after the weights or the arithmetic changed; `make golden` runs it.

Firmware and simulator must agree on every row, otherwise nothing is written.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROWS = [  # prompt, seed, steps, guidance
    ("пожилой мужчина", 1, 2, 3),
    ("пожилой мужчина", 1, 8, 3),
    ("улыбающаяся девушка со светлыми волосами", 7, 8, 3),
    ("улыбающаяся девушка со светлыми волосами", 8, 4, 3),
    ("дедушка с седой бородой", 3, 2, 3),
    ("лысый мужчина в очках", 42, 4, 2.5),
    ("брюнетка в шляпе", 4294967295, 2, 5),
    ("рыжая девушка в очках", 0, 4, 3),
    ("бабушка", 12345, 2, 1),
    ("мужчина без бороды", 99, 1, 3),
    ("женщина с красной помадой и серьгами", 2026, 16, 3),
    ("улыбающийся парень с усами", 5, 3, 4.25),
]


def simulate(prompt: str, seed: int, steps: int, guidance: float, model: Path) -> str:
    """Return the SHA-256 of the picture from `ttikit simulate`."""
    options = [
        "--seed",
        seed,
        "--steps",
        steps,
        "--guidance",
        guidance,
        "--model",
        model,
        "--json",
    ]
    command = [sys.executable, "-m", "ttikit", "simulate", prompt, *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["sha256"]


DRAW = """
import hashlib, sys, tti
out = bytearray(tti.PICTURE_BYTES)
model, prompt, seed, steps, guidance = sys.argv[1:]
tti.load(model).generate_into(out, prompt, int(seed), int(steps), float(guidance))
print(hashlib.sha256(out).digest().hex())
"""


def draw(prompt: str, seed: int, steps: int, guidance: float, model: Path, firmware: Path) -> str:
    """Return the SHA-256 of the picture from the firmware."""
    command = [str(firmware), "-c", DRAW, *map(str, (model, prompt, seed, steps, guidance))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(model: Path, firmware: Path) -> None:
    """Draw every row on both backends and write the hashes."""
    rows = []
    for row in ROWS:
        sha256 = simulate(*row, model)
        if draw(*row, model, firmware) != sha256:
            sys.exit(f"firmware and simulator differ for {row}; nothing was written")
        rows.append(
            dict(zip(("prompt", "seed", "steps", "guidance"), row, strict=True))
            | {"sha256": sha256}
        )
        print(sha256[:16], *row)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (HERE / "pictures.json").write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
