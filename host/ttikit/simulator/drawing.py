"""Whole pictures on the PC: the board's own pipeline over the numpy ops."""

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttikit.errors import TtiError
from ttikit.simulator.installer import HERE, install

MODEL = Path("models") / "faces.tti"

OnStage = Callable[[str, Any], None]


@dataclass(frozen=True)
class Drawing:
    """A picture and what it was made of; the same values give the same bytes on every board."""

    prompt: str
    seed: int
    steps: int
    guidance: float
    model: Path
    fingerprint: int  # CRC-32 of the model's data
    pixels: bytes = field(repr=False)  # 64 rows of 64 times R, G, B
    notes: tuple[str, ...] = ()  # sentences about what the prompt holds and the model can't use

    @property
    def sha256(self) -> str:
        """Hash of the 12,288 bytes, in hexadecimal digits."""
        return hashlib.sha256(self.pixels).hexdigest()

    def image(self) -> Any:
        """Return it as an `Image` of the package `tti`, which shows and saves itself."""
        install()
        tti = importlib.import_module("tti")
        return tti.Image(bytearray(self.pixels), self.prompt, self.seed, self.steps, self.guidance)


class Simulator:
    """One model, loaded once, that draws like a board."""

    def __init__(self, model: Path):
        """Load the model file `model`; TtiError if it is missing or damaged."""
        if not model.exists():
            raise TtiError(
                f"there is no model file {model}; give its path with --model, "
                "or make it with `ttikit export`"
            )
        install()
        weights = importlib.import_module("tti.weights")
        self.model = model
        try:
            self.weights = weights.load(str(model))
            self.pipeline = importlib.import_module("tti.pipeline").Pipeline(self.weights)
        except (OSError, ValueError) as error:
            raise TtiError(str(error)) from None

    def draw(
        self,
        prompt: str,
        seed: int,
        steps: int = 8,
        guidance: float = 3.0,
        on_stage: OnStage | None = None,
    ) -> Drawing:
        """Draw one picture.

        Args:
            prompt: what to draw, in the words of the model (faces: Russian or English).
            seed: 0 to 2^32 − 1.
            steps: of the sampler, 1 to 100.
            guidance: 1 to 5, at most two decimals.
            on_stage: called with the name and the buffer of every stage (see `tti.pipeline`);
                the buffer changes afterwards.

        Raises:
            TtiError: an argument is refused; one sentence that says why.
        """
        pixels = bytearray(importlib.import_module("tti.pipeline").PICTURE_BYTES)
        try:
            stages = self.pipeline.stages(prompt, pixels, seed, steps, guidance)
            for name, buffer in stages:
                if on_stage is not None:
                    on_stage(name, buffer)
        except (TypeError, ValueError) as error:
            raise TtiError(str(error)) from error
        notes = tuple(self.pipeline.notes)
        crc = self.weights.fingerprint
        return Drawing(prompt, seed, steps, guidance, self.model, crc, bytes(pixels), notes)


def default_model() -> Path:
    """Return the path of the model that comes with the checkout, or below the current folder."""
    shipped = HERE.parents[3] / MODEL
    return shipped if shipped.exists() else MODEL
