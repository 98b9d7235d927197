"""Captions: true, in good Russian, wholly in the vocabulary, and never the same for long."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, labels_array, sample_attributes
from ttikit.data.captions import MAX_WORDS, caption, token_batch
from ttikit.data.grammar import adjective, with_
from ttikit.data.vocabulary import tokenize

vectors = st.lists(st.booleans(), min_size=len(ATTRIBUTES), max_size=len(ATTRIBUTES))
seeds = st.integers(0, 2**32 - 1)

FEMININE_ENDING = re.compile(r"(ая|яя|аяся)$")
MASCULINE_ENDING = re.compile(r"(ый|ий|ийся|ого|его|егося)$")
MEN = {"мужчина", "мужчины", "парень", "парня", "человек", "человека", "юноша", "юноши"}
MEN |= {"дедушка", "дедушки", "дед", "деда", "старик", "старика"}
WOMEN = {"женщина", "женщины", "девушка", "девушки", "дама", "дамы", "бабушка", "бабушки"}


def random_people(count: int, seed: int = 0) -> list[dict[str, int]]:
    rng = np.random.default_rng(seed)
    return [sample_attributes(rng) for _ in range(count)]


@settings(max_examples=400, deadline=None)
@given(vectors, seeds)
def test_any_labels_give_a_caption_within_the_vocabulary(labels: list[bool], seed: int) -> None:
    person = {name: int(value) for name, value in zip(ATTRIBUTES, labels, strict=True)}
    text = caption(person, np.random.default_rng(seed))
    tokens, unknown = tokenize(text)
    assert unknown == []
    assert 1 <= len(tokens) <= MAX_WORDS
    assert len(tokens) == len(text.split())


@settings(max_examples=400, deadline=None)
@given(vectors, seeds)
def test_gender_agrees(labels: list[bool], seed: int) -> None:
    person = {name: int(value) for name, value in zip(ATTRIBUTES, labels, strict=True)}
    words = caption(person, np.random.default_rng(seed)).removeprefix("размытый портрет").split()
    wrong = FEMININE_ENDING if person["Male"] else MASCULINE_ENDING
    assert [word for word in words if wrong.search(word)] == []
    assert not set(words) & (WOMEN if person["Male"] else MEN)


@settings(max_examples=50, deadline=None)
@given(st.lists(vectors, min_size=1, max_size=5), seeds)
def test_tokens_in_a_batch_are_those_of_the_captions(rows: list[list[bool]], seed: int) -> None:
    labels = np.array(rows, np.uint8)
    batch = token_batch(labels, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    for row, tokens in zip(labels, batch, strict=True):
        text = caption(dict(zip(ATTRIBUTES, map(int, row), strict=True)), rng)
        expected, _ = tokenize(text)
        assert tokens[: len(expected)].tolist() == expected
        assert not tokens[len(expected) :].any()


def test_captions_say_nothing_false() -> None:
    rules = {
        r"в (темных |солнечных |солнцезащитных )?очках": lambda p: p["Eyeglasses"],
        r"(темных|солнечных|солнцезащитных) очках": lambda p: p["Sunglasses"],
        r"без очков": lambda p: not p["Eyeglasses"],
        r"в (шляпе|шапке|кепке)": lambda p: p["Wearing_Hat"],
        r"без (шляпы|шапки)": lambda p: not p["Wearing_Hat"],
        r"бородой|бородат": lambda p: p["Full_Beard"],
        r"без бороды": lambda p: not p["Full_Beard"] and not p["Goatee"],
        r"без (бороды и )?усов": lambda p: not p["Mustache"],
        r"\bусами|\bусат": lambda p: p["Mustache"],
        r"улыбающ|с улыбкой|[^е] улыбается": lambda p: p["Smiling"],
        r"без улыбки|не улыбается": lambda p: not p["Smiling"],
        r"\bлыс(ый|ая|ого|ой|иной)": lambda p: p["Bald"],
        r"\bрыж": lambda p: p["Red_Hair"],
        r"\bсед(ой|ая|ого|ым|ов)": lambda p: p["Gray_Hair"],
        r"\b(блонд|светл|белок)": lambda p: p["Blond_Hair"],
        r"\b(молод|юн|девуш|парн|парен)": lambda p: p["Young"],
        r"\b(пожил|стар|дед|бабуш|морщ)": lambda p: not p["Young"],
        r"помадой|красными губами": lambda p: p["Wearing_Lipstick"],
    }
    seen = dict.fromkeys(rules, 0)
    rng = np.random.default_rng(1)
    for person in random_people(6000):
        text = caption(person, rng)
        for pattern, holds in rules.items():
            if re.search(pattern, text):
                seen[pattern] += 1
                assert holds(person), (text, pattern)
    assert min(seen.values()) > 5, seen


def test_the_same_person_is_described_in_many_ways() -> None:
    rng = np.random.default_rng(2)
    person = random_people(1, seed=9)[0]
    texts = {caption(person, rng) for _ in range(300)}
    assert len(texts) > 150
    lengths = {len(text.split()) for text in texts}
    assert min(lengths) <= 2 and max(lengths) >= 10


def test_every_token_is_used() -> None:
    labels = np.stack([labels_array(person) for person in random_people(4000)])
    used = np.unique(token_batch(labels, np.random.default_rng(0)))
    from ttikit.data.vocabulary import MEANINGS, VOCAB_SIZE

    unused = {MEANINGS[i] for i in set(range(VOCAB_SIZE)) - set(used.tolist())}
    assert unused == set()


def test_wrong_arguments_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(KeyError, match="Attractive"):
        caption({"Attractive": 1}, rng)
    with pytest.raises(ValueError, match=r"\(N, 50\), not \(2, 40\)"):
        token_batch(np.zeros((2, 40), np.uint8), rng)
    with pytest.raises(ValueError, match="at least 24, not 16"):
        token_batch(np.zeros((2, len(ATTRIBUTES)), np.uint8), rng, length=16)


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("лысый", ("лысый", "лысая", "лысого", "лысой")),
        ("молодой", ("молодой", "молодая", "молодого", "молодой")),
        ("рыжий", ("рыжий", "рыжая", "рыжего", "рыжей")),
        (
            "улыбающийся",
            ("улыбающийся", "улыбающаяся", "улыбающегося", "улыбающейся"),
        ),
    ],
)
def test_declension(word: str, forms: tuple[str, ...]) -> None:
    declined = adjective(word)
    assert tuple(declined(case, gender).text for case in (0, 1) for gender in (0, 1)) == forms


def test_prepositions() -> None:
    assert with_("светлыми волосами") == "со светлыми волосами"
    assert with_("щетиной") == "со щетиной"
    assert with_("седой бородой") == "с седой бородой"
