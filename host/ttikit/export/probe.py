"""What every stage of one picture must give: the record in a model file that boards check."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterable
from typing import Any

from ttikit.simulator import install

SEED, STEPS, GUIDANCE = 1, 1, 3


def probe(content: bytes, words: Iterable[str]) -> dict[str, Any]:
    """Draw one picture with the model in ``content`` on the simulator.

    Args:
        content: a model file.
        words: the first one is the prompt; words of the model's vocabulary.

    Returns:
        The recipe of the picture, and "stages", a list of [name, CRC-32 of the stage's buffer],
        which ends with the picture itself.
    """
    install()
    weights = importlib.import_module("tti.weights").Weights(bytearray(content))
    pipeline = importlib.import_module("tti.pipeline")
    prompt = next(iter(words))
    picture = bytearray(pipeline.PICTURE_BYTES)
    drawing = pipeline.Pipeline(weights).stages(prompt, picture, SEED, STEPS, GUIDANCE)
    stages = [[name, zlib.crc32(buffer)] for name, buffer in drawing]
    return {
        "prompt": prompt,
        "seed": SEED,
        "steps": STEPS,
        "guidance": GUIDANCE,
        "stages": [*stages, ["picture", zlib.crc32(picture)]],
    }
