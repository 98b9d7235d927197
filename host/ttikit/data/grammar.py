"""Building blocks of captions: words in gender and case, with their tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ttikit.data.vocabulary import tokenize

MASCULINE, FEMININE = 0, 1
NOMINATIVE, GENITIVE = 0, 1


class Phrase(NamedTuple):
    """A few words and their token ids, looked up once."""

    text: str
    tokens: tuple[int, ...]


@cache
def phrase(text: str) -> Phrase:
    """The phrase of a text; AssertionError if a word has no token."""
    tokens, unknown = tokenize(text)
    assert not unknown and tokens, f"{text!r} has words without a token: {unknown}"
    return Phrase(text, tuple(tokens))


_ENDINGS = {
    # masculine and feminine nominative, masculine and feminine genitive
    "ый": ("ый", "ая", "ого", "ой"),
    "ой": ("ой", "ая", "ого", "ой"),
    "ий": ("ий", "ая", "его", "ей"),
    "йся": ("йся", "аяся", "егося", "ейся"),
}


@dataclass(frozen=True)
class Inflected:
    """An adjective or noun in the forms that captions use: [case][gender]."""

    forms: tuple[tuple[Phrase, Phrase], tuple[Phrase, Phrase]]
    is_noun: bool = False

    def __call__(self, case: int, gender: int) -> Phrase:
        """The form for NOMINATIVE or GENITIVE and MASCULINE or FEMININE."""
        return self.forms[case][gender]


def adjective(word: str) -> Inflected:
    """Decline an adjective or participle given in the masculine nominative.

    Knows hard adjectives, those on a hushing letter and reflexive participles.
    """
    for ending in ("йся", "ый", "ой", "ий"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            break
    else:
        raise ValueError(f"{word!r} is no adjective in the masculine nominative")
    if ending == "йся":
        # улыбающийся: the stem keeps its и only in the masculine nominative
        root = stem[:-1]
        words = (word, f"{root}аяся", f"{root}егося", f"{root}ейся")
    elif ending == "ий" and stem.endswith(("к", "г", "х")):
        words = (word, f"{stem}ая", f"{stem}ого", f"{stem}ой")
    else:
        nom_m, nom_f, gen_m, gen_f = _ENDINGS[ending]
        words = (stem + nom_m, stem + nom_f, stem + gen_m, stem + gen_f)
    return inflected(*words)


def inflected(nom_m: str, nom_f: str, gen_m: str, gen_f: str, is_noun: bool = False) -> Inflected:
    """A word given by its four forms."""
    forms = ((phrase(nom_m), phrase(nom_f)), (phrase(gen_m), phrase(gen_f)))
    return Inflected(forms, is_noun)


def noun(nominative: str, genitive: str) -> Inflected:
    """A noun, whose gender is its own."""
    return inflected(nominative, nominative, genitive, genitive, is_noun=True)


def appositive(word: str) -> Inflected:
    """A noun for a man that makes one for a woman by "-ка": "брюнет", "брюнетка"."""
    return inflected(word, word + "ка", word + "а", word + "ки", is_noun=True)


def with_(words: str) -> str:
    """ "с" or "со" before the words: "со" before св, см, ст and щ."""
    return ("со " if words.startswith(("св", "см", "ст", "щ")) else "с ") + words


def phrases(texts: Sequence[str]) -> tuple[Phrase, ...]:
    """`phrase` of each text."""
    return tuple(phrase(text) for text in texts)
