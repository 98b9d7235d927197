"""The fixed vocabulary of prompts: forms of Russian and English words and their token ids.

A prompt becomes tokens in four steps: composed Unicode (NFC) in lower case, ё replaced by е,
split into words, each word cut to its first five letters. `FORMS` maps such a five-letter form
to an id; all forms of one meaning share one id. Id 0 is padding. The order of the table is part
of every trained model: new meanings go to the end, and nothing is ever moved.

The cut is cheap and forgiving of endings, but some words become one: "блондин" and "блондинка",
"старую" and "старуха", "темнокожий" and "темноволосый", "черного" and "чернокожий". Where that
hurts, a longer form counts as a whole word ("grandma"), and a form of two words ("brown eyes")
is found before each of them. A form may stand for several ids ("sunglasses") or for none ("a").
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from ttikit.data import english_words
from ttikit.errors import TtiError

CUT = 5
"""Letters of a word that count."""

WHOLE = "="
"""Before a word of the tables: all of its letters count."""

Ids = int | list[int]
Forms = dict[str, Ids]

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


class Vocabulary:
    """Word forms and the ids that they stand for.

    meanings: the meaning of each id to its words; ids count from 1 in this order. A stem with a
    declension ("черн:hard") stands for every ending of it. phrases: one or two words to the
    meanings that they stand for, perhaps none. Raises TtiError for a form that would stand for
    two things, and for meanings that do not exist.
    """

    def __init__(self, meanings: Mapping[str, str], phrases: Mapping[str, Sequence[str]]) -> None:
        self.meanings = ("padding", *meanings)
        self._numbers = {name: i for i, name in enumerate(self.meanings) if i}
        self.forms: Forms = {}
        self.entries = dict(meanings)
        self.phrases = {text: tuple(names) for text, names in phrases.items()}
        for name, entry in meanings.items():
            for word in words_of(entry):
                self._add(form_of(word), self._numbers[name])
        for text, names in self.phrases.items():
            ids = [self._number(text, name) for name in names]
            self._add(form_of(text), ids[0] if len(ids) == 1 else ids)

    def _number(self, text: str, name: str) -> int:
        if name not in self._numbers:
            raise TtiError(f"{text!r} shall mean {name!r}, but there is no such meaning")
        return self._numbers[name]

    def _add(self, form: str, ids: Ids) -> None:
        other = self.forms.setdefault(form, ids)
        if other != ids:
            raise TtiError(
                f"{form!r} cannot stand for both {self._name(other)} and {self._name(ids)}: only "
                f"the first {CUT} letters of a word count, unless it is written {WHOLE}word"
            )

    def _name(self, ids: Ids) -> str:
        return " ".join(repr(self.meanings[i]) for i in as_ids(ids)) or "nothing"

    def __len__(self) -> int:
        """Number of ids, padding included."""
        return len(self.meanings)

    def tokenize(self, text: str) -> tuple[list[int], list[str]]:
        """Token ids of a prompt, in order, and the words that the vocabulary lacks."""
        ids: list[int] = []
        unknown: list[str] = []
        words = _WORD.findall(normalise(text))
        while words:
            pair = " ".join(word[:CUT] for word in words[:2])
            if len(words) > 1 and pair in self.forms:
                ids += as_ids(self.forms[pair])
                del words[:2]
                continue
            word = words.pop(0)
            found = self.forms.get(word, self.forms.get(word[:CUT]))
            if found is None:
                unknown.append(word)
            else:
                ids += as_ids(found)
        return ids, unknown


def as_ids(ids: Ids) -> list[int]:
    """The ids of a form as a list."""
    return [ids] if isinstance(ids, int) else ids


def words_of(entry: str) -> Iterator[str]:
    """The words of an entry of the tables, declensions written out."""
    for item in entry.split():
        stem, _, declension = item.partition(":")
        if declension and declension not in _ENDINGS:
            known = ", ".join(_ENDINGS)
            raise TtiError(f"{item!r} names no declension: after the colon comes one of {known}")
        yield from (stem + ending for ending in _ENDINGS.get(declension, "").split() or [""])


def form_of(text: str) -> str:
    """The form of one word or of two: cut to five letters, or whole after "="."""
    words = normalise(text).split()
    whole = len(words) == 1 and words[0].startswith(WHOLE)
    if whole:
        words[0] = words[0].removeprefix(WHOLE)
    if not 1 <= len(words) <= 2 or not all(map(_READABLE.fullmatch, words)):
        raise TtiError(f"{text!r} must be one word or two words of letters from a to z or а to я")
    return words[0] if whole else " ".join(word[:CUT] for word in words)


_WORD = re.compile(r"[^\W\d_]+")
_READABLE = re.compile("[a-zа-яѐ-џ]+")  # what the tokenizer of boards takes for letters

FACES = Vocabulary(
    {name: f"{words} {english_words.WORDS.get(name, '')}" for name, words in _MEANINGS.items()},
    english_words.PHRASES,
)
"""The vocabulary of the shipped model."""

FORMS: Forms = FACES.forms
"""Form to token id or ids."""

MEANINGS: tuple[str, ...] = FACES.meanings
"""English name of each id."""

VOCAB_SIZE = len(FACES)
"""Number of ids, padding included; at most 64."""

tokenize = FACES.tokenize
