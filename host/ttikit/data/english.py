"""English wordings of captions, of the same ids as the Russian ones (`english_words`)."""

from ttikit.data.grammar import Inflected, Phrase, inflected, phrase, phrases
from ttikit.data.wording import Colour, Fact, Noun, Option, Tail, Wording, tails


def _word(text: str) -> Inflected:
    return inflected(text, text, text, text)


def _noun(text: str) -> Inflected:
    return inflected(text, text, text, text, is_noun=True)


def _adjectives(*texts: str) -> tuple[Option, ...]:
    return tuple(_word(text) for text in texts)


def _colour_noun(of_man: str, of_woman: str) -> tuple[Option, ...]:
    """A noun for a woman, which may stand alone; for a man an adjective in its place."""
    return (inflected(of_man, of_woman, of_man, of_woman, is_noun=True),)


_PERSON = _noun("person")
_NOUNS: dict[tuple[bool, bool], tuple[Noun, ...]] = {
    # by (male, young); the shares add up to 1
    (True, True): (
        (_noun("man"), 0.45, False),
        (_noun("guy"), 0.30, True),
        (_noun("young man"), 0.12, True),
        (_noun("boy"), 0.08, True),
        (_PERSON, 0.05, False),
    ),
    (True, False): (
        (_noun("man"), 0.48, False),
        (_noun("grandpa"), 0.24, True),
        (_noun("grandfather"), 0.13, True),
        (_noun("old man"), 0.10, True),
        (_PERSON, 0.05, False),
    ),
    (False, True): (
        (_noun("woman"), 0.42, False),
        (_noun("girl"), 0.54, True),
        (_noun("lady"), 0.04, False),
    ),
    (False, False): (
        (_noun("woman"), 0.55, False),
        (_noun("grandma"), 0.25, True),
        (_noun("grandmother"), 0.15, True),
        (_noun("lady"), 0.05, False),
    ),
}

_SIMPLE: dict[str, Fact] = {
    "Bald": Fact(0.9, _adjectives("bald", "bald") + tails("without hair")),
    "Receding_Hairline": Fact(0.5, _adjectives("balding") + tails("with a receding hairline")),
    "Bangs": Fact(0.6, tails("with bangs", "with a fringe")),
    "5_o_Clock_Shadow": Fact(0.6, _adjectives("unshaven") + tails("with stubble")),
    "Goatee": Fact(0.8, tails("with a goatee")),
    "Sideburns": Fact(0.4, tails("with sideburns")),
    "Wearing_Hat": Fact(0.9, tails("in a hat", "with a hat", "wearing a hat", "in a cap")),
    "Sad": Fact(0.8, _adjectives("sad", "sad", "unhappy")),
    "Surprised": Fact(0.8, _adjectives("surprised", "surprised", "amazed")),
    "Mouth_Slightly_Open": Fact(0.35, tails("with an open mouth", "with open mouth")),
    "Wearing_Lipstick": Fact(
        0.6, tails("with lipstick", "wearing lipstick", "with red lips", "with red lipstick")
    ),
    "Heavy_Makeup": Fact(0.5, tails("with makeup", "with make-up", "wearing makeup")),
    "Rosy_Cheeks": Fact(0.5, _adjectives("rosy-cheeked") + tails("with rosy cheeks")),
    "Pale_Skin": Fact(0.7, _adjectives("pale", "pale") + tails("with pale skin")),
    "Dark_Skin": Fact(
        0.8,
        _adjectives("dark-skinned", "tanned") + tails("with dark skin", "with brown skin"),
    ),
    "Freckles": Fact(0.25, tails("with freckles")),
    "Blue_Eyes": Fact(0.45, tails("with blue eyes") + _adjectives("blue-eyed")),
    "Green_Eyes": Fact(0.45, tails("with green eyes") + _adjectives("green-eyed")),
    "Brown_Eyes": Fact(0.35, tails("with brown eyes") + _adjectives("brown-eyed")),
    "Narrow_Eyes": Fact(0.35, tails("with narrow eyes")),
    "Wearing_Earrings": Fact(0.6, tails("with earrings", "wearing earrings")),
    "Wearing_Necklace": Fact(
        0.55, tails("with a necklace", "wearing a necklace", "with beads", "with a chain")
    ),
    "Wearing_Necktie": Fact(0.7, tails("in a tie", "with a tie", "wearing a tie")),
    "Chubby": Fact(0.6, _adjectives("chubby", "plump", "fat")),
    "Big_Lips": Fact(0.45, tails("with big lips", "with full lips", "with plump lips")),
    "Big_Nose": Fact(
        0.45, tails("with a big nose", "with a large nose") + _adjectives("big-nosed")
    ),
    "Bushy_Eyebrows": Fact(0.45, tails("with bushy eyebrows", "with thick eyebrows")),
}

