"""The decoder as boards compute it, in torch: the same bytes, and gradients for training.

Activations and weights are held as their int8 codes in float32, where sums of products of codes
are exact integers (below 2^24), so the bytes equal those of the graph over the simulator's ops.
Rounding has gradient 1 (straight-through, Bengio et al. 2013), clipping gradient 0 outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from ttikit.export.decoder import HALF, LAYERS
from ttikit.training.autoencoder import to_pixels
from ttikit.training.models import Decoder

DOUBLED = {"up1", "up2"}  # layers that read their input at twice the size
LIMIT = 127.0


class Int8Decoder(nn.Module):
    """Standardised latent (B, H, W, 4) → picture (B, 3, 4H, 4W) of whole numbers 0 to 255.

    Args:
        decoder: the float weights; they are shared and may be trained through this module.
        scales: of `activation_scales`: float32 scalars by layer, "latent" one per channel (4,).
        mean: of each latent channel (4,).
        std: of each latent channel (4,); the decoder's input is latent · std + mean.
    """

    def __init__(
        self, decoder: Decoder, scales: Mapping[str, NDArray[Any]], mean: Tensor, std: Tensor
    ) -> None:
        super().__init__()
        self.decoder = decoder
        self.register_buffer("mean", mean.float().clone())
        self.register_buffer("std", std.float().clone())
        self.register_buffer("latent_scale", torch.zeros(4))
        self.register_buffer("layer_scales", torch.zeros(len(LAYERS)))
        self.set_scales(scales)

    def set_scales(self, scales: Mapping[str, NDArray[Any]]) -> None:
        """Replace the static scales."""
        self.latent_scale.copy_(torch.as_tensor(np.asarray(scales["latent"], np.float32)))
        layers = np.array([scales[name] for name in LAYERS], np.float32)
        self.layer_scales.copy_(torch.from_numpy(layers))

    def forward(self, latent: Tensor) -> Tensor:
        """Latent → picture, shapes as above."""
        scale = dict(zip(LAYERS, self.layer_scales.unbind(), strict=True))
        gain, offset = self.std / self.latent_scale, self.mean / self.latent_scale
        codes = {"latent": _code(latent * gain + offset).permute(0, 3, 1, 2)}
        for name, (source, added) in LAYERS.items():
            layer = self.decoder.get_submodule(name)
            weight, bias, scale_in = layer.weight, layer.bias, scale.get(source)
            if scale_in is None:
                weight, scale_in = weight * self.latent_scale[:, None, None], latent.new_ones(())
            q, scale_w = quantised_weight(weight)
            acc = F.conv2d(self._read(name, codes[source]), q, padding=1)
            if name == "conv_out":
                half = float(HALF)
                value = acc * _column(scale_in * scale_w * half) + _column(bias * half + half)
                return _byte(value)
            value = acc * _column(scale_in * scale_w / scale[name]) + _column(bias / scale[name])
            if added is not None:
                value = value + codes[added] * (scale[added] / scale[name])
            codes[name] = _code(value)
        raise AssertionError("the layers end with conv_out")

    @staticmethod
    def _read(name: str, codes: Tensor) -> Tensor:
        """What layer ``name`` makes of its input before it multiplies."""
        if name == "conv_in":
            return codes
        codes = F.relu(codes)
        return F.interpolate(codes, scale_factor=2, mode="nearest") if name in DOUBLED else codes


def quantised_weight(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Codes like ``weight`` (O, C, 3, 3) and scales (O,): absmax / 127 of each output channel."""
    scale = weight.detach().abs().amax(dim=(1, 2, 3)) / LIMIT
    divisor = torch.where(scale > 0, scale, 1.0)
    return _code(weight / divisor[:, None, None, None]), scale


def _column(values: Tensor) -> Tensor:
    return values[:, None, None]


class _Round(torch.autograd.Function):
    """Clips to [low, high] and rounds half to even; the gradient passes unchanged."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, low: float, high: float) -> Tensor:
        return values.clamp(low, high).round()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return grad, None, None


def _code(values: Tensor) -> Tensor:
    return _Round.apply(values.clamp(-LIMIT, LIMIT), -LIMIT, LIMIT)


def _byte(values: Tensor) -> Tensor:
    # The gradient passes a clipped pixel too: its error must still be able to pull it back.
    return _Round.apply(values, 0.0, 255.0)


@torch.no_grad()
def int8_pictures(model: Int8Decoder, latents: Tensor) -> NDArray[np.uint8]:
    """Pictures (N, 4H, 4W, 3) of standardised latents (N, H, W, 4)."""
    latents = latents.to(model.mean.device)
    parts = [model(part).permute(0, 2, 3, 1).to(torch.uint8) for part in latents.split(16)]
    return torch.cat(parts).cpu().numpy()


@torch.no_grad()
def float_pictures(model: Int8Decoder, latents: Tensor) -> NDArray[np.uint8]:
    """The same pictures by the float weights."""
    parts = []
    for part in latents.to(model.mean.device).split(16):
        z = (part * model.std + model.mean).permute(0, 3, 1, 2)
        parts.append(to_pixels(model.decoder(z.contiguous())))
    return torch.cat(parts).cpu().numpy()


def psnr_of(pictures: NDArray[np.uint8], target: NDArray[np.uint8]) -> float:
    """Mean over pictures (N, …) of the peak signal-to-noise ratio in dB; `autoencoder.psnr`."""
    error = np.subtract(pictures, target, dtype=np.float32).reshape(len(target), -1)
    square = np.maximum(np.square(error).mean(axis=1), 1e-6)
    return float((10 * np.log10(255.0**2 / square)).mean())
