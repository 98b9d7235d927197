"""The attributes of a picture, and how a random person's attributes are drawn.

The first 39 names are CelebA's, in CelebA's order (only `Attractive` is left out: a matter of
taste is no fact). The others are ours. Every label is exact: the picture is made from it.
"""

import numpy as np

CELEBA_ATTRIBUTES = (
    "5_o_Clock_Shadow",
    "Arched_Eyebrows",
    "Bags_Under_Eyes",
    "Bald",
    "Bangs",
    "Big_Lips",
    "Big_Nose",
    "Black_Hair",
    "Blond_Hair",
    "Blurry",
    "Brown_Hair",
    "Bushy_Eyebrows",
    "Chubby",
    "Double_Chin",
    "Eyeglasses",
    "Goatee",
    "Gray_Hair",
    "Heavy_Makeup",
    "High_Cheekbones",
    "Male",
    "Mouth_Slightly_Open",
    "Mustache",
    "Narrow_Eyes",
    "No_Beard",
    "Oval_Face",
    "Pale_Skin",
    "Pointy_Nose",
    "Receding_Hairline",
    "Rosy_Cheeks",
    "Sideburns",
    "Smiling",
    "Straight_Hair",
    "Wavy_Hair",
    "Wearing_Earrings",
    "Wearing_Hat",
    "Wearing_Lipstick",
    "Wearing_Necklace",
    "Wearing_Necktie",
    "Young",
)
OWN_ATTRIBUTES = (
    "Full_Beard",
    "Red_Hair",
    "Long_Hair",
    "Sunglasses",
    "Freckles",
    "Dark_Skin",
    "Blue_Eyes",
    "Green_Eyes",
    "Brown_Eyes",
    "Sad",
    "Surprised",
)
ATTRIBUTES = CELEBA_ATTRIBUTES + OWN_ATTRIBUTES
INDEX = {name: i for i, name in enumerate(ATTRIBUTES)}
UNKNOWN = 255
"""A label that the source of a picture does not give; all others are 0 or 1."""

HAIR_COLOURS = ("Black_Hair", "Brown_Hair", "Blond_Hair", "Gray_Hair", "Red_Hair")

Attributes = dict[str, int]