_COLOURS = {
    "Black_Hair": Colour(
        ("black", "black", "dark"), ("black", "dark"), _adjectives("black-haired", "dark-haired")
    ),
    "Brown_Hair": Colour(
        ("brown", "brown", "dark", "chestnut"),
        ("brown", "dark"),
        _adjectives("brown-haired"),
        _colour_noun("brown-haired", "brunette"),
    ),
    "Blond_Hair": Colour(
        ("blond", "fair", "light"),
        ("blond", "light"),
        _adjectives("blond", "fair-haired"),
        _colour_noun("blond", "blonde"),
    ),
    "Gray_Hair": Colour(
        ("grey", "gray", "white"),
        ("grey", "gray", "white"),
        _adjectives("grey-haired", "gray-haired"),
    ),
    "Red_Hair": Colour(
        ("red", "red", "ginger"),
        ("red", "ginger"),
        _adjectives("red-haired", "ginger"),
        _colour_noun("red-haired", "redhead"),
    ),
}
_HAIR = phrase("hair")
_WITH = phrase("with")
_NO_ARTICLE = ("with", "without", "in", "wearing")


def _with_hair(words: tuple[Phrase, ...]) -> Tail:
    # looked up as a whole: what "red" means depends on the word after it
    return [phrase(" ".join(piece.text for piece in (_WITH, *words, _HAIR)))]


def _with_a(noun_text: str, word: str) -> Tail:
    return [phrase(" ".join(f"with a {word} {noun_text}".split()))]


def _begin(start: list[Phrase], rest: list[Phrase]) -> list[Phrase]:
    """ "portrait of" and "old man": the article between them has no token."""
    first = rest[0].text.split()[0]
    if not start or first in _NO_ARTICLE:
        return start + rest
    return [*start, Phrase("an" if first[0] in "aeiou" else "a", ()), *rest]


ENGLISH = Wording(
    nouns=_NOUNS,
    person=_PERSON,
    young=(_word("young"),),
    old=(_word("old"), _word("old"), _word("elderly")),
    prefixes=phrases(("portrait of", "photo of", "face of")),
    blurred=phrases(("blurred photo of", "blurry photo of", "blurred portrait of")),
    conjunction=phrase("and"),
    simple=_SIMPLE,
    colours=_COLOURS,
    shapes={
        "Long_Hair": ("long",),
        "Wavy_Hair": ("wavy", "curly"),
        "Straight_Hair": ("straight",),
    },
    short=("short",),
    short_cut=tails("with a short haircut"),
    curly=tails("with curls"),
    beard=_adjectives("bearded"),
    thick_beard="thick",
    moustache=(),
    thick_moustache="thick",
    wrinkles=tails("with wrinkles"),
    dark_glasses=tails(
        "in dark glasses", "in sunglasses", "with sunglasses", "wearing sunglasses", "in glasses"
    ),
    glasses=tails("in glasses", "with glasses", "wearing glasses"),
    smiling=_adjectives("smiling", "smiling", "happy", "cheerful") + tails("with a smile"),
    laughing=_adjectives("laughing"),
    smiles=tails("smiling"),
    no_smile=tails("without a smile"),
    does_not_smile=tails("not smiling"),
    serious=_adjectives("serious", "calm"),
    missing={
        "glasses": tails("without glasses", "with no glasses"),
        "hat": tails("without a hat"),
        "beard and moustache": (
            *tails("without a beard", "with no beard", "without a moustache"),
            *_adjectives("clean-shaven"),
        ),
        "beard": tails("without a beard", "with no beard"),
        "moustache": tails("without a moustache"),
        "make-up": tails("without makeup", "without lipstick"),
        "earrings": tails("without earrings"),
    },
    with_hair=_with_hair,
    with_beard=lambda word: _with_a("beard", word),
    with_moustache=lambda word: _with_a("moustache", word),
    begin=_begin,
    follows=False,
)
