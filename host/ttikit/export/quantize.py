"""Weights of linear layers and convolutions as int8 with a scale per output channel.

Which of two neighbouring codes a weight gets is decided by what the layer gives, if it is known
what the layer reads: each weight is rounded to the nearest code, and the weights after it take up
the error that this made on the inputs (Frantar et al., "GPTQ: accurate post-training quantization
for generative pre-trained transformers", 2022). A board reads the codes; it does not know how they
were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from ttikit.model_file import Tensor

CHUNK = 96  # input columns of the layers `o` and `fc2` that share a scale; see transformer.py
VECTOR = 16  # a row of weights is padded to this many bytes
LIMIT = 127
DAMPING = 1e-3  # of the mean square of the inputs; what is added to that of each
Float = np.ndarray
Moments = Mapping[str, Float]  # layer → its `moment`; layers that are missing round by themselves


def quantize_rows(
    weight: Float, moment: Float | None = None, *, width: int | None = None
) -> tuple[np.ndarray, Float]:
    """Return (q int8 (O, K), scale float32 (O, K / width)): weight ≈ q · scale.

    scale = absmax / 127 of the columns that share it, 0 where all are zero. Rounds half to even,
    never gives −128.

    Args:
        weight: (O, K) float32.
        moment: (K, K) finite, the sum of x·xᵀ over inputs x of the layer: keeps weight·x near.
            Without it every weight is rounded to the nearest code.
        width: columns that share a scale; all K by default.
    """
    weight = np.asarray(weight, np.float32)
    width = width or weight.shape[1]
    cut = weight.reshape(len(weight), -1, width)
    scale = np.abs(cut).max(axis=-1) / np.float32(LIMIT)
    step = np.repeat(scale, width, axis=1)
    codes = _nearest(weight, step) if moment is None else _compensated(weight, step, moment)
    return codes.astype(np.int8), scale.astype(np.float32)


def _nearest(weight: Float, step: Float) -> Float:
    codes = np.divide(weight, step, out=np.zeros_like(weight), where=step > 0)
    return np.clip(np.rint(codes), -LIMIT, LIMIT)


def _compensated(weight: Float, step: Float, moment: Float) -> Float:
    """Return the codes (O, K) of weight (O, K), columns rounded from the strongest input down."""
    order = np.argsort(-np.diag(moment), kind="stable")
    spread = _spread(moment[np.ix_(order, order)])
    left, step = weight[:, order].astype(np.float64), step[:, order].astype(np.float64)
    codes = np.empty_like(left)
    for k in range(len(order)):
        codes[:, k] = _nearest(left[:, k], step[:, k])
        error = (left[:, k] - codes[:, k] * step[:, k]) / spread[k, k]
        left[:, k + 1 :] -= error[:, None] * spread[k, k + 1 :]
    return codes[:, np.argsort(order)]


def _spread(moment: Float) -> Float:
    """Return U (K, K), upper triangular, UᵀU = (moment + damping)⁻¹ but for a factor.

    In torch, whose threads an export sets to one: with more, sums come out otherwise.
    """
    hessian = torch.from_numpy(moment.astype(np.float64))
    size = hessian.diagonal().mean()
    hessian = hessian / size if size > 0 else torch.zeros_like(hessian)
    hessian.diagonal().add_(DAMPING)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(hessian))
    return torch.linalg.cholesky(inverse, upper=True).numpy()


def linear(
    name: str,
    weight: Float,
    bias: Float,
    *,
    chunked: bool = False,
    gain: float = 1.0,
    moment: Float | None = None,
) -> dict[str, Tensor]:
    """Return the tensors NAME.weight, .scale and .bias of a linear layer.

    Args:
        name: name of the layer in the model file.
        weight: (O, K) float32.
        bias: (O,) float32.
        chunked: cut K into chunks of 96 with scales of their own: weight (K/96 · O, 96).
        gain: factor of the layer's output, folded into weight and bias.
        moment: (K, K) of the layer's inputs, for `quantize_rows`.
    """
    weight = np.asarray(weight, np.float32) * np.float32(gain)
    q, scale = quantize_rows(weight, moment, width=CHUNK if chunked else None)
    if chunked:
        q = q.reshape(len(q), -1, CHUNK).swapaxes(0, 1).reshape(-1, CHUNK)
    return {
        f"{name}.weight": Tensor(np.ascontiguousarray(q), scale=f"{name}.scale"),
        f"{name}.scale": Tensor(np.ascontiguousarray(scale.T).reshape(-1)),
        f"{name}.bias": Tensor(np.asarray(bias, np.float32) * np.float32(gain)),
    }


def convolution(weight: Float, moment: Float | None = None) -> tuple[np.ndarray, Float]:
    """Return (q int8 (O, 9·C padded to 16), scale float32 (O,)) of weight (O, C, 3, 3).

    ``moment`` (9·C, 9·C) is that of inputs in the order of the rows: row, column, channel.
    """
    rows = np.asarray(weight, np.float32).transpose(0, 2, 3, 1).reshape(len(weight), -1)
    q, scale = quantize_rows(rows, moment)
    return np.pad(q, ((0, 0), (0, -rows.shape[1] % VECTOR))), scale[:, 0]
