"""What a model draws: its attributes, the words for them and how captions are made.

Faces are the built-in domain. Another one is a TOML file (docs/own-domain.md), whose text travels
with the data set, the cache of latents and the trained weights; the model file holds its words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttikit.data import captions
from ttikit.data.attributes import ATTRIBUTES
from ttikit.data.vocabulary import FACES, PADDING, Vocabulary
from ttikit.data.wording import Draw, pick, shuffle

MAX_TOKENS = 24
"""Captions are not made longer."""

MAX_SAYING = 6
"""Tokens of one saying."""

_VERBOSITY = (0.25, 0.6, 1.0)
PLACES = ("before", "noun", "after")


@dataclass(frozen=True)
class Domain:
    """Attributes and vocabulary; this class is that of faces.

    text: of the TOML file, empty for faces; prompts: examples, which the exporter calibrates with,
    empty for its own; licence: of models that learn from pictures of this domain.
    """

    text: str = ""
    name: str = "faces"
    attributes: tuple[str, ...] = ATTRIBUTES
    vocabulary: Vocabulary = FACES
    prompts: tuple[str, ...] = ()
    licence: str = ""

    def caption(self, labels: np.ndarray, rng: np.random.Generator) -> str:
        """One caption for labels (A,), 0, 1 or `UNKNOWN`."""
        return captions.caption(dict(zip(self.attributes, labels.tolist(), strict=True)), rng)

    def token_batch(
        self, labels: np.ndarray, rng: np.random.Generator, length: int = 32
    ) -> np.ndarray:
        """Captions of labels (N, A) as token ids (N, length) int64, padded with 0."""
        return captions.token_batch(labels, rng, length)


@dataclass(frozen=True)
class Saying:
    """Words that a caption may use where the labels hold.

    when: (column, wanted label) of each attribute; place: before the noun, as the noun or after
    it; often: how likely a long caption uses them. Of sayings of one topic a caption has one.
    """

    when: tuple[tuple[int, int], ...]
    place: str
    words: tuple[str, ...]
    often: float
    topic: str

    def holds(self, labels: Sequence[int]) -> bool:
        """Whether it is true of labels (A,)."""
        return all(labels[column] == wanted for column, wanted in self.when)


@dataclass(frozen=True)
class OwnDomain(Domain):
    """A domain from a file. noun: what things are called when no saying gives a noun."""

    noun: tuple[str, ...] = ()
    conjunction: str = ""
    sayings: tuple[Saying, ...] = ()

    def caption(self, labels: np.ndarray, rng: np.random.Generator) -> str:
        """One caption for labels (A,), 0, 1 or `UNKNOWN`."""
        return self._compose(labels.tolist(), iter(rng.random(self._draws).tolist()).__next__)

    def token_batch(
        self, labels: np.ndarray, rng: np.random.Generator, length: int = 32
    ) -> np.ndarray:
        """Captions of labels (N, A) as token ids (N, length) int64, padded with 0."""
        if labels.ndim != 2 or labels.shape[1] != len(self.attributes):
            raise ValueError(f"labels must be (N, {len(self.attributes)}), not {labels.shape}")
        out = np.full((len(labels), length), PADDING, np.int64)
        draws = rng.random((len(labels), self._draws)).tolist()
        for row, values, numbers in zip(out, labels.tolist(), draws, strict=True):
            text = self._compose(values, iter(numbers).__next__)
            ids = self.vocabulary.tokenize(text)[0][:length]
            row[: len(ids)] = ids
        return out

    @property
    def _draws(self) -> int:
        return 3 * len(self.sayings) + 8

    def _compose(self, labels: list[int], draw: Draw) -> str:
        """Words before the noun, one noun, words after it; longer captions use more sayings."""
        verbosity = pick(_VERBOSITY, draw)
        true = [saying for saying in self.sayings if saying.holds(labels)]
        shuffle(true, draw)
        chosen: dict[str, list[str]] = {place: [] for place in PLACES}
        topics: set[str] = set()
        left = MAX_TOKENS - MAX_SAYING  # the rest is kept for the noun
        for saying in true:
            is_noun = saying.place == "noun"
            wanted = is_noun or draw() < saying.often * verbosity
            if not wanted or saying.topic in topics or (is_noun and chosen["noun"]):
                continue
            words = pick(saying.words, draw)
            if not is_noun:
                left -= len(self.vocabulary.tokenize(words)[0]) + 1
                if left < 0:  # full, but the noun may still come
                    continue
            chosen[saying.place].append(words)
            topics |= {saying.topic} - {""}
        noun = chosen["noun"] or [pick(self.noun, draw)]
        after = chosen["after"]
        if len(after) > 1 and self.conjunction and draw() < 0.5:
            after.insert(-1, self.conjunction)
        return " ".join(chosen["before"] + noun + after)


FACE_DOMAIN = Domain()
