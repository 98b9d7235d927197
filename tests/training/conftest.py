"""Small data and small networks for the training tests; no renderer is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.training.latents import LatentCache  # noqa: E402
from ttikit.training.loop import prepare_cpu  # noqa: E402
from ttikit.training.models import ModelConfig  # noqa: E402

SMALL = ModelConfig(dim=32, hidden=48, depth=2, text_dim=32, text_hidden=32, text_depth=1, size=8)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    prepare_cpu(1)


@pytest.fixture
def pictures() -> np.ndarray:
    """24 smooth pictures (24, 64, 64, 3): blobs of random colours and places."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:64, :64, :1][:2]
    out = []
    for _ in range(24):
        centre = rng.uniform(16, 48, 2)
        near = np.exp(-((y - centre[0]) ** 2 + (x - centre[1]) ** 2) / 200)
        out.append(rng.uniform(0, 255, 3) * (1 - near) + rng.uniform(0, 255, 3) * near)
    return np.stack(out).astype(np.uint8)


@pytest.fixture
def cache() -> LatentCache:
    """A fresh `small_cache`."""
    return small_cache()


def small_cache() -> LatentCache:
    """40 pictures of two kinds, told apart by one attribute, as latents (40, 8, 8, 4)."""
    random = torch.Generator().manual_seed(3)
    labels = (torch.arange(40) % 2).to(torch.uint8)[:, None]
    base = torch.randn(2, 8, 8, 4, generator=random)
    latents = base[labels[:, 0].long()] + 0.1 * torch.randn(40, 8, 8, 4, generator=random)
    flat = latents.reshape(-1, 4)
    return LatentCache(
        latents=latents.half(),
        mirrored=latents.flip(2).half(),
        labels=labels,
        held_out=latents[:8].half(),
        held_out_labels=labels[:8],
        mean=flat.mean(0),
        std=flat.std(0),
        attributes=["Male"],
        autoencoder="test",
    )


def strangers() -> Iterator[tuple[LatentCache, str]]:
    """Caches that no model of `small_cache` may be used with, and what is said of them."""
    known = small_cache()
    yield replace(known, autoencoder="other"), "latents of another autoencoder"
    yield replace(known, mean=known.mean + 1e-6), "latents of another scale"
    yield replace(known, std=known.std * 2), "latents of another scale"
    yield replace(known, data={"domain": "shapes"}), "words of another domain"


def celebrities() -> LatentCache:
    """A `small_cache` of pictures under another licence than renders."""
    return replace(small_cache(), data={"source": "celeba"})


def captions(labels: np.ndarray, rng: np.random.Generator, length: int = 32) -> np.ndarray:
    """Stand-in for the caption grammar: one word for the attribute, one of three others."""
    tokens = np.zeros((len(labels), length), np.int64)
    tokens[:, 0] = 1 + labels[:, 0]
    tokens[:, 1] = rng.integers(3, 6, size=len(labels))
    return tokens
