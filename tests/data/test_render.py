"""What the labels promise is to be seen in the pictures."""

import numpy as np
import pytest
from ttikit.data.attributes import ATTRIBUTES, CELEBA_ATTRIBUTES, HAIR_COLOURS, sample_attributes
from ttikit.data.dataset import render_one
from ttikit.data.render import render_picture

PLAIN = {"Male": 1, "Young": 1, "No_Beard": 1, "Brown_Eyes": 1, "Straight_Hair": 1}
FACE = np.s_[28:44, 25:39]
EYES = np.s_[28:36, 22:42]
CHIN = np.s_[46:53, 27:37]
MOUTH = np.s_[40:48, 27:37]
CROWN = np.s_[3:12, 26:38]


def mean_colour(place: tuple[slice, slice], people: int = 6, **changes: int) -> np.ndarray:
    """Mean RGB of a place over several people with PLAIN attributes, changed."""
    person = dict.fromkeys(ATTRIBUTES, 0) | PLAIN | changes
    rows = [
        render_picture(person, np.random.default_rng([77, i]))[place].mean((0, 1))
        for i in range(people)
    ]
    return np.mean(rows, 0)


def test_there_are_enough_celeba_names_in_celebas_order() -> None:
    assert len(CELEBA_ATTRIBUTES) >= 36
    assert list(CELEBA_ATTRIBUTES) == sorted(CELEBA_ATTRIBUTES)
    assert len(set(ATTRIBUTES)) == len(ATTRIBUTES)


def test_picture_and_labels_depend_on_seed_and_number_only() -> None:
    first, labels = render_one(5, "train", 3)
    again, same = render_one(5, "train", 3)
    assert first.shape == (64, 64, 3) and first.dtype == np.uint8
    assert np.array_equal(first, again) and np.array_equal(labels, same)
    for other in (
        render_one(6, "train", 3),
        render_one(5, "held-out", 3),
        render_one(5, "train", 4),
    ):
        assert not np.array_equal(first, other[0])


def test_hair_colours_show_at_the_crown() -> None:
    colour = {name: mean_colour(CROWN, **{name: 1}) for name in HAIR_COLOURS}
    light = {name: value.sum() for name, value in colour.items()}
    assert light["Black_Hair"] < light["Brown_Hair"] < light["Blond_Hair"]
    assert light["Gray_Hair"] > light["Brown_Hair"]
    warmth = {name: value[0] / value[2] for name, value in colour.items()}
    assert warmth["Red_Hair"] == max(warmth.values())
    assert warmth["Gray_Hair"] < 1.2 < warmth["Blond_Hair"]


def test_sunglasses_darken_the_eyes() -> None:
    bare = mean_colour(EYES, Brown_Hair=1).sum()
    glasses = mean_colour(EYES, Brown_Hair=1, Eyeglasses=1).sum()
    dark = mean_colour(EYES, Brown_Hair=1, Eyeglasses=1, Sunglasses=1).sum()
    assert dark < 0.75 * bare
    assert dark < glasses < bare


@pytest.mark.parametrize("name", ["Full_Beard", "Goatee", "5_o_Clock_Shadow"])
def test_beards_darken_the_chin(name: str) -> None:
    shaven = mean_colour(CHIN, Black_Hair=1).sum()
    extra = {"Mustache": 1} if name == "Full_Beard" else {}
    limit = {"Full_Beard": 0.6, "Goatee": 0.75, "5_o_Clock_Shadow": 0.9}[name]
    assert mean_colour(CHIN, Black_Hair=1, No_Beard=0, **{name: 1}, **extra).sum() < limit * shaven


def test_skin_colour_and_lipstick_show() -> None:
    pale = mean_colour(FACE, Brown_Hair=1, Pale_Skin=1).sum()
    usual = mean_colour(FACE, Brown_Hair=1).sum()
    dark = mean_colour(FACE, Brown_Hair=1, Dark_Skin=1).sum()
    assert pale > 1.03 * usual > 1.4 * dark
    woman = {"Male": 0, "Brown_Hair": 1, "Long_Hair": 1}
    natural = mean_colour(MOUTH, **woman)
    painted = mean_colour(MOUTH, **woman, Wearing_Lipstick=1)
    assert painted[0] - painted[1] > 1.15 * (natural[0] - natural[1])


def test_bald_heads_and_hats_change_the_crown() -> None:
    hair = mean_colour(CROWN, Black_Hair=1).sum()
    bald = mean_colour(CROWN, Bald=1, Straight_Hair=0).sum()
    hat = mean_colour(CROWN, Black_Hair=1, Wearing_Hat=1).sum()
    assert bald > 1.5 * hair
    assert hat > 1.3 * hair


def test_long_hair_falls_beside_the_neck() -> None:
    beside = np.s_[50:58, 10:18]
    woman = {"Male": 0, "Black_Hair": 1}
    assert (
        mean_colour(beside, **woman, Long_Hair=1).sum() < 0.75 * mean_colour(beside, **woman).sum()
    )


def test_the_same_person_in_another_mood_looks_different_at_the_mouth_only_by_mood() -> None:
    calm = mean_colour(MOUTH, Brown_Hair=1)
    for mood in ("Smiling", "Sad", "Surprised"):
        assert np.abs(mean_colour(MOUTH, Brown_Hair=1, **{mood: 1}) - calm).max() > 1


def test_sampled_people_are_consistent() -> None:
    rng = np.random.default_rng(0)
    seen = np.zeros(len(ATTRIBUTES), int)
    for _ in range(3000):
        person = sample_attributes(rng)
        seen += [person[name] for name in ATTRIBUTES]
        assert sum(person[name] for name in HAIR_COLOURS) == 1 - person["Bald"]
        assert not (person["Wearing_Hat"] and (person["Bangs"] or person["Bald"]))
        bearded = person["Full_Beard"] or person["Goatee"] or person["Mustache"]
        assert not (person["No_Beard"] and bearded)
        assert person["Male"] or person["No_Beard"]
        assert person["Sunglasses"] <= person["Eyeglasses"]
        assert person["Brown_Eyes"] + person["Blue_Eyes"] + person["Green_Eyes"] == 1
    assert seen.min() > 20, "every attribute occurs"
