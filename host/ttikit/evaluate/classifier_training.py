"""Training of the judge on renders and on renders that went through the autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ttikit.data.attributes import UNKNOWN
from ttikit.data.dataset import FaceDataset
from ttikit.data.domain_file import origin_of
from ttikit.errors import TtiError
from ttikit.evaluate.classifier import look, prepared, save_judge
from ttikit.evaluate.classifier_figures import RULE, Figures, auc, figures, is_clear, thresholds
from ttikit.evaluate.network import Classifier
from ttikit.evaluate.reference_pictures import passed
from ttikit.training.autoencoder import Pictures
from ttikit.training.checkpoint import file_checksum
from ttikit.training.latents import Labels, check_pictures
from ttikit.training.loop import Counters, Settings, Trainer, generator
from ttikit.training.optim import Schedule, build_optimisers

RESULT = "classifier.safetensors"
PASSED = 10_000  # training pictures that go through the autoencoder
DISTURBANCE = 0.25  # of their latents, in standard deviations
PASSED_SHARE = 0.5  # of a batch
CALIBRATION = 1_500  # training pictures that only choose the thresholds
SHIFT = 2  # pixels
PLAIN = ("body.0.", "head.")  # for AdamW instead of an orthogonal update
RARE = 4.0  # highest weight of a rare attribute's pictures


@dataclass(frozen=True)
class Material:
    """Pictures (N, 64, 64, 3) with labels (N, A): a training set in two kinds."""

    renders: Pictures
    labels: Labels
    passed: Pictures  # the first ones of the renders after the autoencoder


def mixed_batch(
    material: Material, rng: np.random.Generator, batch: int
) -> tuple[Pictures, Labels]:
    """``batch`` random pictures of both kinds, mirrored and shifted at random, with labels."""
    from_passed = rng.random(batch) < PASSED_SHARE
    which = np.where(
        from_passed,
        rng.integers(len(material.passed), size=batch),
        rng.integers(len(material.renders), size=batch),
    )
    mirrored = rng.random(batch) < 0.5
    top, left = rng.integers(2 * SHIFT + 1, size=(2, batch))
    out = np.empty((batch, *material.renders.shape[1:]), np.uint8)
    height, width = out.shape[1:3]
    for i in range(batch):
        source = material.passed if from_passed[i] else material.renders
        picture = source[which[i]]
        if mirrored[i]:
            picture = picture[:, ::-1]
        wide = np.pad(picture, ((SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), "edge")
        out[i] = wide[top[i] : top[i] + height, left[i] : left[i] + width]
    return out, material.labels[which]


def vary(x: Tensor, random: torch.Generator) -> Tensor:
    """Change brightness, contrast, sharpness and noise a little; x (B, 3, H, W) in [−1, 1]."""

    def uniform(low: float, high: float) -> Tensor:
        place = torch.rand(len(x), 1, 1, 1, generator=random, device=x.device)
        return low + (high - low) * place

    x = x * uniform(0.92, 1.08) + uniform(-0.06, 0.06)
    soft = F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)
    x = torch.lerp(x, soft, uniform(-0.5, 0.5).clamp(min=0))  # half of the pictures stay sharp
    noise = torch.randn(x.shape, generator=random, device=x.device)
    return x + uniform(-0.03, 0.03).clamp(min=0) * noise


def rare_weights(labels: Labels) -> Tensor:
    """Weight (A,) of pictures that have an attribute: √(without / with), from 1 to `RARE`."""
    known = (labels != UNKNOWN).sum(0).clip(1)
    share = torch.from_numpy((labels == 1).sum(0) / known).float().clamp(1e-3, 1 - 1e-3)
    return ((1 - share) / share).sqrt().clamp(1.0, RARE)


def known_loss(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """Mean cross-entropy over the labels (B, A) that are not `UNKNOWN`; weights (A,)."""
    known = labels != UNKNOWN
    losses = F.binary_cross_entropy_with_logits(
        logits, (labels == 1).float(), pos_weight=weights, reduction="none"
    )
    return (losses * known).sum() / known.sum().clamp(min=1)


def train_classifier(
    train: FaceDataset,
    held_out: FaceDataset,
    autoencoder: Path,
    settings: Settings,
    rate: float = 5e-3,
    device: torch.device | None = None,
) -> dict[str, Any]:
    """Train (or resume) into ``settings.out``; returns figures on held-out pictures.

    ``classifier.safetensors`` there is rewritten at the end and at each interruption. Pictures
    after the autoencoder are kept in the folder ``passed`` of the run. Raises `TtiError` if the
    data set is too small to choose thresholds.
    """
    if len(train) < 2 * CALIBRATION:
        raise TtiError(
            f"the classifier needs at least {2 * CALIBRATION:,} training pictures, "
            f"not {len(train):,}; render more with `ttikit data render`"
        )
    check_pictures(autoencoder, train.data)
    device = device or torch.device("cpu")
    kept = settings.out / "passed"
    decoded = passed(
        train, PASSED, autoencoder, kept, DISTURBANCE, "training pictures through the autoencoder"
    )
    held_out_decoded = passed(
        held_out, len(held_out), autoencoder, kept, note="held-out pictures likewise"
    )
    material = Material(
        train.images[CALIBRATION:], train.labels[CALIBRATION:], decoded[CALIBRATION:]
    )
    torch.manual_seed(settings.seed)
    model = Classifier(len(train.attributes)).to(device)
    trainer = _trainer(model, material, held_out, settings, rate, device)
    sources = {
        **origin_of(train.data),
        "attributes": list(train.attributes),
        "autoencoder": file_checksum(autoencoder),
    }
    trainer.resume(sources, "trained on other data, labels or with another autoencoder")
    calibration = (
        np.concatenate((train.images[:CALIBRATION], decoded[:CALIBRATION])),
        np.concatenate((train.labels[:CALIBRATION],) * 2),
    )
    trainer.run()
    metadata = _measure(model.eval().cpu(), train, held_out, held_out_decoded, calibration)
    metadata["samples"] = trainer.counters.samples
    save_judge(settings.out / RESULT, model, metadata)
    return metadata


def _trainer(
    model: Classifier,
    material: Material,
    held_out: FaceDataset,
    settings: Settings,
    rate: float,
    device: torch.device,
) -> Trainer:
    weights = rare_weights(material.labels).to(device)
    few, few_labels = held_out.images[:512], held_out.labels[:512]

    def loss(counters: Counters) -> dict[str, Tensor]:
        rng = np.random.default_rng((settings.seed, counters.step))
        pictures, labels = mixed_batch(material, rng, settings.batch)
        x = vary(prepared(pictures).to(device), generator(counters, device))
        return {"loss": known_loss(model.train()(x), torch.from_numpy(labels).to(device), weights)}

    def check() -> dict[str, float]:
        probabilities, _ = look(model.eval(), few)
        areas = [auc(probabilities[:, i], few_labels[:, i]) for i in range(few_labels.shape[1])]
        return {"held_out_auc": round(float(np.mean(areas)), 4)}

    optimisers = build_optimisers(model, PLAIN, weight_decay=0.05)
    schedule = Schedule(rate, shape="cosine", warmup=50)
    return Trainer(model, optimisers, schedule, loss, settings, check=check)


def _measure(
    model: Classifier,
    train: FaceDataset,
    held_out: FaceDataset,
    held_out_decoded: Pictures,
    calibration: tuple[Pictures, Labels],
) -> dict[str, Any]:
    """Thresholds, and accuracy on held-out pictures of both kinds."""
    limits = thresholds(look(model, calibration[0])[0], calibration[1])

    def measure(pictures: Pictures) -> dict[str, Figures]:
        probabilities, _ = look(model, pictures)
        return figures(probabilities, held_out.labels, limits, train.attributes)

    accuracy, after = measure(held_out.images), measure(held_out_decoded)
    clear = [name for name in train.attributes if is_clear(accuracy[name], after[name])]
    return {
        "attributes": list(train.attributes),
        "thresholds": [round(float(value), 5) for value in limits],
        "clear": clear,
        "rule": RULE,
        "held_out": len(held_out),
        "accuracy": accuracy,
        "accuracy_passed": after,
    }
