"""Nearest neighbours: copies, mirrored copies, numbering, the plain definition."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.evaluate import neighbours  # noqa: E402
from ttikit.evaluate.neighbours import find_neighbours  # noqa: E402


class Corners:
    """Stands in for the judge: the features are the colours of two corners."""

    def features(self, pictures):
        return pictures[:, 0, [0, -1]].reshape(len(pictures), 6).astype(np.float32)


JUDGE = Corners()


def noise(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, size=(count, 64, 64, 3), dtype=np.uint8)


def find(groups, parts):
    everything = np.concatenate(parts)
    features = (JUDGE.features(everything), JUDGE.features(everything[:, :, ::-1]))
    return find_neighbours(groups, parts, features, JUDGE)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(neighbours, "CHUNK", 4)


def test_a_copy_and_a_mirrored_copy_are_found():
    parts = [noise(5, 1), noise(6, 2), noise(3, 3)]
    wanted = np.stack([parts[1][5], parts[2][0][:, ::-1]])
    found = find({"drawn": wanted}, parts)["drawn"]
    for by in (found.by_pixels, found.by_features):
        assert by.index.tolist() == [10, 11]
        assert by.mirrored.tolist() == [False, True]
        assert by.distance.tolist() == [0.0, 0.0]


def test_groups_keep_their_own_results():
    parts = [noise(9, 4)]
    groups = {"drawn": parts[0][3:4] ^ 1, "held-out": parts[0][[7, 2]]}
    found = find(groups, parts)
    assert found["drawn"].by_pixels.index.tolist() == [3]
    assert found["drawn"].by_pixels.distance == pytest.approx([1.0])  # each byte differs by one
    assert found["held-out"].by_pixels.index.tolist() == [7, 2]


def test_it_is_the_plain_definition():
    known, wanted = noise(13, 5), noise(6, 6)
    found = find({"drawn": wanted}, [known[:6], known[6:]])["drawn"]
    both = np.concatenate((known, known[:, :, ::-1])).astype(np.float64)
    for i, picture in enumerate(wanted.astype(np.float64)):
        rms = np.sqrt(((both - picture) ** 2).mean(axis=(1, 2, 3)))
        assert found.by_pixels.distance[i] == pytest.approx(rms.min())
        best = found.by_pixels.index[i] + 13 * found.by_pixels.mirrored[i]
        assert rms.argmin() == best
        gaps = JUDGE.features(both) - JUDGE.features(wanted[i : i + 1])
        assert found.by_features.distance[i] == pytest.approx(np.linalg.norm(gaps, axis=1).min())


def test_empty_or_unmatched_input_is_refused():
    some = noise(2, 7)
    features = (JUDGE.features(some),) * 2
    with pytest.raises(TtiError, match="must match"):
        find_neighbours({"drawn": some}, [some, some], features, JUDGE)
    with pytest.raises(TtiError, match="must match"):
        find_neighbours({"drawn": some}, [], (features[0][:0],) * 2, JUDGE)
    with pytest.raises(TtiError, match="no pictures"):
        find_neighbours({"drawn": some[:0]}, [some], features, JUDGE)
