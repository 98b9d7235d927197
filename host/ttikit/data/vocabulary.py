"""The fixed vocabulary of prompts: forms of Russian words and the token ids they stand for.

A prompt becomes tokens in four steps: composed Unicode (NFC) in lower case, ё replaced by е,
split into words, each word cut to its first five letters. `FORMS` maps such a five-letter form
to an id; all forms of one meaning share one id. Id 0 is padding. The order of the table is part
of every trained model: new meanings go to the end, and nothing is ever moved.

The cut is cheap and forgiving of endings, but some words become one: "блондин" and "блондинка",
"старую" and "старуха", "темнокожий" and "темноволосый", "черного" and "чернокожий".
"""

import re
import unicodedata

CUT = 5
"""Letters of a word that count."""

PADDING = 0

_ENDINGS = {
    "hard": "ый ая ое ые ого ой ому ым ом ую ых ыми",
    "stressed": "ой ая ое ые ого ому ым ом ую ых ыми",
    "velar": "ий ая ое ие ого ой ому им ом ую их ими",
    "hushing": "ий ая ее ие его ей ему им ем ую их ими",
    "soft": "ий яя ее ие его ей ему им ем юю их ими",
    "feminine": "а ы е у ой ою ам ами ах",
    "feminine-velar": "а и е у ой ою ам ами ах",
    "masculine": "а у ом е ы ов ам ами ах",
}

# Meaning: words, or stem:declension where every ending of the declension is a usual form.
# Function words of the same sense share an id: "в очках" is "с очками", "не" is "без".
_MEANINGS: dict[str, str] = {
    "man": "мужчина мужик мужской дядя дяди дяде дядю дядей",
    "woman": "женщина женский дам:feminine тетя тети тете тетю тетей",
    "young man": "парень парня парню парнем парне парни юноша юноши юноше юношу",
    "young woman": "девушка девица",
    "old man": "дедушка дед дед:masculine дедок дедуля старик старичок",
    "old woman": "бабушка бабуля бабка бабки бабке бабку бабкой",
    "person": "человек люди лицо лица лицу лицом лице портрет фото фотография",
    "young": "молодой юн:hard",
    "old": "пожилой стар:hard престарелый",
    "wrinkles": "морщины",
    "with": "с со в во на",
    "without": "без не",
    "and": "и",
    "hair": "волосы шевелюра",
    "black hair": "черн:hard брюнет",
    "dark": "темн:hard солнечные солнцезащитные",
    "brown hair": "каштановый рус:hard русоволосый коричневый шатен",
    "blond": "светлый блондин белокурый",
    "grey": "сед:stressed седой седовласый седина седеющий",
    "red hair": "рыж:hushing рыжеволосый",
    "long": "длинный",
    "short": "короткий стриженый",
    "wavy": "волнистый кудрявый кудри кудрей кудрям вьющийся курчавый локоны завитые",
    "straight": "прям:stressed",
    "bangs": "челк:feminine-velar челочка",
    "bald": "лыс:hard лысина",
    "receding hairline": "залысины лысеющий",
    "beard": "борода",
    "goatee": "эспаньолка козлиная",
    "moustache": "усы усов усам усами усах усат:hard усики усиками усач",
    "stubble": "щетина небритый",
    "sideburns": "бакенбарды баки баков бакам баками баках",
    "glasses": "очки очков очкам очками очках очкарик",
    "hat": "шляп:feminine шляпка шапк:feminine-velar шапочка кепк:feminine-velar",
    "smile": "улыбающийся улыбка улыбок веселый радостный смеющийся смеется счастливый",
    "serious": "серьезный спокойный",
    "sad": "грустный печальный",
    "surprised": "удивленный изумленный",
    "open mouth": "рот рта рту ртом рте открытый приоткрытый раскрытый",
    "eyes": "глаза глаз глазки",
    "blue": "голубой син:soft синеглазый",
    "green": "зеленый",
    "brown eyes": "кар:soft кареглазый",
    "big": "большой крупный",
    "narrow": "узк:velar",
    "nose": "нос нос:masculine носатый",
    "lips": "губ губ:feminine губастый",
    "red": "красный",
    "lipstick": "помада",
    "make-up": "макияж косметика накрашенный",
    "plump": "полн:hard пухл:hard толстый",
    "thick": "густ:stressed",
    "eyebrows": "брови бровей бровям бровями бровях бровь",
    "rosy": "румяный румянец щеки щекам щек щеках щеками",
    "skin": "кожа кожи коже кожу кожей",
    "pale": "бледный",
    "brown skin": "смуглый",
    "freckles": "веснушки",
    "earrings": "серьги серег сережки",
    "necklace": "ожерелье бусы бус бусам бусами бусах цепочка",
    "tie": "галстук",
    "blurred": "размытый нечеткий расплывчатый",
}


def normalise(text: str) -> str:
    """Composed Unicode in lower case, with е for ё."""
    return unicodedata.normalize("NFC", text).lower().replace("ё", "е")


def _words_of(entry: str) -> list[str]:
    words = []
    for item in entry.split():
        stem, _, declension = item.partition(":")
        if declension:
            words += [stem + ending for ending in _ENDINGS[declension].split()]
        else:
            words.append(stem)
    return words


def _build_forms() -> dict[str, int]:
    forms: dict[str, int] = {}
    for number, (meaning, entry) in enumerate(_MEANINGS.items(), start=PADDING + 1):
        for word in _words_of(entry):
            form = normalise(word)[:CUT]
            if forms.setdefault(form, number) != number:
                raise AssertionError(f"{form!r} of {meaning!r} already stands for {forms[form]}")
    return forms


FORMS: dict[str, int] = _build_forms()
"""Five-letter form to token id."""

MEANINGS: tuple[str, ...] = ("padding", *_MEANINGS)
"""English name of each id."""

VOCAB_SIZE = len(MEANINGS)
"""Number of ids, padding included; at most 64."""

_WORD = re.compile(r"[^\W\d_]+")


def tokenize(text: str) -> tuple[list[int], list[str]]:
    """Token ids of a prompt, in order, and the words that the vocabulary lacks."""
    ids, unknown = [], []
    for word in _WORD.findall(normalise(text)):
        number = FORMS.get(word[:CUT])
        if number is None:
            unknown.append(word)
        else:
            ids.append(number)
    return ids, unknown
