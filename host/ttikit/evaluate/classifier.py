"""The judge: which attributes a picture shows, how sure that is, and features for distances."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ttikit.errors import TtiError
from ttikit.evaluate.classifier_figures import Figures
from ttikit.evaluate.network import Classifier
from ttikit.training.autoencoder import Pictures, batches, to_scale
from ttikit.training.checkpoint import load_tensors, save_tensors

JUDGE = Path("models") / "evaluation" / "classifier.safetensors"
KIND = "classifier"
BATCH = 250

Numbers = NDArray[np.float32]


class Judge:
    """A trained classifier with what is known about its errors.

    ``attributes``: all names, in the order of the columns. ``thresholds`` (A,): an attribute is
    there if its probability reaches its threshold. ``accuracy``: name → figures on held-out
    renders; ``accuracy_passed``: the same after the autoencoder. ``clear``: the names that it
    measures soundly (`ttikit.evaluate.classifier_figures.is_clear`). ``samples``: pictures seen
    in training. ``fingerprint``: CRC32 of the weights, 8 hex digits.
    """

    def __init__(self, model: Classifier, metadata: Mapping[str, Any]) -> None:
        self.model = model.eval()
        self.attributes: list[str] = list(metadata["attributes"])
        self.clear: list[str] = list(metadata["clear"])
        self.thresholds: Numbers = np.array(metadata["thresholds"], np.float32)
        self.accuracy: dict[str, Figures] = dict(metadata["accuracy"])
        self.accuracy_passed: dict[str, Figures] = dict(metadata["accuracy_passed"])
        self.samples = int(metadata["samples"])
        self.fingerprint = str(metadata["fingerprint"])
        self.metadata = dict(metadata)

    @property
    def width(self) -> int:
        """Numbers in a feature vector, D."""
        return self.model.head.in_features

    def look(self, pictures: Pictures) -> tuple[Numbers, Numbers]:
        """Probabilities (N, A) and features (N, D), float32, of uint8 pictures (N, 64, 64, 3)."""
        return look(self.model, pictures)

    def probabilities(self, pictures: Pictures) -> Numbers:
        """How likely each attribute is there, (N, A) float32."""
        return self.look(pictures)[0]

    def features(self, pictures: Pictures) -> Numbers:
        """The penultimate layer, (N, D) float32, for distances between pictures."""
        return self.look(pictures)[1]

    def present(self, probabilities: Numbers) -> NDArray[np.bool_]:
        """Which attributes are there, (N, A), by each one's threshold."""
        return probabilities >= self.thresholds


@torch.no_grad()
def look(model: Classifier, pictures: Pictures) -> tuple[Numbers, Numbers]:
    """Probabilities (N, A) and features (N, D) by ``model``, which must be in eval mode.

    Raises `TtiError` if the pictures are not uint8 (N, 64, 64, 3).
    """
    if pictures.dtype != np.uint8 or pictures.shape[1:] != (64, 64, 3):
        raise TtiError(
            f"the judge looks at uint8 pictures (N, 64, 64, 3), "
            f"not at {pictures.dtype} {pictures.shape}"
        )
    width, device = model.head.in_features, model.head.weight.device
    probabilities = np.empty((len(pictures), model.head.out_features), np.float32)
    features = np.empty((len(pictures), width), np.float32)
    done = 0
    for part in batches(pictures, BATCH):
        hidden = model.features(prepared(part).to(device))
        rows = slice(done, done + len(part))
        features[rows] = hidden.cpu().numpy()
        probabilities[rows] = model.head(hidden).sigmoid().cpu().numpy()
        done += len(part)
    return probabilities, features


def prepared(pictures: Pictures) -> Tensor:
    """uint8 (B, 64, 64, 3) → the network's input, (B, 3, 64, 64) float32, channels last."""
    scaled = to_scale(torch.from_numpy(pictures))
    return scaled.contiguous(memory_format=torch.channels_last)


def save_judge(path: Path, model: Classifier, metadata: Mapping[str, Any]) -> None:
    """Write weights in float16 and metadata (what `Judge` needs but ``fingerprint``)."""
    tensors = {
        name: value.half() if value.is_floating_point() else value
        for name, value in model.state_dict().items()
    }
    save_tensors(path, tensors, {"kind": KIND, **metadata})


def load_judge(path: Path = JUDGE) -> Judge:
    """Read a classifier; raises `TtiError` if the file is missing, damaged or something else."""
    if not path.exists():
        raise TtiError(
            f"{path} does not exist; run the command in the repository's folder, "
            f"or train a classifier with `ttikit train classifier`"
        )
    tensors, metadata = load_tensors(path)
    if metadata.get("kind") != KIND:
        raise TtiError(f"{path} holds no classifier; train one with `ttikit train classifier`")
    model = Classifier(len(metadata["attributes"]))
    try:
        model.load_state_dict(tensors)
    except RuntimeError:
        raise TtiError(
            f"{path} holds a classifier of another shape; train one with `ttikit train classifier`"
        ) from None
    model = model.to(memory_format=torch.channels_last)
    return Judge(model, {**metadata, "fingerprint": _fingerprint(tensors)})


def _fingerprint(tensors: Mapping[str, Tensor]) -> str:
    crc = 0
    for name in sorted(tensors):
        crc = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy(), crc)
    return f"{crc:08x}"