class _Coin:
    """Draws yes/no answers and choices from one generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def flip(self, probability: float) -> int:
        return int(self.rng.random() < probability)

    def pick(self, options: dict[str, float]) -> str:
        shares = np.array(list(options.values()))
        return str(self.rng.choice(list(options), p=shares / shares.sum()))


def sample_attributes(rng: np.random.Generator) -> Attributes:
    """Draw a plausible person: a dict with 0 or 1 for every name in `ATTRIBUTES`."""
    coin = _Coin(rng)
    person: Attributes = dict.fromkeys(ATTRIBUTES, 0)
    person["Male"] = coin.flip(0.5)
    person["Young"] = coin.flip(0.62)
    _beard(person, coin)
    _skin_and_eyes(person, coin)
    _hair(person, coin)
    _expression(person, coin)
    _features(person, coin)
    _worn(person, coin)
    return person


def _beard(person: Attributes, coin: _Coin) -> None:
    if not person["Male"]:
        person["No_Beard"] = 1
        return
    kind = coin.pick(
        {
            "none": 0.44,
            "stubble": 0.10,
            "moustache": 0.12,
            "goatee": 0.07,
            "both": 0.07,
            "full": 0.17,
            "sideburns": 0.03,
        }
    )
    person["No_Beard"] = int(kind == "none")
    person["5_o_Clock_Shadow"] = int(kind == "stubble")
    person["Mustache"] = int(kind in ("moustache", "both", "full"))
    person["Goatee"] = int(kind in ("goatee", "both"))
    person["Full_Beard"] = int(kind == "full")
    person["Sideburns"] = int(kind in ("sideburns", "full"))


def _skin_and_eyes(person: Attributes, coin: _Coin) -> None:
    person["Dark_Skin"] = coin.flip(0.15)
    if not person["Dark_Skin"]:
        person["Pale_Skin"] = coin.flip(0.08)
    shares = {"Brown_Eyes": 0.45, "Blue_Eyes": 0.33, "Green_Eyes": 0.22}
    if person["Dark_Skin"]:
        shares = {"Brown_Eyes": 1.0}
    person[coin.pick(shares)] = 1


def _hair(person: Attributes, coin: _Coin) -> None:
    male, young = person["Male"], person["Young"]
    person["Wearing_Hat"] = coin.flip(0.13)
    if male and not person["Wearing_Hat"]:
        person["Bald"] = coin.flip(0.10 if young else 0.28)
        if not person["Bald"]:
            person["Receding_Hairline"] = coin.flip(0.05 if young else 0.30)
    if not person["Bald"]:
        person[_hair_colour(person, coin)] = 1
        person["Wavy_Hair"] = coin.flip(0.4)
        person["Straight_Hair"] = 1 - person["Wavy_Hair"]
        if not person["Receding_Hairline"]:
            person["Long_Hair"] = coin.flip(0.07 if male else 0.62)
            if not person["Wearing_Hat"]:
                person["Bangs"] = coin.flip(0.12 if male else 0.25)


def _hair_colour(person: Attributes, coin: _Coin) -> str:
    if person["Dark_Skin"]:
        shares = (0.70, 0.12, 0.04, 0.02, 0.02) if person["Young"] else (0.4, 0.06, 0.0, 0.54, 0.0)
    elif person["Young"]:
        shares = (0.27, 0.29, 0.27, 0.01, 0.16)
    else:
        shares = (0.10, 0.13, 0.09, 0.62, 0.06)
    return coin.pick(dict(zip(HAIR_COLOURS, shares, strict=True)))


def _expression(person: Attributes, coin: _Coin) -> None:
    mood = coin.pick({"smile": 0.46, "calm": 0.37, "sad": 0.10, "surprised": 0.07})
    person["Smiling"] = int(mood == "smile")
    person["Sad"] = int(mood == "sad")
    person["Surprised"] = int(mood == "surprised")
    open_share = {"smile": 0.65, "calm": 0.2, "sad": 0.0, "surprised": 1.0}[mood]
    person["Mouth_Slightly_Open"] = coin.flip(open_share)
    person["High_Cheekbones"] = coin.flip(0.45 if person["Smiling"] else 0.2)


def _features(person: Attributes, coin: _Coin) -> None:
    male, young = person["Male"], person["Young"]
    person["Bushy_Eyebrows"] = coin.flip(0.28 if male else 0.06)
    if not person["Bushy_Eyebrows"]:
        person["Arched_Eyebrows"] = coin.flip(0.06 if male else 0.42)
    person["Bags_Under_Eyes"] = coin.flip((0.25 if male else 0.1) if young else 0.5)
    person["Big_Lips"] = coin.flip(0.2)
    person["Big_Nose"] = coin.flip(0.25 if male else 0.1)
    if not person["Big_Nose"]:
        person["Pointy_Nose"] = coin.flip(0.25)
    person["Chubby"] = coin.flip(0.12)
    person["Double_Chin"] = coin.flip(0.7 if person["Chubby"] else 0.02)
    if not person["Chubby"]:
        person["Oval_Face"] = coin.flip(0.25)
    if not person["Surprised"]:
        person["Narrow_Eyes"] = coin.flip(0.12)
    person["Blurry"] = coin.flip(0.03)
    freckled = 0.4 if person["Red_Hair"] else 0.06
    if not person["Dark_Skin"]:
        person["Freckles"] = coin.flip(freckled)


def _worn(person: Attributes, coin: _Coin) -> None:
    person["Eyeglasses"] = coin.flip(0.20)
    if person["Eyeglasses"]:
        person["Sunglasses"] = coin.flip(0.22)
    if person["Male"]:
        person["Wearing_Necktie"] = coin.flip(0.22)
        person["Wearing_Earrings"] = coin.flip(0.02)
        return
    person["Wearing_Lipstick"] = coin.flip(0.5)
    person["Heavy_Makeup"] = coin.flip(0.6 if person["Wearing_Lipstick"] else 0.05)
    person["Rosy_Cheeks"] = coin.flip(0.35 if person["Heavy_Makeup"] else 0.06)
    person["Wearing_Earrings"] = coin.flip(0.32)
    person["Wearing_Necklace"] = coin.flip(0.22)


def labels_array(person: Attributes) -> np.ndarray:
    """The attributes as uint8 (len(ATTRIBUTES),), in the order of `ATTRIBUTES`."""
    return np.array([person[name] for name in ATTRIBUTES], np.uint8)
