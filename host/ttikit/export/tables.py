"""Tables that the ops read from the model file."""

from __future__ import annotations

import math

import numpy as np

GELU_POINTS = 1024
GELU_RANGE = 6.0


def gelu() -> np.ndarray:
    """Return float32 (1024, 2): GELU x·Φ(x) at −6 + 12·i/1024, and the step to the next.

    Source: Hendrycks & Gimpel, 2016; Φ through the error function.
    """
    x = [-GELU_RANGE + 2 * GELU_RANGE * i / GELU_POINTS for i in range(GELU_POINTS + 1)]
    value = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x])
    return np.stack([value[:-1], np.diff(value)], axis=1).astype(np.float32)


def time_frequencies(count: int) -> np.ndarray:
    """Return float32 (count,): 1000 · 10000^(−k/count) radians per unit of time, in turns.

    Source: Peebles & Xie, "Scalable diffusion models with transformers", 2023 (time features).
    """
    k = np.arange(count, dtype=np.float64)
    return (1000 * 10000 ** (-k / count) / (2 * math.pi)).astype(np.float32)
