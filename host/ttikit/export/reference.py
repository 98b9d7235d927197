"""The float32 model on the board's own noise and tokens: what int8 is measured against."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.progress import track

from ttikit import simulator
from ttikit.data.vocabulary import Ids
from ttikit.errors import TtiError
from ttikit.training.autoencoder import load_autoencoder, to_pixels
from ttikit.training.diffusion import load_diffusion
from ttikit.training.latents import check_autoencoder
from ttikit.training.sampling import euler, one_branch

BATCH = 16


def prompts() -> list[str]:
    """Return the 64 prompts that calibration and comparison use."""
    return Path(__file__).with_name("prompts.txt").read_text("utf-8").split("\n")[:-1]


class FloatModel:
    """A trained model in float32: `diffusion` and `autoencoder` are files of training runs."""

    def __init__(self, diffusion: Path, autoencoder: Path) -> None:
        self.model, space, _ = load_diffusion(diffusion)
        self.mean, self.std = space.mean, space.std
        check_autoencoder(autoencoder, space.autoencoder)
        self.decoder = load_autoencoder(autoencoder).decoder

    def latents(
        self,
        tokens: np.ndarray,
        seeds: Sequence[int],
        steps: int = 8,
        guidance: float = 3.0,
        note: str = "float model",
    ) -> np.ndarray:
        """Return decoder inputs (N, 16, 16, 4) float32 for tokens (N, 32) and N seeds; ``note``
        stands before the progress bar, without one there is no bar."""
        parts = []
        for start in track(range(0, len(seeds), BATCH), description=note, disable=not note):
            noise = torch.cat([board_noise(seed) for seed in seeds[start : start + BATCH]])
            ids = torch.from_numpy(tokens[start : start + BATCH])
            with torch.no_grad():
                field = one_branch(self.model, ids, guidance, steps)
                parts.append(euler(field, noise, steps) * self.std + self.mean)
        return torch.cat(parts).numpy()

    def pictures(self, latents: np.ndarray) -> np.ndarray:
        """Return pictures (N, 64, 64, 3) uint8 of decoder inputs (N, 16, 16, 4)."""
        with torch.no_grad():
            z = torch.from_numpy(latents).permute(0, 3, 1, 2).contiguous()
            return np.concatenate([to_pixels(self.decoder(part)).numpy() for part in z.split(16)])


def board_noise(seed: int) -> torch.Tensor:
    """Return the start noise (1, 16, 16, 4) of `seed` on a board (docs/arithmetic.md, §9)."""
    values = np.empty(1024, np.float32)
    simulator.noise(values, seed, values.size)
    return torch.from_numpy(plane(values[None]).copy())


def plane(values: np.ndarray) -> np.ndarray:
    """Return latents (N, 1024) in the board's order, 64 patches of 2×2×4, as (N, 16, 16, 4)."""
    split = values.reshape(-1, 8, 8, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5)
    return split.reshape(-1, 16, 16, 4)


def patches(latents: np.ndarray) -> np.ndarray:
    """Undo `plane`: (N, 16, 16, 4) → (N, 1024)."""
    split = latents.reshape(-1, 8, 2, 8, 2, 4).transpose(0, 1, 3, 2, 4, 5)
    return split.reshape(len(latents), -1)


def tokens(texts: Sequence[str], forms: Mapping[str, Ids]) -> np.ndarray:
    """Return int64 (N, 32): the ids that the board's tokenizer gives each text."""
    return np.stack(list(_encoded(texts, forms)))


def _encoded(texts: Sequence[str], forms: Mapping[str, Ids]) -> Iterator[np.ndarray]:
    simulator.install()
    tokenizer = importlib.import_module("tti.tokenizer")
    encoder = tokenizer.Tokenizer(forms)
    for text in texts:
        ids = bytearray(tokenizer.MAX_TOKENS)
        _, notes = encoder.encode(text, ids)
        if notes:
            raise TtiError(f"the prompt «{text}» does not fit the vocabulary: {notes[0]}")
        yield np.frombuffer(ids, np.uint8).astype(np.int64)
