"""Captions: true, in good Russian, wholly in the vocabulary, and never the same for long."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, UNKNOWN, labels_array, sample_attributes
from ttikit.data.captions import MAX_WORDS, caption, token_batch
from ttikit.data.english import ENGLISH
from ttikit.data.grammar import Inflected, adjective, with_
from ttikit.data.russian import RUSSIAN
from ttikit.data.vocabulary import FORMS, MEANINGS, VOCAB_SIZE, tokenize

SIZE = len(ATTRIBUTES)
vectors = st.lists(st.sampled_from((0, 1, UNKNOWN)), min_size=SIZE, max_size=SIZE)
seeds = st.integers(0, 2**32 - 1)

FEMININE_ENDING = re.compile(r"(ая|яя|аяся)$")
MASCULINE_ENDING = re.compile(r"(ый|ий|ийся|ого|его|егося)$")
MEN = {"мужчина", "мужчины", "парень", "парня", "человек", "человека", "юноша", "юноши"}
MEN |= {"дедушка", "дедушки", "дед", "деда", "старик", "старика"}
WOMEN = {"женщина", "женщины", "девушка", "девушки", "дама", "дамы", "бабушка", "бабушки"}


def random_people(count: int, seed: int = 0) -> list[dict[str, int]]:
    rng = np.random.default_rng(seed)
    return [sample_attributes(rng) for _ in range(count)]


@settings(max_examples=150, deadline=None)
@given(vectors, seeds)
def test_any_labels_give_a_caption_within_the_vocabulary(labels: list[int], seed: int) -> None:
    person = dict(zip(ATTRIBUTES, labels, strict=True))
    for english in (0, 1):
        text = caption(person, np.random.default_rng(seed), english)
        assert re.search("[a-z]" if english else "[а-я]", text)
        assert not re.search("[а-я]" if english else "[a-z]", text)
        tokens, unknown = tokenize(text)
        assert unknown == []
        assert 1 <= len(tokens) <= MAX_WORDS
        assert english or len(tokens) == len(text.split())


@settings(max_examples=150, deadline=None)
@given(vectors, seeds)
def test_gender_agrees(labels: list[int], seed: int) -> None:
    person = dict(zip(ATTRIBUTES, labels, strict=True))
    words = caption(person, np.random.default_rng(seed), 0).removeprefix("размытый портрет")
    male = person["Male"]
    wrong = FEMININE_ENDING if male else MASCULINE_ENDING
    assert [word for word in words.split() if wrong.search(word)] == []
    assert not set(words.split()) & (WOMEN if male else MEN)
    if male == UNKNOWN:
        assert not set(words.split()) & (MEN - {"человек", "человека"})


@settings(max_examples=50, deadline=None)
@given(st.lists(vectors, min_size=1, max_size=5), seeds)
def test_tokens_in_a_batch_are_those_of_the_captions(rows: list[list[int]], seed: int) -> None:
    labels = np.array(rows, np.uint8)
    batch = token_batch(labels, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    for row, tokens in zip(labels, batch, strict=True):
        text = caption(dict(zip(ATTRIBUTES, map(int, row), strict=True)), rng)
        expected, _ = tokenize(text)
        assert tokens[: len(expected)].tolist() == expected
        assert not tokens[len(expected) :].any()


def test_captions_say_nothing_false() -> None:
    check_truth(0, {
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
    })  # fmt: skip


def test_english_captions_say_nothing_false() -> None:
    check_truth(1, {
        r"(in|with|wearing) (dark |sun)?glasses": lambda p: p["Eyeglasses"],
        r"dark glasses|sunglasses": lambda p: p["Sunglasses"],
        r"(without|no) glasses": lambda p: not p["Eyeglasses"],
        r"(in|with|wearing) a (hat|cap)": lambda p: p["Wearing_Hat"],
        r"without a hat": lambda p: not p["Wearing_Hat"],
        r"with a (\w+ )?beard|bearded": lambda p: p["Full_Beard"],
        r"(without a|no) beard|clean-shaven": lambda p: not p["Full_Beard"] and not p["Goatee"],
        r"without a (beard and )?moustache": lambda p: not p["Mustache"],
        r"with a (\w+ )?moustache": lambda p: p["Mustache"],
        r"(?<!not )smiling|with a smile|\bhappy": lambda p: p["Smiling"],
        r"without a smile|not smiling": lambda p: not p["Smiling"],
        r"\bbald\b|without hair": lambda p: p["Bald"],
        r"\bred-|\bred (\w+ )?hair|ginger|redhead": lambda p: p["Red_Hair"],
        r"\b(gr[ae]y|white)": lambda p: p["Gray_Hair"],
        r"blond|fair": lambda p: p["Blond_Hair"],
        r"brown (\w+ )?hair|brunette|chestnut": lambda p: p["Brown_Hair"],
        r"brown.eye": lambda p: p["Brown_Eyes"],
        r"\b(young|girl|guy|boy)": lambda p: p["Young"],
        r"\b(old|elderly|grand\w+|wrinkles)": lambda p: not p["Young"],
        r"\b(man|guy|boy|grandpa|grandfather)": lambda p: p["Male"],
        r"\b(woman|girl|lady|grandm\w+)": lambda p: not p["Male"],
        r"(?<!without )lipstick|red lips": lambda p: p["Wearing_Lipstick"],
    })  # fmt: skip


def check_truth(english: float, rules: dict) -> None:
    """Each caption that matches a pattern is of a person for whom the rule holds."""
    seen = dict.fromkeys(rules, 0)
    rng = np.random.default_rng(1)
    for person in random_people(6000):
        text = caption(person, rng, english)
        for pattern, holds in rules.items():
            if re.search(pattern, text):
                seen[pattern] += 1
                assert holds(person), (text, pattern)
    assert min(seen.values()) > 5, seen


def test_captions_say_nothing_of_unknown_attributes() -> None:
    rng = np.random.default_rng(3)
    nothing = dict.fromkeys(ATTRIBUTES, UNKNOWN)
    words = {caption(nothing, rng) for _ in range(600)}
    of_person = {f"{start} человека" for start in ("портрет", "фото", "лицо")}
    of_person |= {f"{start} of a person" for start in ("portrait", "photo", "face")}
    assert words == {"человек", "person"} | of_person
    glasses = {**nothing, "Eyeglasses": 1}
    texts = " ".join(caption(glasses, rng) for _ in range(200))
    assert "очках" in texts and "glasses" in texts
    assert not re.search("темн|солн|dark|sun", texts)
    woman = {**nothing, "Male": 0, "Smiling": 0}
    texts = " ".join(caption(woman, rng) for _ in range(300))
    assert "не улыбается" in texts and "женщина" in texts and "lady" in texts
    assert not re.search("серьез|спокой|serious|calm|девуш|бабуш|girl|grand|корот|short", texts)


def ids_of(option, wording) -> set[tuple[int, ...]]:
    """The ids of an option but for "with", in any order; of each hair tail that it may draw."""
    if isinstance(option, Inflected):
        found = [option(case, gender).tokens for case in (0, 1) for gender in (0, 1)]
    else:
        draws = np.random.default_rng(0).random
        found = [sum((p.tokens for p in option(lambda: float(draws()))), ()) for _ in range(40)]
    return {tuple(sorted(i for i in ids if i != FORMS["with"])) for ids in found}


def test_each_english_phrase_has_the_ids_of_a_russian_one() -> None:
    plain = ("short_cut", "curly", "beard", "moustache", "wrinkles", "dark_glasses", "glasses")
    plain += ("smiling", "laughing", "smiles", "no_smile", "does_not_smile", "serious")
    pairs = [(getattr(ENGLISH, name), getattr(RUSSIAN, name)) for name in plain]
    for name, fact in ENGLISH.simple.items():
        pairs.append((fact.options, RUSSIAN.simple[name].options))
    pairs += [(options, RUSSIAN.missing[name]) for name, options in ENGLISH.missing.items()]
    for name, colour in ENGLISH.colours.items():
        pairs.append((spoken(ENGLISH, colour), spoken(RUSSIAN, RUSSIAN.colours[name])))
    assert ENGLISH.simple.keys() == RUSSIAN.simple.keys()
    assert ENGLISH.missing.keys() == RUSSIAN.missing.keys()
    for english, russian in pairs:
        allowed = set().union(*(ids_of(option, RUSSIAN) for option in russian))
        for option in english:
            for ids in ids_of(option, ENGLISH):
                assert ids in allowed, [MEANINGS[i] for i in ids]


def spoken(wording, colour):
    """All options that name a colour of hair or beard."""
    from ttikit.data.grammar import phrases
    from ttikit.data.wording import always

    options = [always(wording.with_hair((word,))) for word in phrases(colour.hair)]
    options += [always(wording.with_beard(word)) for word in colour.beard]
    options += [always(wording.with_moustache(word)) for word in colour.hair]
    return (*options, *colour.adjectives, *colour.nouns)


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
