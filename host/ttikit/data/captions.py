"""Captions from labels in Russian and English, different at every call.

A caption names the person (мужчина, девушка, дедушка ...), some of the attributes and sometimes
what is missing (без бороды). Which ones, in which words, in which order and how many is drawn
anew each time, so that a model learns single words as well as long descriptions. English captions
have the same token ids as Russian ones in the order of English.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from ttikit.data.attributes import ATTRIBUTES
from ttikit.data.english import ENGLISH
from ttikit.data.facts import Plan, make_plan
from ttikit.data.grammar import FEMININE, GENITIVE, NOMINATIVE, Inflected, Phrase
from ttikit.data.russian import RUSSIAN
from ttikit.data.vocabulary import PADDING
from ttikit.data.wording import Draw, Fact, Noun, Tail, Wording, pick, shuffle

MAX_WORDS = 24
"""No caption has more tokens."""

ENGLISH_SHARE = 0.25
"""Share of English captions."""

_DRAWS = 192
_MOST_ADJECTIVES = 3
_VERBOSITY = (0.12, 0.3, 0.55, 0.8, 1.0)


@lru_cache(maxsize=1 << 17)
def _plan(labels: bytes, english: bool) -> Plan:
    named = dict(zip(ATTRIBUTES, labels, strict=True))
    return make_plan(named, ENGLISH if english else RUSSIAN)


def _weighted(nouns: Sequence[Noun], draw: Draw) -> Noun:
    mark = draw()
    for entry in nouns:
        mark -= entry[1]
        if mark < 0:
            return entry
    return nouns[0]


def _choose_facts(plan: Plan, draw: Draw) -> list[Fact]:
    verbosity = pick(_VERBOSITY, draw)
    chosen = [fact for fact in plan.facts if draw() < fact.salience * verbosity]
    shuffle(chosen, draw)
    topics: set[str] = set()
    kept = []
    for fact in chosen:
        if topics.isdisjoint(fact.topics):
            kept.append(fact)
            topics.update(fact.topics)
    return kept


def _compose(plan: Plan, draw: Draw) -> list[Phrase]:
    """Draw a caption as a list of phrases."""
    case = NOMINATIVE
    start: list[Phrase] = []
    wording = plan.wording
    if plan.blurred and draw() < 0.95:
        start, case = [pick(wording.blurred, draw)], GENITIVE
    elif draw() < 0.12:
        start, case = [pick(wording.prefixes, draw)], GENITIVE
    noun, _, tells_age = _weighted(plan.nouns, draw)
    named = [noun(case, plan.gender)]
    adjectives: list[Inflected] = []
    tails: list[Tail] = []
    verb: list[Phrase] = []
    if draw() < (0.12 if tells_age else plan.age_share) and plan.ages:
        adjectives.append(pick(plan.ages, draw))
    for fact in _choose_facts(plan, draw):
        option = pick(fact.options, draw)
        if isinstance(option, Inflected):
            if option.is_noun:
                # "блондинка" stands alone, "блондин" follows "мужчина"
                alone = plan.gender == FEMININE and draw() < 0.7
                own = option(case, plan.gender)
                both = [*named, own] if wording.follows else [own, *named]
                named = [own] if alone else both
            elif len(adjectives) < _MOST_ADJECTIVES:
                adjectives.append(option)
        else:
            words = option(draw)
            if fact.is_verb:
                if case == NOMINATIVE:
                    verb = words
            else:
                tails.append(words)
    shuffle(adjectives, draw)
    inflected = [word(case, plan.gender) for word in adjectives]
    fixed = sum(len(piece.tokens) for piece in start + inflected + named + verb)
    rest = _arrange(inflected, named, _fitting(tails, MAX_WORDS - fixed), wording, draw)
    return wording.begin(start, rest + verb)


def _fitting(tails: list[Tail], words: int) -> list[Tail]:
    """As many tails as fit into `words`, with one word to spare for "и"."""
    words -= 1
    kept = []
    for tail in tails:
        words -= sum(len(piece.tokens) for piece in tail)
        if words < 0:
            break
        kept.append(tail)
    return kept


def _arrange(
    adjectives: list[Phrase],
    named: list[Phrase],
    tails: list[Tail],
    wording: Wording,
    draw: Draw,
) -> list[Phrase]:
    """Adjectives, noun and tails in one of the orders that people use."""
    joined: list[Phrase] = []
    for i, tail in enumerate(tails):
        if i and i == len(tails) - 1 and draw() < 0.4:
            joined.append(wording.conjunction)
        joined += tail
    order = draw()
    if order < 0.04 and (adjectives or joined):
        return adjectives + joined
    if order < 0.10 and wording.follows:
        return named + adjectives + joined
    if order < 0.13 and wording.follows:
        return joined + adjectives + named
    return adjectives + named + joined


def _draw_caption(labels: bytes, draws: list[float], english: float) -> list[Phrase]:
    # the last draw decides the language, so that the others stay those of a Russian caption
    plan = _plan(labels, draws.pop() < english)
    return _compose(plan, iter(draws).__next__)


def caption(
    labels: Mapping[str, int], rng: np.random.Generator, english: float = ENGLISH_SHARE
) -> str:
    """One caption for labels by name, 0, 1 or `UNKNOWN`; missing names count as 0.

    english: share of English captions. Raises KeyError for a name that is no attribute.
    """
    for name in labels:
        if name not in _NAMES:
            raise KeyError(f"{name!r} is no attribute")
    values = bytes(labels.get(name, 0) for name in ATTRIBUTES)
    pieces = _draw_caption(values, rng.random(_DRAWS).tolist(), english)
    return " ".join(piece.text for piece in pieces)


_NAMES = frozenset(ATTRIBUTES)


def token_batch(
    labels: np.ndarray,
    rng: np.random.Generator,
    length: int = 32,
    english: float = ENGLISH_SHARE,
) -> np.ndarray:
    """Captions of labels (N, A) uint8 as token ids (N, length) int64, padded with 0.

    Labels are 0, 1 or `UNKNOWN`. Ids stand in the order of the words. Raises ValueError if the
    labels have another width.
    """
    if labels.ndim != 2 or labels.shape[1] != len(ATTRIBUTES):
        raise ValueError(f"labels must be (N, {len(ATTRIBUTES)}), not {labels.shape}")
    if length < MAX_WORDS:
        raise ValueError(f"length must be at least {MAX_WORDS}, not {length}")
    out = np.full((len(labels), length), PADDING, np.int64)
    rows = np.ascontiguousarray(labels, np.uint8)
    for i, draws in enumerate(rng.random((len(rows), _DRAWS)).tolist()):
        ids: list[int] = []
        for piece in _draw_caption(rows[i].tobytes(), draws, english):
            ids.extend(piece.tokens)
        out[i, : len(ids)] = ids
    return out
