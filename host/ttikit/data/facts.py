"""What can be said about a person: the facts behind a caption, in one language.

Captions claim only what the labels know: a label may be 0, 1 or `UNKNOWN`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ttikit.data.grammar import FEMININE, MASCULINE, Inflected, Phrase, phrases
from ttikit.data.wording import Colour, Draw, Fact, Noun, Option, Tail, Wording, always, pick


class Person:
    """The labels of one picture by name, which are 0, 1 or `UNKNOWN`."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        self._labels = labels

    def has(self, name: str) -> bool:
        """Whether it is known to be there."""
        return self._labels[name] == 1

    def lacks(self, *names: str) -> bool:
        """Whether all of them are known to be absent."""
        return all(self._labels[name] == 0 for name in names)


@dataclass
class Plan:
    """All that captions of one set of labels need."""

    wording: Wording
    gender: int
    nouns: tuple[Noun, ...]
    ages: tuple[Inflected, ...]
    age_share: float
    blurred: bool
    facts: list[Fact] = field(default_factory=list)


def make_plan(labels: Mapping[str, int], wording: Wording) -> Plan:
    """Everything that captions may say about labels by name (all of `ATTRIBUTES`)."""
    person = Person(labels)
    young, old = person.has("Young"), person.lacks("Young")
    plan = Plan(
        wording,
        gender=FEMININE if person.lacks("Male") else MASCULINE,
        nouns=_nouns(person, wording),
        ages=wording.young if young else wording.old if old else (),
        age_share=0.3 if young else 0.6 if old else 0.0,
        blurred=person.has("Blurry"),
    )
    plan.facts += [fact for name, fact in wording.simple.items() if person.has(name)]
    if old:
        plan.facts.append(Fact(0.25, wording.wrinkles))
    _add_hair(plan, person)
    _add_beard(plan, person)
    _add_glasses(plan, person)
    _add_mood(plan, person)
    _add_missing(plan, person)
    return plan


def _nouns(person: Person, wording: Wording) -> tuple[Noun, ...]:
    """Nouns that fit; where sex or age is unknown, those that tell nothing of it."""
    sexes, ages = _possible(person, "Male"), _possible(person, "Young")
    nouns = wording.nouns[sexes[0], ages[0]]
    if len(sexes) == len(ages) == 1:
        return nouns
    if len(sexes) == 2:
        return ((wording.person, 1.0, False),)
    silent = [noun for noun in nouns if not noun[2]]
    total = sum(share for _, share, _ in silent)
    return tuple((forms, share / total, False) for forms, share, _ in silent)


def _possible(person: Person, name: str) -> list[bool]:
    if person.has(name):
        return [True]
    return [False] if person.lacks(name) else [True, False]


def _colour(plan: Plan, person: Person) -> Colour | None:
    named = (words for name, words in plan.wording.colours.items() if person.has(name))
    return next(named, None)


def _add_hair(plan: Plan, person: Person) -> None:
    """Colour as adjective or noun; a tail that joins length, shape and colour at random."""
    wording = plan.wording
    colour = _colour(plan, person)
    pools = [phrases(words) for name, words in wording.shapes.items() if person.has(name)]
    if person.lacks("Long_Hair", "Bald") and person.has("Male"):
        pools.append(phrases(wording.short))
    if person.lacks("Long_Hair", "Male"):
        pools.append(phrases(wording.short))
        plan.facts.append(Fact(0.35, wording.short_cut, ("shape",)))
    if person.has("Wavy_Hair"):
        plan.facts.append(Fact(0.35, wording.curly, ("shape",)))
    if pools:
        plan.facts.append(Fact(0.35, (_hair_tail(pools, wording),), ("shape",)))
    if colour is not None:
        # the colour is what people name first: twice as likely as each other word
        pools = [*pools, *[phrases(colour.hair)] * 2]
        plan.facts.append(Fact(0.5, colour.adjectives + colour.nouns, ("colour",)))
        plan.facts.append(Fact(0.75, (_hair_tail(pools, wording),), ("colour", "shape")))


def _hair_tail(pools: list[tuple[Phrase, ...]], wording: Wording) -> Option:
    count = len(pools)

    def draw_tail(draw: Draw) -> Tail:
        order = [int(draw() * count) for _ in range(1 + int(draw() * 2.4))]
        words: list[Phrase] = []
        seen: set[int] = set()
        for i in order:
            key = id(pools[i])
            if key not in seen and pools[i][0] not in words:
                seen.add(key)
                words.append(pick(pools[i], draw))
        return wording.with_hair(tuple(words))

    return draw_tail


def _add_beard(plan: Plan, person: Person) -> None:
    wording = plan.wording
    colour = _colour(plan, person)
    if person.has("Full_Beard"):
        words = ("", "", wording.thick_beard, *(colour.beard if colour else ()))
        options = tuple(always(wording.with_beard(word)) for word in words)
        plan.facts.append(Fact(0.95, options + wording.beard))
    if person.has("Mustache"):
        salience = 0.3 if person.has("Full_Beard") else 0.9
        hair = dict.fromkeys(colour.hair if colour else ())
        words = ("", "", wording.thick_moustache, *hair)
        options = tuple(always(wording.with_moustache(word)) for word in words)
        plan.facts.append(Fact(salience, options + wording.moustache))


def _add_glasses(plan: Plan, person: Person) -> None:
    if person.has("Sunglasses"):
        plan.facts.append(Fact(0.9, plan.wording.dark_glasses))
    elif person.has("Eyeglasses"):
        plan.facts.append(Fact(0.9, plan.wording.glasses))


def _add_mood(plan: Plan, person: Person) -> None:
    wording = plan.wording
    if person.has("Smiling"):
        laughing = wording.laughing if person.has("Mouth_Slightly_Open") else ()
        plan.facts.append(Fact(0.7, wording.smiling + laughing))
        plan.facts.append(Fact(0.12, wording.smiles, ("smile",), is_verb=True))
        return
    if not person.lacks("Smiling"):
        return
    plan.facts.append(Fact(0.12, wording.no_smile, ("smile",)))
    plan.facts.append(Fact(0.08, wording.does_not_smile, ("smile",), is_verb=True))
    if person.lacks("Sad", "Surprised"):
        plan.facts.append(Fact(0.3, wording.serious))


def _add_missing(plan: Plan, person: Person) -> None:
    """Negations; each is true."""
    missing = plan.wording.missing
    male, female = person.has("Male"), person.lacks("Male")
    if person.lacks("Eyeglasses"):
        plan.facts.append(Fact(0.3, missing["glasses"]))
    if person.lacks("Wearing_Hat"):
        plan.facts.append(Fact(0.25, missing["hat"]))
    if male and person.has("No_Beard"):
        plan.facts.append(Fact(0.45, missing["beard and moustache"]))
    elif male and person.has("Mustache") and person.lacks("Full_Beard", "Goatee"):
        plan.facts.append(Fact(0.8, missing["beard"]))
    elif male and person.has("Goatee") and person.lacks("Mustache"):
        plan.facts.append(Fact(0.8, missing["moustache"]))
    if female and person.lacks("Heavy_Makeup", "Wearing_Lipstick"):
        plan.facts.append(Fact(0.4, missing["make-up"]))
    if female and person.lacks("Wearing_Earrings"):
        plan.facts.append(Fact(0.08, missing["earrings"]))
