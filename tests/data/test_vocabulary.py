"""The vocabulary: fixed ids, and the forms that people type."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.data.vocabulary import CUT, FORMS, MEANINGS, VOCAB_SIZE, normalise, tokenize

# Trained models depend on these numbers. New meanings go to the end; nothing ever moves.
FIXED = [
    "padding",
    "man",
    "woman",
    "young man",
    "young woman",
    "old man",
    "old woman",
    "person",
    "young",
    "old",
    "wrinkles",
    "with",
    "without",
    "and",
    "hair",
    "black hair",
    "dark",
    "brown hair",
    "blond",
    "grey",
    "red hair",
    "long",
    "short",
    "wavy",
    "straight",
    "bangs",
    "bald",
    "receding hairline",
    "beard",
    "goatee",
    "moustache",
    "stubble",
    "sideburns",
    "glasses",
    "hat",
    "smile",
    "serious",
    "sad",
    "surprised",
    "open mouth",
    "eyes",
    "blue",
    "green",
    "brown eyes",
    "big",
    "narrow",
    "nose",
    "lips",
    "red",
    "lipstick",
    "make-up",
    "plump",
    "thick",
    "eyebrows",
    "rosy",
    "skin",
    "pale",
    "brown skin",
    "freckles",
    "earrings",
    "necklace",
    "tie",
    "blurred",
]

TYPED = {
    "man": "мужчина мужчины мужчине мужчину мужчиной мужчин мужчинами",
    "young man": "парень парня парню парнем парне парни юноша юноши юноше юношу юношей",
    "old man": "дед деда деду дедом деде дедушка дедушки дедушку старик старика старичок",
    "old woman": "бабушка бабушки бабушке бабушку бабушкой бабуля",
    "woman": "женщина женщины женщину дама дамы даму дамой",
    "young woman": "девушка девушки девушку девушкой",
    "red hair": "рыжий рыжая рыжие рыжего рыжей рыжему рыжую рыжим рыжих рыжими рыжеволосая",
    "grey": "седой седая седые седого седую седым седыми седовласый",
    "bald": "лысый лысая лысого лысому лысым лысой лысина",
    "beard": "борода бороды бородой бороду бородатый бородач бородка",
    "moustache": "усы усов усам усами усатый усатая усатого усики",
    "glasses": "очки очков очкам очками очках очкарик",
    "hat": "шляпа шляпе шляпу шляпы шляпой шапка шапке шапку кепка кепке кепкой",
    "smile": "улыбающийся улыбающаяся улыбается улыбка улыбкой веселый смеющаяся",
    "wavy": "кудрявый кудрявая кудри кудрями волнистые вьющиеся",
    "black hair": "черный черная черные черными брюнет брюнетка",
    "brown hair": "шатен шатенка каштановые русые русый",
    "blond": "блондин блондинка светлые светлыми белокурая",
    "with": "с со в во",
    "without": "без не",
    "freckles": "веснушки веснушками веснушчатый",
    "blue": "голубой голубые голубыми голубоглазая синий синие синими",
    "brown eyes": "карий карие карими кареглазый",
    "lips": "губы губами губ",
    "tie": "галстук галстуке галстуком",
}


def test_ids_are_fixed() -> None:
    assert list(MEANINGS[: len(FIXED)]) == FIXED
    assert len(MEANINGS) == VOCAB_SIZE <= 64
    assert sorted(set(FORMS.values())) == list(range(1, VOCAB_SIZE))


@pytest.mark.parametrize("meaning", TYPED)
def test_usual_inflections_have_their_meaning(meaning: str) -> None:
    for word in TYPED[meaning].split():
        ids, unknown = tokenize(word)
        assert unknown == [] and [MEANINGS[i] for i in ids] == [meaning], word


def test_forms_are_normalised_and_cut() -> None:
    for form in FORMS:
        assert form == normalise(form) and 1 <= len(form) <= CUT


def test_case_yo_decomposition_and_punctuation_do_not_matter() -> None:
    text = "Весёлый, СЕДОЙ мужчина — в очках!"
    expected = ["smile", "grey", "man", "with", "glasses"]
    for variant in (text, unicodedata.normalize("NFD", text), text.upper()):
        ids, unknown = tokenize(variant)
        assert [MEANINGS[i] for i in ids] == expected and unknown == []


def test_unknown_words_are_reported_in_order() -> None:
    assert tokenize("кот в шляпе и сапогах") == (
        [FORMS["в"], FORMS["шляпе"], FORMS["и"]],
        ["кот", "сапогах"],
    )
    assert tokenize("") == ([], [])


@given(st.text())
def test_any_text_is_split_without_loss_of_letters(text: str) -> None:
    ids, unknown = tokenize(text)
    assert all(0 < number < VOCAB_SIZE for number in ids)
    assert all(word[:CUT] not in FORMS for word in unknown)


def test_the_page_lists_every_meaning_in_order(repo):
    page = (repo / "docs" / "vocabulary.md").read_text("utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| ")][1:]
    assert [(int(number), meaning.strip()) for number, meaning, _ in rows] == list(
        enumerate(MEANINGS)
    )[1:]
    for number, _, words in rows:
        for word in words.split(","):
            assert tokenize(word) == ([int(number)], [])
