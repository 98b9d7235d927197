"""The judge's network: a small convolutional net from a picture to its attributes."""

from __future__ import annotations

from torch import Tensor, nn

FEATURES = 112


class Classifier(nn.Module):
    """Picture (B, 3, 64, 64) on the scale pixel / 127.5 − 1 → one logit per attribute.

    Faces sit at the same place in every picture, so the last layers see the 4×4 grid as it is,
    without an average over places.
    """

    def __init__(self, attributes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _convolution(3, 32, kernel=4, stride=2),  # 32×32
            _convolution(32, 64, kernel=4, stride=2),  # 16×16
            _convolution(64, 64),
            _convolution(64, 96, stride=2),  # 8×8
            _convolution(96, 128, stride=2),  # 4×4
            nn.Flatten(),
        )
        self.squeeze = nn.Sequential(
            nn.Linear(128 * 16, FEATURES, bias=False), nn.BatchNorm1d(FEATURES), nn.ReLU()
        )
        self.head = nn.Linear(FEATURES, attributes)

    def features(self, x: Tensor) -> Tensor:
        """Picture → penultimate layer (B, FEATURES), not negative."""
        features: Tensor = self.squeeze(self.body(x))
        return features

    def forward(self, x: Tensor) -> Tensor:
        """Picture → logits (B, attributes)."""
        logits: Tensor = self.head(self.features(x))
        return logits


def _convolution(inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )
