"""The words of one language: what captions call people and the things about them.

Adjectives and nouns are `Inflected`; a tail such as "с бородой" is made by a function that draws
its words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ttikit.data.grammar import Inflected, Phrase, adjective, phrase

T = TypeVar("T")
Tail = list[Phrase]
Draw = Callable[[], float]
Option = Inflected | Callable[[Draw], Tail]
Noun = tuple[Inflected, float, bool]
"""Forms, share, whether it tells the age."""


@dataclass(frozen=True)
class Fact:
    """Something to mention. Of facts that share a topic, a caption holds one.

    salience: how likely a talkative caption mentions it. A verb ("улыбается") ends the caption.
    """

    salience: float
    options: tuple[Option, ...]
    topics: tuple[str, ...] = ()
    is_verb: bool = False


@dataclass(frozen=True)
class Colour:
    """Words for a colour of hair: before "hair", before "beard", adjectives, nouns."""

    hair: tuple[str, ...]
    beard: tuple[str, ...]
    adjectives: tuple[Option, ...]
    nouns: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Wording:
    """All words of a language, and the few rules in which languages differ.

    nouns: by (male, young), shares adding up to 1; person: of any sex and age; simple: label to
    the fact where the label alone decides; shapes: label to words before "hair"; missing: what is
    absent to options that say so; with_hair, with_beard, with_moustache: words before the noun to
    a tail; begin: a start such as "портрет" and the rest to the whole; follows: adjectives and
    nouns of colour may follow the person ("мужчина брюнет"), not only come before.
    """

    nouns: Mapping[tuple[bool, bool], tuple[Noun, ...]]
    person: Inflected
    young: tuple[Inflected, ...]
    old: tuple[Inflected, ...]
    prefixes: tuple[Phrase, ...]
    blurred: tuple[Phrase, ...]
    conjunction: Phrase
    simple: Mapping[str, Fact]
    colours: Mapping[str, Colour]
    shapes: Mapping[str, tuple[str, ...]]
    short: tuple[str, ...]
    short_cut: tuple[Option, ...]
    curly: tuple[Option, ...]
    beard: tuple[Option, ...]
    thick_beard: str
    moustache: tuple[Option, ...]
    thick_moustache: str
    wrinkles: tuple[Option, ...]
    dark_glasses: tuple[Option, ...]
    glasses: tuple[Option, ...]
    smiling: tuple[Option, ...]
    laughing: tuple[Option, ...]
    smiles: tuple[Option, ...]
    no_smile: tuple[Option, ...]
    does_not_smile: tuple[Option, ...]
    serious: tuple[Option, ...]
    missing: Mapping[str, tuple[Option, ...]]
    with_hair: Callable[[tuple[Phrase, ...]], Tail]
    with_beard: Callable[[str], Tail]
    with_moustache: Callable[[str], Tail]
    begin: Callable[[list[Phrase], list[Phrase]], list[Phrase]]
    follows: bool


def always(tail: Tail) -> Option:
    """An option that always gives the same words."""
    return lambda draw: tail


def tails(*texts: str) -> tuple[Option, ...]:
    """Options that always give the words of one of the texts."""
    return tuple(always([phrase(text)]) for text in texts)


def adjectives(*words: str) -> tuple[Option, ...]:
    """Options that are Russian adjectives, given in the masculine nominative."""
    return tuple(adjective(word) for word in words)


def pick(options: Sequence[T], draw: Draw) -> T:
    """One of the options."""
    return options[int(draw() * len(options))]


def shuffle(items: list[Any], draw: Draw) -> None:
    """Bring a list into a random order (Fisher and Yates)."""
    for i in range(len(items) - 1, 0, -1):
        j = int(draw() * (i + 1))
        items[i], items[j] = items[j], items[i]
