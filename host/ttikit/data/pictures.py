"""Pictures of others: read from files, brought upright, cut to a square and to 64×64."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ttikit.data.shards import SIZE
from ttikit.errors import TtiError


@dataclass(frozen=True)
class Frame:
    """Which square of a picture is kept: left, top and side in its own pixels.

    The picture must have `size` (width, height). What the square has beyond the edges of the
    picture is mirrored from inside.
    """

    size: tuple[int, int]
    left: float
    top: float
    side: float


def read_pictures(
    paths: Sequence[Path], labels: np.ndarray, frame: Frame | None
) -> tuple[np.ndarray, np.ndarray]:
    """Pictures (N, 64, 64, 3) uint8 of the files, and their labels (N, A) as they are."""
    return np.stack([read_picture(path, frame) for path in paths]), labels


def read_picture(path: Path, frame: Frame | None = None) -> np.ndarray:
    """A picture (64, 64, 3) uint8: the largest centred square, or the square of `frame`.

    The EXIF orientation is applied; transparent parts become white. Raises TtiError if the file is
    missing, no picture, damaged or of another size than `frame` says.
    """
    try:
        with Image.open(path) as image:
            if frame is not None and image.size != frame.size:
                raise TtiError(
                    f"{path} has {image.width}×{image.height} pixels, not "
                    f"{frame.size[0]}×{frame.size[1]}: use the files as they are distributed"
                )
            # the draft mode of JPEG reads large files at a fraction of their size
            image.draft("RGB", (4 * SIZE, 4 * SIZE))
            upright = as_rgb(ImageOps.exif_transpose(image))
    except FileNotFoundError:
        raise TtiError(f"{path} is missing: restore it from a copy") from None
    except UnidentifiedImageError:
        raise TtiError(f"{path} is no picture that can be read: use PNG or JPEG") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise TtiError(f"{path} is damaged ({error}): restore it from a copy") from error
    if frame is None:
        return np.asarray(ImageOps.fit(upright, (SIZE, SIZE), Image.Resampling.LANCZOS))
    return _framed(upright, frame)


def as_rgb(image: Image.Image) -> Image.Image:
    """Any mode as RGB: transparent parts on white, 16-bit grey by its upper byte."""
    if image.mode.startswith("I"):
        grey = np.asarray(image).astype(np.int64) >> 8
        return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def _framed(image: Image.Image, frame: Frame) -> np.ndarray:
    right = frame.left + frame.side - image.width
    below = frame.top + frame.side - image.height
    margin = int(np.ceil(max(-frame.left, -frame.top, right, below, 0)))
    if margin:
        pixels = np.pad(np.asarray(image), ((margin, margin), (margin, margin), (0, 0)), "reflect")
        image = Image.fromarray(pixels)
    left, top = frame.left + margin, frame.top + margin
    box = (left, top, left + frame.side, top + frame.side)
    return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.LANCZOS, box))
