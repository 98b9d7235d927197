"""The decoder in int8: static scales, found on latents that the model itself made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from ttikit.export.quantize import Moments, convolution
from ttikit.model_file import Tensor

# Layer → (the layer whose output it reads, the layer whose output it adds or None).
LAYERS: dict[str, tuple[str, str | None]] = {
    "conv_in": ("latent", None),
    "res1.conv1": ("conv_in", None),
    "res1.conv2": ("res1.conv1", "conv_in"),
    "up1": ("res1.conv2", None),
    "res2.conv1": ("up1", None),
    "res2.conv2": ("res2.conv1", "up1"),
    "up2": ("res2.conv2", None),
    "res3.conv1": ("up2", None),
    "res3.conv2": ("res3.conv1", "up2"),
    "conv_out": ("res3.conv2", None),
}
# Outputs that also reach a residual sum keep their sign; all others are only read through a ReLU.
SIGNED = {"conv_in", "up1", "up2"}
HALF = np.float32(127.5)


@dataclass(frozen=True)
class LatentScale:
    """Mean and standard deviation of each latent channel, float32 (4,)."""

    mean: np.ndarray
    std: np.ndarray


def activation_scales(
    decoder: Callable[[torch.Tensor], torch.Tensor], latents: np.ndarray, percentile: float
) -> dict[str, np.ndarray]:
    """Return the static scale of each layer's output (and "latent": one per channel).

    Args:
        decoder: the float `Decoder` module, with the layers named in LAYERS.
        latents: decoder inputs (N, 16, 16, 4), as the model makes them.
        percentile: share of values other than zero, in per cent, that must not be clipped.
    """
    return {
        name: scale_of(values, percentile)
        for name, values in activations(decoder, latents).items()
    } | {"latent": latent_scale(latents)}


def scale_of(values: np.ndarray, percentile: float) -> np.ndarray:
    """Return the scale, a float32 scalar, of magnitudes from `activations`.

    Zeros do not count: any scale holds them, and behind a ReLU they can be nearly all there is.
    """
    counted = values[values > 0]
    if counted.size == 0:
        return np.asarray(1 / 127, np.float32)
    return np.asarray(np.percentile(counted, percentile) / 127, np.float32)


def latent_scale(latents: np.ndarray) -> np.ndarray:
    """Return the scale (4,) of latents (N, 16, 16, 4), which clips none of their few values."""
    return (np.abs(latents).max(axis=(0, 1, 2)) / 127).astype(np.float32)


def activations(
    decoder: Callable[[torch.Tensor], torch.Tensor], latents: np.ndarray
) -> dict[str, np.ndarray]:
    """Return all magnitudes that each layer's int8 output has to hold, float32, not negative."""
    seen: dict[str, list[np.ndarray]] = {name: [] for name in LAYERS}
    modules = dict(decoder.named_modules())  # type: ignore[attr-defined]
    device = modules["conv_in"].weight.device
    hooks = []
    for name in LAYERS:
        owner = name.rsplit(".", 1)[0] if name.endswith("conv2") else name
        hooks.append(modules[owner].register_forward_hook(_recorder(seen[name], name in SIGNED)))
    try:
        with torch.no_grad():
            for start in range(0, len(latents), 16):
                z = torch.from_numpy(latents[start : start + 16]).permute(0, 3, 1, 2)
                decoder(z.contiguous().to(device))
    finally:
        for hook in hooks:
            hook.remove()
    # One layer at a time: all of them twice would take a gigabyte.
    return {name: np.concatenate(seen.pop(name)) for name in LAYERS}


def _recorder(values: list[np.ndarray], signed: bool) -> Callable[..., None]:
    def record(module: torch.nn.Module, inputs: object, output: torch.Tensor) -> None:
        values.append((output.abs() if signed else F.relu(output)).flatten().cpu().numpy())

    return record


def tensors(
    state: Mapping[str, np.ndarray],
    scales: Mapping[str, np.ndarray],
    latent: LatentScale,
    moments: Moments,
) -> dict[str, Tensor]:
    """Return the tensors decoder.* of the model file.

    Args:
        state: float32 weights and biases NAME.weight (O, C, 3, 3), NAME.bias (O,).
        scales: from `activation_scales`.
        latent: how the diffusion model's latents were standardised.
        moments: what `convolution` needs, by "decoder." and the names of LAYERS.
    """
    out = {
        "decoder.latent.m": Tensor((latent.std / scales["latent"]).astype(np.float32)),
        "decoder.latent.b": Tensor((latent.mean / scales["latent"]).astype(np.float32)),
    }
    for name, (source, added) in LAYERS.items():
        weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
        key = f"decoder.{name}"
        scale_in, moment = scales[source], moments.get(key)
        if source == "latent":  # a scale per channel lives in the weights
            if moment is not None:
                moment = moment / np.outer(np.tile(scale_in, 9), np.tile(scale_in, 9))
            weight, scale_in = weight * scale_in[None, :, None, None], np.ones((), np.float32)
        q, scale = convolution(weight, moment)
        if name == "conv_out":
            m, b = scale_in * scale * HALF, bias * HALF + HALF
        else:
            m, b = scale_in * scale / scales[name], bias / scales[name]
        out[f"{key}.weight"] = Tensor(q, scale=f"{key}.m")
        out[f"{key}.m"] = Tensor(m.astype(np.float32))
        out[f"{key}.b"] = Tensor(b.astype(np.float32))
        if added is not None:
            out[f"{key}.r"] = Tensor(np.array([scales[added] / scales[name]], np.float32))
    return out
