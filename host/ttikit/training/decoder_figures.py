"""What int8 costs the decoder, over the choices of its static scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.export.decoder import activations, latent_scale, scale_of
from ttikit.export.reference import FloatModel, prompts, tokens
from ttikit.export.run import CALIBRATION_SEED, SEEDS_PER_PROMPT
from ttikit.training.autoencoder import Pictures, load_autoencoder
from ttikit.training.diffusion import trained_domain
from ttikit.training.int8_decoder import Int8Decoder, float_pictures, int8_pictures, psnr_of
from ttikit.training.latents import encode

PERCENTILES = (99.9, 99.99, 99.999, 100.0)
EACH = "each layer its own"
Scales = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Row:
    """One choice of scales: int8 − float in levels of 255 on generated latents, PSNR in dB."""

    scales: str
    mean: float
    worst: float
    psnr: float


@dataclass(frozen=True)
class Figures:
    """The float decoder's PSNR on held-out pictures, and what int8 makes of it."""

    generated: int
    pictures: int
    float_psnr: float
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, object]:
        """Fields by name, for JSON."""
        return asdict(self)

    def table(self) -> str:
        """Markdown."""
        lines = [
            f"float: {self.float_psnr:.3f} dB on {self.pictures} held-out pictures; "
            f"int8 − float on {self.generated} generated latents",
            "",
            "| scales | mean | worst picture | PSNR of int8, dB |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {r.scales} | {r.mean:.3f} | {r.worst:.3f} | {r.psnr:.3f} |" for r in self.rows
        ]
        return "\n".join(lines)


def choices(seen: Mapping[str, NDArray[np.float32]]) -> Iterator[tuple[str, Scales]]:
    """Names of choices and their scales by layer: a percentile for all, and one for each layer.

    seen: from `activations`. A layer's own percentile is the one of PERCENTILES whose codes have
    the least mean squared error.
    """
    grid: dict[float, dict[str, NDArray[np.float32]]] = {p: {} for p in PERCENTILES}
    for name, values in seen.items():
        for percentile in PERCENTILES:
            grid[percentile][name] = scale_of(values, percentile)
    yield from ((f"{percentile:g} %", scales) for percentile, scales in grid.items())
    own = {}
    for name, values in seen.items():
        own[name] = min((scales[name] for scales in grid.values()), key=lambda s: loss(values, s))
    yield EACH, own


def loss(values: NDArray[np.float32], scale: NDArray[np.float32]) -> float:
    """Mean squared error of ``values`` (not negative) as int8 codes of ``scale``."""
    codes = np.minimum(np.rint(values / scale), 127)
    return float(np.square(codes * scale - values).mean(dtype=np.float64))


@torch.no_grad()
def compare(
    autoencoder: Path,
    mean: Tensor,
    std: Tensor,
    calibration: NDArray[np.float32],
    generated: NDArray[np.float32],
    pictures: Pictures,
) -> Figures:
    """Measure an autoencoder's decoder in int8 under each of `choices`.

    Args:
        autoencoder: its export.safetensors.
        mean: (4,) of the latents' channels.
        std: (4,) likewise.
        calibration: decoder inputs (N, 16, 16, 4) that the scales are found on.
        generated: decoder inputs (M, 16, 16, 4) for int8 − float.
        pictures: held-out pictures (K, 64, 64, 3) for the PSNR.
    """
    if len(pictures) == 0:
        raise TtiError("there are no held-out pictures; render some: ttikit data render")
    whole = load_autoencoder(autoencoder)
    made = (torch.from_numpy(generated) - mean) / std
    real = encode(whole, pictures, torch.device("cpu"), False, "encoding held-out").float()
    real = (real - mean) / std
    latent = {"latent": latent_scale(calibration)}
    named = list(choices(activations(whole.decoder, calibration)))
    model = Int8Decoder(whole.decoder, dict(named[0][1]) | latent, mean, std)
    wanted, best = float_pictures(model, made), float_pictures(model, real)
    rows = []
    for name, scales in track(named, description="int8 decoders"):
        model.set_scales(dict(scales) | latent)
        gap = np.abs(np.subtract(int8_pictures(model, made), wanted, dtype=np.float32))
        levels = gap.mean(axis=(1, 2, 3))
        found = psnr_of(int8_pictures(model, real), pictures)
        rows.append(Row(name, float(levels.mean()), float(levels.max()), found))
    return Figures(len(made), len(pictures), psnr_of(best, pictures), tuple(rows))


def measure(diffusion: Path, autoencoder: Path, pictures: Pictures) -> Figures:
    """`compare` on latents that the model ``diffusion`` makes, calibrated as an export does it.

    int8 − float is measured on the prompts of the calibration with one other seed each.
    """
    source = FloatModel(diffusion, autoencoder)
    domain = trained_domain(diffusion)
    ids = tokens(domain.prompts or prompts(), domain.vocabulary.forms)
    many = np.repeat(ids, SEEDS_PER_PROMPT, axis=0)
    calibration = source.latents(many, range(CALIBRATION_SEED, CALIBRATION_SEED + len(many)))
    generated = source.latents(ids, range(len(ids)))
    return compare(autoencoder, source.mean, source.std, calibration, generated, pictures)
