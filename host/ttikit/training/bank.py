"""Captions made before the training, for GPUs that are faster than captions can be made.

Making captions is a matter of words and branches: one CPU core makes about 20,000 in a second. The
bank holds some for every picture on the device; a step only chooses among them.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

# labels (N, attributes) uint8, random numbers → token ids (N, length), padded with 0
Captions = Callable[[NDArray[np.uint8], np.random.Generator], NDArray[np.int64]]

_CHUNK = 250  # pictures; part of what determines the captions


@dataclass(frozen=True)
class _Chunk:
    captions: Captions
    labels: NDArray[np.uint8]
    each: int
    seed: tuple[int, int]


def caption_bank(
    labels: NDArray[np.uint8],
    captions: Captions,
    each: int,
    seed: int,
    processes: int = 1,
    tells: bool = True,
) -> NDArray[np.int16]:
    """``each`` captions for every row of labels (N, attributes): token ids (N, each, longest).

    They depend on ``seed`` and the number of the picture, not on the number of processes. More
    than one process needs ``captions`` that can be pickled. ``tells`` shows a progress bar.
    """
    chunks = [
        _Chunk(captions, labels[start : start + _CHUNK], each, (seed, start))
        for start in range(0, len(labels), _CHUNK)
    ]
    made = _made(chunks, processes)
    bank = np.concatenate(
        list(track(made, description="captions", total=len(chunks), disable=not tells))
    )
    longest = int((bank != 0).sum(2).max(initial=1))
    return np.ascontiguousarray(bank[:, :, :longest])


def _made(chunks: list[_Chunk], processes: int) -> Iterator[NDArray[np.int16]]:
    if processes == 1:
        yield from map(_make, chunks)
        return
    # Forked children would inherit the state of CUDA, which does not survive that.
    with multiprocessing.get_context("spawn").Pool(processes, _quiet) as pool:
        yield from pool.imap(_make, chunks)


def _make(chunk: _Chunk) -> NDArray[np.int16]:
    rng = np.random.default_rng(chunk.seed)
    tokens = chunk.captions(np.repeat(chunk.labels, chunk.each, axis=0), rng)
    return tokens.astype(np.int16).reshape(len(chunk.labels), chunk.each, -1)


def _quiet() -> None:
    """Leave Ctrl-C to the main process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
