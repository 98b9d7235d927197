"""A model file with random weights: right in shape, quick to make, without torch."""

from pathlib import Path

import numpy as np
from ttikit.export import build
from ttikit.export.quantize import convolution
from ttikit.model_file import Tensor, write_model

FORMS = {"пожил": 1, "мужчи": 2, "девуш": 3, "светл": 4, "с": 5, "со": 5, "волос": 6, "йод": 7}
LAYERS = {  # decoder layer -> (outputs, inputs, adds a residual)
    "conv_in": (64, 4, False),
    "res1.conv1": (64, 64, False),
    "res1.conv2": (64, 64, True),
    "up1": (48, 64, False),
    "res2.conv1": (48, 48, False),
    "res2.conv2": (48, 48, True),
    "up2": (32, 48, False),
    "res3.conv1": (32, 32, False),
    "res3.conv2": (32, 32, True),
    "conv_out": (3, 32, False),
}


def state(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random weights under the names of the float model."""
    out: dict[str, np.ndarray] = {}

    def normal(name: str, *shape: int, std: float = 1.0) -> None:
        out[name] = (rng.normal(size=shape) * std).astype(np.float32)

    def layer(name: str, outputs: int, inputs: int) -> None:
        normal(f"{name}.weight", outputs, inputs, std=inputs**-0.5)
        normal(f"{name}.bias", outputs, std=0.1)

    def blocks(part: str, count: int, dim: int, hidden: int) -> None:
        for i in range(count):
            name = f"{part}.blocks.{i}"
            normal(f"{name}.table", 6, dim, std=0.5)
            for projection in "qkvo":
                layer(f"{name}.{projection}", dim, dim)
            layer(f"{name}.fc1", hidden, dim)
            layer(f"{name}.fc2", dim, hidden)

    normal("text.embed.weight", 64, 96)
    normal("text.pos", 32, 96, std=0.2)
    blocks("text", 3, 96, 288)
    layer("text.proj", 192, 96)
    normal("null", 192)
    normal("guide", 5, 192)
    normal("pace", 5, 192)
    normal("dit.pos", 64, 192)
    for name, outputs, inputs in (
        ("patch", 192, 16),
        ("time1", 192, 192),
        ("time2", 192, 192),
        ("adaln", 1536, 192),
        ("final", 16, 192),
    ):
        layer(f"dit.{name}", outputs, inputs)
    blocks("dit", 6, 192, 576)
    return out


def decoder(rng: np.random.Generator) -> dict[str, Tensor]:
    """Random tensors decoder.* whose activations fill the int8 range."""
    out = {
        "decoder.latent.m": Tensor(np.full(4, 30, np.float32)),
        "decoder.latent.b": Tensor(np.array([0, 5, -5, 1], np.float32)),
    }
    for name, (outputs, inputs, residual) in LAYERS.items():
        key = f"decoder.{name}"
        q, _ = convolution(rng.normal(size=(outputs, inputs, 3, 3)).astype(np.float32))
        gain = rng.uniform(0.5, 1.5, outputs) / (50 * np.sqrt(9 * inputs / 2))
        out[f"{key}.weight"] = Tensor(q, scale=f"{key}.m")
        out[f"{key}.m"] = Tensor(gain.astype(np.float32))
        out[f"{key}.b"] = Tensor(rng.normal(size=outputs).astype(np.float32) * 8)
        if residual:
            out[f"{key}.r"] = Tensor(np.array([0.7], np.float32))
    return out


def write(path: Path, seed: int = 0) -> Path:
    """Write a random model to `path` and return it."""
    rng = np.random.default_rng(seed)
    weights = state(rng)
    tensors = build.text_and_dit(weights, {}) | decoder(rng)
    write_model(path, tensors, build.metadata(weights, FORMS, {"name": "random weights"}))
    return path
