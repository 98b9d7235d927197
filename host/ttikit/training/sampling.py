"""Sampling in float32 torch, to look at a model while it trains. The board has its own sampler."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from ttikit.data.vocabulary import PADDING, Vocabulary
from ttikit.errors import TtiError
from ttikit.files import write_atomically
from ttikit.training.autoencoder import to_pixels
from ttikit.training.models import Decoder, TextToLatent

Field = Callable[[Tensor, float], Tensor]  # x, t → velocity of the same shape as x


def path(field: Field, noise: Tensor, steps: int) -> Iterator[Tensor]:
    """The latent after each of ``steps`` equal steps from t = 1 (``noise``) to t = 0.

    One step is x − v / steps.
    """
    if steps < 1:
        raise TtiError(f"sampling needs at least 1 step, not {steps}")
    x = noise
    for i in range(steps):
        x = x - field(x, 1 - i / steps) / steps
        yield x


def euler(field: Field, noise: Tensor, steps: int) -> Tensor:
    """The latent at the end of `path`."""
    for x in path(field, noise, steps):
        end = x
    return end


def guided(model: TextToLatent, tokens: Tensor, guidance: float) -> Field:
    """Velocity vu + g·(vc − vu) of ``tokens`` (B, length) against the hidden prompt."""
    text = model.text(tokens)
    null = model.null.expand_as(text)

    def field(x: Tensor, t: float) -> Tensor:
        times = x.new_full((len(x),), t)
        if guidance == 1:
            return model.dit(x, times, text)
        both = model.dit(torch.cat((x, x)), torch.cat((times, times)), torch.cat((text, null)))
        conditional, unconditional = both.chunk(2)
        return unconditional + guidance * (conditional - unconditional)

    return field


def one_branch(model: TextToLatent, tokens: Tensor, guidance: float, steps: int) -> Field:
    """Velocity of a distilled model for ``tokens`` (B, length), sampled in ``steps`` steps.

    A row of padding is an empty prompt.
    """
    if not model.config.guides:
        raise TtiError(
            "this model has no guidance of its own; distil it: ttikit train pairs, then reflow"
        )
    recipe = model.recipe(torch.tensor([float(guidance)]), torch.tensor([float(steps)]))
    text = model.prompt(tokens, (tokens == PADDING).all(1)) + recipe

    def field(x: Tensor, t: float) -> Tensor:
        return model.dit(x, x.new_full((len(x),), t), text)

    return field


def noise_of(seed: int, model: TextToLatent) -> Tensor:
    """Start noise (1, size, size, channels) of a seed; not the board's generator."""
    config = model.config
    random = torch.Generator().manual_seed(seed)
    return torch.randn(1, config.size, config.size, config.channels, generator=random)


@torch.no_grad()
def sample(
    model: TextToLatent,
    mean: Tensor,
    std: Tensor,
    decoder: Decoder,
    tokens: NDArray[np.int64],
    seeds: Sequence[int],
    steps: int = 8,
    guidance: float = 3.0,
) -> NDArray[np.uint8]:
    """Pictures (prompts, seeds, 64, 64, 3): ``tokens`` (prompts, length) by ``seeds``."""
    rows = []
    start = torch.cat([noise_of(seed, model) for seed in seeds])
    for row in torch.from_numpy(tokens):
        prompts = row.expand(len(seeds), -1)
        if model.config.guides:
            field = one_branch(model, prompts, guidance, steps)
        else:
            field = guided(model, prompts, guidance)
        latent = euler(field, start, steps) * std + mean
        rows.append(to_pixels(decoder(latent.permute(0, 3, 1, 2))).numpy())
    return np.stack(rows)


def sheet(pictures: NDArray[np.uint8], zoom: int = 2) -> Image.Image:
    """One image of pictures (rows, columns, H, W, 3), enlarged ``zoom`` times, with white gaps."""
    rows, columns, height, width = pictures.shape[:4]
    gap = 2
    canvas = np.full(
        (rows * (height + gap) + gap, columns * (width + gap) + gap, 3), 255, np.uint8
    )
    for r in range(rows):
        for c in range(columns):
            y, x = gap + r * (height + gap), gap + c * (width + gap)
            canvas[y : y + height, x : x + width] = pictures[r, c]
    image = Image.fromarray(canvas)
    return image.resize((image.width * zoom, image.height * zoom), Image.Resampling.NEAREST)


def save_png(path: Path, image: Image.Image) -> None:
    """Write ``image`` as a PNG, atomically."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())


def prompt_tokens(
    prompts: Sequence[str], length: int, vocabulary: Vocabulary
) -> NDArray[np.int64]:
    """Token ids (prompts, length), padded with 0; `TtiError` for a prompt without a word."""
    rows = np.zeros((len(prompts), length), np.int64)
    for row, prompt in zip(rows, prompts, strict=True):
        ids = vocabulary.tokenize(prompt)[0][:length]
        if not ids:
            some = ", ".join(vocabulary.meanings[1:6])
            raise TtiError(f"no word of {prompt!r} is known; the model knows {some} and more")
        row[: len(ids)] = ids
    return rows
