"""What can be said about a person: the facts behind a caption, with their wordings.

A fact has a salience (how likely a talkative caption mentions it) and options: adjectives and
nouns (`Inflected`), or tails such as "с бородой", made by a function that draws its words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ttikit.data.grammar import (
    FEMININE,
    MASCULINE,
    Inflected,
    Phrase,
    adjective,
    appositive,
    noun,
    phrase,
    phrases,
    with_,
)

Tail = list[Phrase]
Draw = Callable[[], float]
Option = Inflected | Callable[[Draw], Tail]
Noun = tuple[Inflected, float, bool]


@dataclass(frozen=True)
class Fact:
    """Something to mention. Of facts that share a topic, a caption holds one.

    A verb ("улыбается") ends the caption.
    """

    salience: float
    options: tuple[Option, ...]
    topics: tuple[str, ...] = ()
    is_verb: bool = False


@dataclass
class Plan:
    """All that captions of one set of labels need. nouns: (forms, share, tells the age)."""

    gender: int
    nouns: tuple[Noun, ...]
    ages: tuple[Inflected, ...]
    age_share: float
    blurred: bool
    facts: list[Fact] = field(default_factory=list)


_NOUNS: dict[tuple[bool, bool], tuple[Noun, ...]] = {
    # by (male, young); the shares add up to 1
    (True, True): (
        (noun("мужчина", "мужчины"), 0.45, False),
        (noun("парень", "парня"), 0.30, True),
        (noun("молодой человек", "молодого человека"), 0.12, True),
        (noun("юноша", "юноши"), 0.08, True),
        (noun("человек", "человека"), 0.05, False),
    ),
    (True, False): (
        (noun("мужчина", "мужчины"), 0.48, False),
        (noun("дедушка", "дедушки"), 0.24, True),
        (noun("дед", "деда"), 0.13, True),
        (noun("старик", "старика"), 0.10, True),
        (noun("человек", "человека"), 0.05, False),
    ),
    (False, True): (
        (noun("женщина", "женщины"), 0.42, False),
        (noun("девушка", "девушки"), 0.54, True),
        (noun("дама", "дамы"), 0.04, False),
    ),
    (False, False): (
        (noun("женщина", "женщины"), 0.55, False),
        (noun("бабушка", "бабушки"), 0.40, True),
        (noun("дама", "дамы"), 0.05, False),
    ),
}
_YOUNG = (adjective("молодой"), adjective("молодой"), adjective("юный"))
_OLD = (adjective("пожилой"), adjective("пожилой"), adjective("старый"))


def _always(tail: Tail) -> Option:
    return lambda draw: tail


def tails(*texts: str) -> tuple[Option, ...]:
    """Options that always give the same words."""
    return tuple(_always([phrase(text)]) for text in texts)


def adjectives(*words: str) -> tuple[Option, ...]:
    """Options that are adjectives, given in the masculine nominative."""
    return tuple(adjective(word) for word in words)


# Label: salience and wordings, where the label alone decides.
_SIMPLE: dict[str, Fact] = {
    "Bald": Fact(0.9, adjectives("лысый", "лысый") + tails("с лысиной", "без волос")),
    "Receding_Hairline": Fact(0.5, adjectives("лысеющий") + tails("с залысинами")),
    "Bangs": Fact(0.6, tails("с челкой")),
    "5_o_Clock_Shadow": Fact(0.6, adjectives("небритый") + tails("со щетиной")),
    "Goatee": Fact(0.8, tails("с эспаньолкой", "с козлиной бородкой", "с бородкой")),
    "Sideburns": Fact(0.4, tails("с бакенбардами", "с баками")),
    "Wearing_Hat": Fact(0.9, tails("в шляпе", "в шляпе", "в шапке", "в кепке")),
    "Sad": Fact(0.8, adjectives("грустный", "грустный", "печальный")),
    "Surprised": Fact(0.8, adjectives("удивленный", "удивленный", "изумленный")),
    "Mouth_Slightly_Open": Fact(0.35, tails("с открытым ртом", "с приоткрытым ртом")),
    "Wearing_Lipstick": Fact(0.6, tails("с помадой", "с красными губами", "с красной помадой")),
    "Heavy_Makeup": Fact(0.5, adjectives("накрашенный") + tails("с макияжем", "с косметикой")),
    "Rosy_Cheeks": Fact(
        0.5, adjectives("румяный") + tails("с румяными щеками", "с румянцем на щеках")
    ),
    "Pale_Skin": Fact(
        0.7, adjectives("бледный", "бледный") + tails("с бледной кожей", "с бледным лицом")
    ),
    "Dark_Skin": Fact(
        0.8,
        adjectives("темнокожий", "смуглый") + tails("с темной кожей", "со смуглой кожей"),
    ),
    "Freckles": Fact(0.25, tails("с веснушками") + adjectives("веснушчатый")),
    "Blue_Eyes": Fact(
        0.45, tails("с голубыми глазами", "с синими глазами") + adjectives("голубоглазый")
    ),
    "Green_Eyes": Fact(0.45, tails("с зелеными глазами") + adjectives("зеленоглазый")),
    "Brown_Eyes": Fact(0.35, tails("с карими глазами") + adjectives("кареглазый")),
    "Narrow_Eyes": Fact(0.35, tails("с узкими глазами")),
    "Wearing_Earrings": Fact(0.6, tails("с серьгами", "в серьгах", "с сережками")),
    "Wearing_Necklace": Fact(0.55, tails("с ожерельем", "в бусах", "с бусами", "с цепочкой")),
    "Wearing_Necktie": Fact(0.7, tails("в галстуке", "с галстуком")),
    "Chubby": Fact(0.6, adjectives("полный", "пухлый", "толстый")),
    "Big_Lips": Fact(0.45, tails("с большими губами", "с полными губами", "с пухлыми губами")),
    "Big_Nose": Fact(0.45, tails("с большим носом", "с крупным носом") + adjectives("носатый")),
    "Bushy_Eyebrows": Fact(0.45, tails("с густыми бровями")),
}

# Hair colour: wordings before "волосами", before "бородой", adjectives, nouns.
_COLOURS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "Black_Hair": (
        ("черными", "черными", "темными"),
        ("черной", "темной"),
        ("черноволосый",),
        ("брюнет",),
    ),
    "Brown_Hair": (
        ("каштановыми", "русыми", "темными", "коричневыми"),
        ("русой", "темной"),
        ("русоволосый",),
        ("шатен",),
    ),
    "Blond_Hair": (
        ("светлыми", "светлыми", "белокурыми"),
        ("светлой",),
        ("светловолосый", "белокурый"),
        ("блондин",),
    ),
    "Gray_Hair": (("седыми",), ("седой",), ("седой", "седой", "седовласый"), ()),
    "Red_Hair": (("рыжими",), ("рыжей",), ("рыжий", "рыжий", "рыжеволосый"), ()),
}
_SHAPES = {
    "Long_Hair": ("длинными",),
    "Wavy_Hair": ("волнистыми", "кудрявыми", "вьющимися", "курчавыми"),
    "Straight_Hair": ("прямыми",),
}
_HAIR = phrase("волосами")
_WITH = {"с": phrase("с"), "со": phrase("со")}


def make_plan(person: dict[str, int]) -> Plan:
    """Everything that captions may say about labels by name (all of `ATTRIBUTES`)."""
    male, young = bool(person["Male"]), bool(person["Young"])
    plan = Plan(
        gender=MASCULINE if male else FEMININE,
        nouns=_NOUNS[male, young],
        ages=_YOUNG if young else _OLD,
        age_share=0.3 if young else 0.6,
        blurred=bool(person["Blurry"]),
    )
    plan.facts += [fact for name, fact in _SIMPLE.items() if person[name]]
    if not young:
        plan.facts.append(Fact(0.25, tails("с морщинами")))
    _add_hair(plan, person)
    _add_beard(plan, person)
    _add_glasses(plan, person)
    _add_mood(plan, person)
    _add_missing(plan, person)
    return plan


def _with_adjectives(words: tuple[Phrase, ...]) -> Tail:
    preposition = with_(words[0].text).split()[0]
    return [_WITH[preposition], *words, _HAIR]


def _add_hair(plan: Plan, person: dict[str, int]) -> None:
    """Colour as adjective or noun; a tail that joins length, shape and colour at random."""
    colour = next((name for name in _COLOURS if person[name]), None)
    pools = [phrases(words) for name, words in _SHAPES.items() if person[name]]
    if not person["Long_Hair"] and not person["Bald"] and plan.gender == MASCULINE:
        pools.append(phrases(("короткими",)))
    if not person["Long_Hair"] and plan.gender == FEMININE:
        pools.append(phrases(("короткими",)))
        plan.facts.append(Fact(0.2, tails("с короткой стрижкой"), ("shape",)))
    if person["Wavy_Hair"]:
        plan.facts.append(Fact(0.35, adjectives("кудрявый") + tails("с кудрями"), ("shape",)))
    if pools:
        plan.facts.append(Fact(0.35, (_hair_tail(pools),), ("shape",)))
    if colour is not None:
        before_hair, _, words, nouns = _COLOURS[colour]
        # the colour is what people name first: twice as likely as each other word
        pools = [*pools, *[phrases(before_hair)] * 2]
        options = adjectives(*words) + tuple(appositive(word) for word in nouns)
        plan.facts.append(Fact(0.5, options, ("colour",)))
        plan.facts.append(Fact(0.75, (_hair_tail(pools),), ("colour", "shape")))


def _hair_tail(pools: list[tuple[Phrase, ...]]) -> Option:
    count = len(pools)

    def draw_tail(draw: Draw) -> Tail:
        order = [int(draw() * count) for _ in range(1 + int(draw() * 2.4))]
        words: list[Phrase] = []
        seen: set[int] = set()
        for i in order:
            key = id(pools[i])
            if key not in seen and pools[i][0] not in words:
                seen.add(key)
                words.append(pools[i][int(draw() * len(pools[i]))])
        return _with_adjectives(tuple(words))

    return draw_tail


def _coloured(
    noun_text: str, colours: tuple[str, ...], extra: tuple[str, ...]
) -> tuple[Option, ...]:
    plain = ("", "", *extra)
    texts = [f"{word} {noun_text}".strip() for word in (*plain, *colours)]
    return tails(*(with_(text) for text in texts))


def _add_beard(plan: Plan, person: dict[str, int]) -> None:
    colour = next((name for name in _COLOURS if person[name]), None)
    before_beard = _COLOURS[colour][1] if colour else ()
    before_moustache = _COLOURS[colour][0] if colour else ()
    if person["Full_Beard"]:
        options = _coloured("бородой", before_beard, ("густой",))
        plan.facts.append(Fact(0.95, options + adjectives("бородатый")))
    if person["Mustache"]:
        salience = 0.3 if person["Full_Beard"] else 0.9
        options = _coloured("усами", tuple(dict.fromkeys(before_moustache)), ("густыми",))
        plan.facts.append(Fact(salience, options + adjectives("усатый")))


def _add_glasses(plan: Plan, person: dict[str, int]) -> None:
    if person["Sunglasses"]:
        texts = ("в темных очках", "в солнечных очках", "в солнцезащитных очках", "в очках")
        plan.facts.append(Fact(0.9, tails(*texts)))
    elif person["Eyeglasses"]:
        plan.facts.append(Fact(0.9, tails("в очках")))


def _add_mood(plan: Plan, person: dict[str, int]) -> None:
    if person["Smiling"]:
        merry = ("веселый", "радостный", "счастливый")
        options = adjectives("улыбающийся", "улыбающийся", *merry) + tails("с улыбкой")
        if person["Mouth_Slightly_Open"]:
            options += adjectives("смеющийся")
        plan.facts.append(Fact(0.7, options))
        plan.facts.append(Fact(0.12, tails("улыбается"), ("smile",), is_verb=True))
        return
    plan.facts.append(Fact(0.12, tails("без улыбки"), ("smile",)))
    plan.facts.append(Fact(0.08, tails("не улыбается"), ("smile",), is_verb=True))
    if not person["Sad"] and not person["Surprised"]:
        plan.facts.append(Fact(0.3, adjectives("серьезный", "спокойный")))


def _add_missing(plan: Plan, person: dict[str, int]) -> None:
    """Negations; they are rare, and each is true."""
    male = plan.gender == MASCULINE
    if not person["Eyeglasses"]:
        plan.facts.append(Fact(0.12, tails("без очков")))
    if not person["Wearing_Hat"]:
        plan.facts.append(Fact(0.06, tails("без шляпы", "без шапки")))
    if male and person["No_Beard"]:
        plan.facts.append(Fact(0.3, tails("без бороды", "без усов", "без бороды и усов")))
    elif male and person["Mustache"] and not person["Full_Beard"] and not person["Goatee"]:
        plan.facts.append(Fact(0.2, tails("без бороды")))
    elif male and person["Goatee"] and not person["Mustache"]:
        plan.facts.append(Fact(0.2, tails("без усов")))
    if not male and not person["Heavy_Makeup"] and not person["Wearing_Lipstick"]:
        plan.facts.append(Fact(0.15, tails("без макияжа", "без косметики", "без помады")))
    if not male and not person["Wearing_Earrings"]:
        plan.facts.append(Fact(0.08, tails("без серег", "без сережек")))
