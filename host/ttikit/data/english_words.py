"""English words for the meanings of `ttikit.data.vocabulary`, and forms of several ids.

Five letters are cut as in Russian; "=" before a word makes all of its letters count.
"""

WORDS: dict[str, str] = {
    "man": "man men male gentleman he",
    "woman": "woman women female lady ladies she",
    "young man": "guy guys boy boys lad lads fellow",
    "young woman": "girl girls lass",
    "old man": "=grandpa =grandfather =granddad =grandad gramps",
    "old woman": "=grandma =grandmother granny gran",
    "person": "person people human face faces portrait photo picture image",
    "young": "young youthful",
    "old": "old older elderly aged senior",
    "wrinkles": "wrinkles",
    "with": "with in wearing wears has have having",
    "without": "without no not",
    "and": "and",
    "hair": "hair hairs haired",
    "black hair": "black",
    "dark": "dark",
    "brown hair": "brown brunette chestnut",
    "blond": "blond fair light golden",
    "grey": "grey gray white silver greying graying",
    "red hair": "ginger redhead",
    "long": "long",
    "short": "short haircut",
    "wavy": "wavy waves curly curls curl",
    "straight": "straight",
    "bangs": "bangs fringe",
    "bald": "bald baldness",
    "receding hairline": "balding receding =hairline",
    "beard": "beard",
    "goatee": "goatee",
    "moustache": "moustache mustache",
    "stubble": "stubble unshaven",
    "sideburns": "sideburns",
    "glasses": "glasses eyeglasses spectacles specs",
    "hat": "hat hats cap caps beanie",
    "smile": "smile smiling happy cheerful joyful laugh grin grinning",
    "serious": "serious calm stern",
    "sad": "sad sadly unhappy gloomy",
    "surprised": "surprised amazed astonished",
    "open mouth": "open opened mouth",
    "eyes": "eyes eye eyed",
    "blue": "blue",
    "green": "green",
    "brown eyes": "hazel",
    "big": "big large huge",
    "narrow": "narrow",
    "nose": "nose nosed",
    "lips": "lips lip lipped",
    "red": "red",
    "lipstick": "lipstick",
    "make-up": "makeup cosmetics",
    "plump": "plump chubby fat full overweight",
    "thick": "thick bushy",
    "eyebrows": "eyebrows brows browed",
    "rosy": "rosy cheeks blushing",
    "skin": "skin skinned",
    "pale": "pale",
    "brown skin": "tanned swarthy",
    "freckles": "freckles",
    "earrings": "earrings",
    "necklace": "necklace beads chain",
    "tie": "tie necktie",
    "blurred": "blurred blurry",
}

_PEOPLE = {
    **dict.fromkeys(("man", "men", "male"), "man"),
    **dict.fromkeys(("woman", "women", "female", "lady", "ladies"), "woman"),
    **dict.fromkeys(("guy", "guys", "boy", "boys"), "young man"),
    **dict.fromkeys(("girl", "girls"), "young woman"),
    **dict.fromkeys(("person", "people"), "person"),
}
_HAIRY = {
    "hair": "hair",
    "haired": "hair",
    "head": "hair",
    "beard": "beard",
    "goatee": "goatee",
    "moustache": "moustache",
    "mustache": "moustache",
    "curls": "wavy",
    "curly": "wavy",
    "wavy": "wavy",
    "bangs": "bangs",
}


def _eyes(word: str, *meanings: str) -> dict[str, tuple[str, ...]]:
    return {f"{word} {eyes}": meanings for eyes in ("eyes", "eye", "eyed")}


def _skin(word: str, *meanings: str) -> dict[str, tuple[str, ...]]:
    return {f"{word} {skin}": meanings for skin in ("skin", "skinned")}


PHRASES: dict[str, tuple[str, ...]] = {
    # words that say nothing about a face
    **dict.fromkeys(("a", "an", "the", "of", "is", "are", "who", "his", "her", "its"), ()),
    **dict.fromkeys(("very", "some", "this", "that", "wear"), ()),
    "sunglasses": ("dark", "glasses"),
    "sun glasses": ("dark", "glasses"),
    "=beardless": ("without", "beard"),
    "clean shaven": ("without", "beard"),
    "=hairless": ("without", "hair"),
    "make up": ("make-up",),
    "five o": (),
    "clock shadow": ("stubble",),
    "with no": ("without",),
    "isn t": ("without",),
    "doesn t": ("without",),
    "receding hairline": ("receding hairline",),
    "full beard": ("thick", "beard"),
    "thick lips": ("plump", "lips"),
    # what a colour means depends on the next word
    **_eyes("brown", "brown eyes", "eyes"),
    **_eyes("dark", "brown eyes", "eyes"),
    **_eyes("grey", "blue", "eyes"),  # the nearest of the colours that the model knows
    **_eyes("gray", "blue", "eyes"),
    **_skin("brown", "brown skin", "skin"),
    **_skin("black", "dark", "skin"),
    **_skin("fair", "pale", "skin"),
    **_skin("light", "pale", "skin"),
    **_skin("white", "pale", "skin"),
    **{f"red {word}": ("red hair", meaning) for word, meaning in _HAIRY.items()},
    "red cheeks": ("rosy", "rosy"),
    **{f"black {word}": ("dark", meaning) for word, meaning in _PEOPLE.items()},
    **{f"white {word}": ("pale", meaning) for word, meaning in _PEOPLE.items()},
}
"""One or two words to the meanings that they stand for."""
