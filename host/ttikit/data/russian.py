"""Russian wordings of captions."""

from ttikit.data.grammar import Phrase, adjective, appositive, noun, phrase, phrases, with_
from ttikit.data.wording import Colour, Fact, Noun, Tail, Wording, adjectives, tails

_PERSON = noun("человек", "человека")
_NOUNS: dict[tuple[bool, bool], tuple[Noun, ...]] = {
    # by (male, young); the shares add up to 1
    (True, True): (
        (noun("мужчина", "мужчины"), 0.45, False),
        (noun("парень", "парня"), 0.30, True),
        (noun("молодой человек", "молодого человека"), 0.12, True),
        (noun("юноша", "юноши"), 0.08, True),
        (_PERSON, 0.05, False),
    ),
    (True, False): (
        (noun("мужчина", "мужчины"), 0.48, False),
        (noun("дедушка", "дедушки"), 0.24, True),
        (noun("дед", "деда"), 0.13, True),
        (noun("старик", "старика"), 0.10, True),
        (_PERSON, 0.05, False),
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


_COLOURS = {
    "Black_Hair": Colour(
        ("черными", "черными", "темными"),
        ("черной", "темной"),
        adjectives("черноволосый"),
        (appositive("брюнет"),),
    ),
    "Brown_Hair": Colour(
        ("каштановыми", "русыми", "темными", "коричневыми"),
        ("русой", "темной"),
        adjectives("русоволосый"),
        (appositive("шатен"),),
    ),
    "Blond_Hair": Colour(
        ("светлыми", "светлыми", "белокурыми"),
        ("светлой",),
        adjectives("светловолосый", "белокурый"),
        (appositive("блондин"),),
    ),
    "Gray_Hair": Colour(("седыми",), ("седой",), adjectives("седой", "седой", "седовласый")),
    "Red_Hair": Colour(("рыжими",), ("рыжей",), adjectives("рыжий", "рыжий", "рыжеволосый")),
}
_HAIR = phrase("волосами")
_WITH = {"с": phrase("с"), "со": phrase("со")}
_MERRY = adjectives("улыбающийся", "улыбающийся", "веселый", "радостный", "счастливый")


def _with_hair(words: tuple[Phrase, ...]) -> Tail:
    preposition = with_(words[0].text).split()[0]
    return [_WITH[preposition], *words, _HAIR]


def _with(noun_text: str, word: str) -> Tail:
    return [phrase(with_(f"{word} {noun_text}".strip()))]


RUSSIAN = Wording(
    nouns=_NOUNS,
    person=_PERSON,
    young=_YOUNG,
    old=_OLD,
    prefixes=phrases(("портрет", "фото", "лицо")),
    blurred=phrases(("размытое фото", "нечеткое фото", "размытый портрет", "расплывчатое фото")),
    conjunction=phrase("и"),
    simple=_SIMPLE,
    colours=_COLOURS,
    shapes={
        "Long_Hair": ("длинными",),
        "Wavy_Hair": ("волнистыми", "кудрявыми", "вьющимися", "курчавыми"),
        "Straight_Hair": ("прямыми",),
    },
    short=("короткими",),
    short_cut=tails("с короткой стрижкой"),
    curly=adjectives("кудрявый") + tails("с кудрями"),
    beard=adjectives("бородатый"),
    thick_beard="густой",
    moustache=adjectives("усатый"),
    thick_moustache="густыми",
    wrinkles=tails("с морщинами"),
    dark_glasses=tails("в темных очках", "в солнечных очках", "в солнцезащитных очках", "в очках"),
    glasses=tails("в очках"),
    smiling=_MERRY + tails("с улыбкой"),
    laughing=adjectives("смеющийся"),
    smiles=tails("улыбается"),
    no_smile=tails("без улыбки"),
    does_not_smile=tails("не улыбается"),
    serious=adjectives("серьезный", "спокойный"),
    missing={
        "glasses": tails("без очков"),
        "hat": tails("без шляпы", "без шапки"),
        "beard and moustache": tails("без бороды", "без усов", "без бороды и усов"),
        "beard": tails("без бороды"),
        "moustache": tails("без усов"),
        "make-up": tails("без макияжа", "без косметики", "без помады"),
        "earrings": tails("без серег", "без сережек"),
    },
    with_hair=_with_hair,
    with_beard=lambda word: _with("бородой", word),
    with_moustache=lambda word: _with("усами", word),
    begin=lambda start, rest: start + rest,
    follows=True,
)
