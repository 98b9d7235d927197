"""The Fréchet distance between two sets of pictures, in the judge's features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttikit.errors import TtiError


@dataclass(frozen=True)
class Moments:
    """Mean (D,) and covariance (D, D), float64, of ``count`` feature vectors."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    count: int


def moments(features: NDArray[np.floating]) -> Moments:
    """Mean and unbiased covariance of features (N, D); raises `TtiError` below two pictures."""
    if features.ndim != 2 or len(features) < 2:
        raise TtiError(f"a Fréchet distance needs at least 2 pictures, not {len(features)}")
    exact = features.astype(np.float64)
    mean = exact.mean(0)
    centred = exact - mean
    return Moments(mean, centred.T @ centred / (len(exact) - 1), len(exact))


def distance(a: Moments, b: Moments) -> float:
    """Squared Fréchet distance of two normal distributions with these moments.

    |m_a − m_b|² + tr(C_a + C_b − 2·(C_a·C_b)^½) (Dowson & Landau 1982; on features of a network
    Heusel et al. 2017). tr (C_a·C_b)^½ is the sum of the singular values of C_a^½·C_b^½, so
    everything stays real and symmetric, also for covariances without full rank. With few pictures
    the value is too high: compare it only between sets of equal count. Never negative.
    """
    if a.mean.shape != b.mean.shape:
        raise TtiError(
            f"features of {len(a.mean)} and of {len(b.mean)} numbers cannot be compared; "
            f"use one classifier for both"
        )
    shift = float(((a.mean - b.mean) ** 2).sum())
    overlap = np.linalg.svd(_root(a.covariance) @ _root(b.covariance), compute_uv=False).sum()
    spread = float(np.trace(a.covariance) + np.trace(b.covariance) - 2 * overlap)
    return max(0.0, shift + spread)


def _root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Symmetric square root; eigenvalues that rounding made negative count as zero."""
    values, vectors = np.linalg.eigh(covariance)
    root: NDArray[np.float64] = (vectors * np.sqrt(values.clip(min=0))) @ vectors.T
    return root
