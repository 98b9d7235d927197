"""int8 against float32, stage by stage: what quantisation costs.

The firmware's buffers are compared with the float model on the same tokens and the same noise:
the text vector, the latent after each step, the picture; and the decoder alone, given the latent
that the firmware itself has drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ttikit.errors import TtiError
from ttikit.evaluate.firmware import Job

if TYPE_CHECKING:
    from ttikit.data.vocabulary import Ids
    from ttikit.export.reference import FloatModel

BATCH = 16


@dataclass(frozen=True)
class Error:
    """Mean over the pictures, and the worst picture."""

    mean: float
    worst: float


@dataclass(frozen=True)
class Precision:
    """Errors of int8. Vectors and latents: RMS of the difference over RMS of the float value.

    Pictures: mean absolute difference in levels of 255.
    """

    count: int
    text: Error
    steps: tuple[Error, ...]
    decoder: Error
    picture: Error


@dataclass
class _Batch:
    """What one side computed: text (N, 192), latents (steps, N, 1024), pictures (N, 64, 64, 3)."""

    text: NDArray[np.float32]
    latents: NDArray[np.float32]
    pictures: NDArray[np.uint8]


def check_pair(words: NDArray[np.float32], known: NDArray[np.float32], path: Path) -> None:
    """Refuse float weights that a model was not exported from, by the vectors of its words.

    words: `text.embed` of the .tti file, never quantised; known: that of the weights at `path`,
    perhaps in half precision. Raises TtiError.
    """
    if words.shape != known.shape or not np.allclose(words, known, rtol=2e-3, atol=1e-4):
        raise TtiError(
            f"{path} is not what the model was exported from: "
            f"give the folder of the right weights with --float"
        )


def measure(
    source: FloatModel,
    forms: Mapping[str, Ids],
    jobs: Sequence[Job],
    drawn: Iterable[Sequence[bytes]],
) -> Precision:
    """Compare the firmware's stages `drawn` of `jobs` (one setting) with the float model.

    drawn: per job text vector, latent after each step, picture (`Artist.stages`).
    """
    if len({(job.steps, job.guidance) for job in jobs}) != 1:
        raise ValueError("the jobs must share one setting")
    parts: dict[str, list[NDArray[np.float64]]] = {"text": [], "decoder": [], "picture": []}
    steps: list[NDArray[np.float64]] = []
    stream = iter(drawn)
    for start in range(0, len(jobs), BATCH):
        some = jobs[start : start + BATCH]
        ours = _parsed([next(stream) for _ in some])
        theirs, decoded = _float_batch(source, forms, some, ours.latents[-1])
        parts["text"].append(_relative(ours.text, theirs.text))
        steps.append(_relative(ours.latents, theirs.latents))
        parts["decoder"].append(_levels(ours.pictures, decoded))
        parts["picture"].append(_levels(ours.pictures, theirs.pictures))
    next(stream, None)  # lets the stream close its progress bar
    by_step = np.concatenate(steps, axis=1)
    return Precision(
        len(jobs),
        _error(parts["text"]),
        tuple(_error([row]) for row in by_step),
        _error(parts["decoder"]),
        _error(parts["picture"]),
    )


def _parsed(drawn: Sequence[Sequence[bytes]]) -> _Batch:
    text = np.stack([np.frombuffer(stages[0], np.float32) for stages in drawn])
    latents = np.stack(
        [np.frombuffer(b"".join(stages[1:-1]), np.float32).reshape(-1, 1024) for stages in drawn],
        axis=1,
    )
    pictures = np.stack([np.frombuffer(stages[-1], np.uint8) for stages in drawn])
    return _Batch(text, latents, pictures.reshape(-1, 64, 64, 3))


def _float_batch(
    source: FloatModel, forms: Mapping[str, Ids], jobs: Sequence[Job], last: NDArray[np.float32]
) -> tuple[_Batch, NDArray[np.uint8]]:
    """Return what float computes, and its decoder's pictures of the firmware's `last` latents."""
    import torch

    from ttikit.export.reference import board_noise, patches, plane, tokens
    from ttikit.training.sampling import one_branch, path

    ids = torch.from_numpy(tokens([job.prompt for job in jobs], forms))
    steps, guidance = jobs[0].steps, jobs[0].guidance / 100
    with torch.no_grad():
        field = one_branch(source.model, ids, guidance, steps)
        noise = torch.cat([board_noise(job.seed) for job in jobs])
        latents = [x.numpy() for x in path(field, noise, steps)]
        text = source.model.text(ids).numpy()
    mean, std = source.mean.numpy(), source.std.numpy()
    pictures = source.pictures((latents[-1] * std + mean).astype(np.float32))
    decoded = source.pictures((plane(last) * std + mean).astype(np.float32))
    return _Batch(text, np.stack([patches(x) for x in latents]), pictures), decoded


def _relative(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> NDArray[np.float64]:
    """RMS of the difference over RMS of `theirs`, over the last axis."""
    gap = ours.astype(np.float64) - theirs
    size = np.sqrt((theirs.astype(np.float64) ** 2).mean(axis=-1))
    return np.sqrt((gap**2).mean(axis=-1)) / size


def _levels(ours: NDArray[np.uint8], theirs: NDArray[np.uint8]) -> NDArray[np.float64]:
    return np.abs(ours.astype(np.float64) - theirs).mean(axis=(1, 2, 3))


def _error(parts: Sequence[NDArray[np.float64]]) -> Error:
    values = np.concatenate(parts)
    return Error(float(values.mean()), float(values.max()))
