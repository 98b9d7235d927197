"""Weights of linear layers and convolutions as int8 with a scale per output channel."""

from __future__ import annotations

import numpy as np

from ttikit.model_file import Tensor

CHUNK = 96  # input columns of the layers `o` and `fc2` that share a scale; see transformer.py
VECTOR = 16  # a row of weights is padded to this many bytes
Float = np.ndarray


def quantize_rows(weight: Float) -> tuple[np.ndarray, Float]:
    """Return (q int8, scale float32) of weight (…, K): weight ≈ q · scale, scale = absmax / 127.

    Rounds half to even, never gives −128; an all-zero row has scale 0.
    """
    weight = np.asarray(weight, np.float32)
    scale = np.abs(weight).max(axis=-1) / np.float32(127)
    divisor = np.where(scale > 0, scale, np.float32(1))
    q = np.clip(np.rint(weight / divisor[..., None]), -127, 127).astype(np.int8)
    return q, scale.astype(np.float32)


def linear(
    name: str, weight: Float, bias: Float, *, chunked: bool = False, gain: float = 1.0
) -> dict[str, Tensor]:
    """Return the tensors NAME.weight, .scale and .bias of a linear layer.

    Args:
        name: name of the layer in the model file.
        weight: (O, K) float32.
        bias: (O,) float32.
        chunked: cut K into chunks of 96 with scales of their own: weight (K/96 · O, 96).
        gain: factor of the layer's output, folded into weight and bias.
    """
    weight = np.asarray(weight, np.float32) * np.float32(gain)
    if chunked:
        outputs, inputs = weight.shape
        weight = weight.reshape(outputs, inputs // CHUNK, CHUNK).swapaxes(0, 1).reshape(-1, CHUNK)
    q, scale = quantize_rows(weight)
    return {
        f"{name}.weight": Tensor(np.ascontiguousarray(q), scale=f"{name}.scale"),
        f"{name}.scale": Tensor(scale),
        f"{name}.bias": Tensor(np.asarray(bias, np.float32) * np.float32(gain)),
    }


def convolution(weight: Float) -> tuple[np.ndarray, Float]:
    """Return (q int8 (O, 9·C padded to 16), scale float32 (O,)) of weight (O, C, 3, 3)."""
    rows = np.asarray(weight, np.float32).transpose(0, 2, 3, 1).reshape(len(weight), -1)
    padding = -rows.shape[1] % VECTOR
    return quantize_rows(np.pad(rows, ((0, 0), (0, padding))))
