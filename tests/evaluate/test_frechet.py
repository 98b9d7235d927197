"""The Fréchet distance: closed forms, another implementation, awkward covariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm
from ttikit.errors import TtiError
from ttikit.evaluate.frechet import Moments, distance, moments


def random_moments(rng: np.random.Generator, size: int, rank: int | None = None) -> Moments:
    root = rng.normal(size=(size, rank or 2 * size))
    return Moments(rng.normal(size=size), root @ root.T / root.shape[1], 100)


def test_moments_are_mean_and_unbiased_covariance():
    features = np.random.default_rng(0).normal(3, 2, size=(50, 4)).astype(np.float32)
    found = moments(features)
    np.testing.assert_allclose(found.mean, features.astype(np.float64).mean(0))
    np.testing.assert_allclose(found.covariance, np.cov(features.astype(np.float64).T))
    assert found.count == 50


def test_in_one_dimension_it_is_the_squares_of_mean_and_deviation():
    a = Moments(np.array([1.0]), np.array([[4.0]]), 9)
    b = Moments(np.array([4.0]), np.array([[25.0]]), 9)
    assert distance(a, b) == pytest.approx((4 - 1) ** 2 + (5 - 2) ** 2)


def test_scaled_covariances():
    a = random_moments(np.random.default_rng(1), 6)
    b = Moments(a.mean, 9 * a.covariance, 100)  # (3 − 1)² times the trace
    assert distance(a, b) == pytest.approx(4 * np.trace(a.covariance))


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_the_matrix_root_of_scipy(seed):
    rng = np.random.default_rng(seed)
    a, b = random_moments(rng, 12), random_moments(rng, 12)
    root = sqrtm(a.covariance @ b.covariance).real
    expected = ((a.mean - b.mean) ** 2).sum() + np.trace(a.covariance + b.covariance - 2 * root)
    assert distance(a, b) == pytest.approx(expected, rel=1e-9)
    assert distance(b, a) == pytest.approx(expected, rel=1e-9)


def test_covariances_without_full_rank():
    rng = np.random.default_rng(2)
    a, b = random_moments(rng, 20, rank=3), random_moments(rng, 20, rank=5)
    assert distance(a, a) == pytest.approx(0, abs=1e-6)
    assert distance(a, b) == pytest.approx(distance(b, a)) and distance(a, b) > 1


def test_more_pictures_of_one_kind_come_nearer():
    rng = np.random.default_rng(3)
    whole = moments(rng.normal(size=(4000, 30)))
    few, many = (distance(moments(rng.normal(size=(n, 30))), whole) for n in (100, 1600))
    assert 0 < 5 * many < few


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(TtiError, match="at least 2"):
        moments(np.zeros((1, 3)))
    with pytest.raises(TtiError, match="features of 2 and of 3"):
        distance(moments(np.eye(2)), moments(np.eye(3)))
