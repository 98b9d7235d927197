"""Float16 copies of trained weights, small enough to ship beside the int8 model."""

from __future__ import annotations

from pathlib import Path

import torch

from ttikit.training.autoencoder import load_autoencoder
from ttikit.training.checkpoint import load_tensors, save_tensors
from ttikit.training.latents import fingerprint

EXACT = ("latent.mean", "latent.std")  # few values that scale everything: kept in float32


def write_half(source: Path, target: Path) -> Path:
    """Write the tensors of the safetensors file `source` in float16 to `target`; return it."""
    tensors, about = load_tensors(source)
    if about.get("kind") == "autoencoder":  # rounding changes the fingerprint
        about.setdefault("fingerprint", fingerprint(load_autoencoder(source)))
    small = {name: t if name in EXACT else t.to(torch.float16) for name, t in tensors.items()}
    save_tensors(target, small, about)
    return target
