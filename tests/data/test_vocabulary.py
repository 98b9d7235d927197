"""The vocabulary: fixed ids, and the forms that people type."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.data.vocabulary import (
    CUT,
    FACES,
    FORMS,
    MEANINGS,
    VOCAB_SIZE,
    Vocabulary,
    as_ids,
    form_of,
    normalise,
    tokenize,
)
from ttikit.data.vocabulary_page import page
from ttikit.errors import TtiError

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
    used = {number for ids in FORMS.values() for number in as_ids(ids)}
    assert used == set(range(1, VOCAB_SIZE))


@pytest.mark.parametrize("meaning", TYPED)
def test_usual_inflections_have_their_meaning(meaning: str) -> None:
    for word in TYPED[meaning].split():
        ids, unknown = tokenize(word)
        assert unknown == [] and [MEANINGS[i] for i in ids] == [meaning], word


def test_forms_are_normalised_and_cut() -> None:
    whole = {form for form in FORMS if len(form) > CUT and " " not in form}
    assert whole == {
        *("grandpa", "grandfather", "granddad", "grandad", "grandma", "grandmother"),
        *("beardless", "hairless", "hairline"),
    }
    for form in set(FORMS) - whole:
        assert form == normalise(form) == form_of(form)
        assert all(1 <= len(word) <= CUT for word in form.split())


ENGLISH = {
    "old man with a beard": "old, man, with, beard",
    "bearded old man": "beard, old, man",
    "grandfather": "old man",
    "a Grandma in glasses": "old woman, with, glasses",
    "granny": "old woman",
    "smiling girl with sunglasses": "smile, young woman, with, dark, glasses",
    "guy wearing dark glasses": "young man, with, dark, glasses",
    "woman with brown hair": "woman, with, brown hair, hair",
    "woman with brown eyes": "woman, with, brown eyes, eyes",
    "brown-eyed brunette": "brown eyes, eyes, brown hair",
    "dark-skinned man with dark eyes": "dark, skin, man, with, brown eyes, eyes",
    "blonde with blue eyes": "blond, with, blue, eyes",
    "gray-haired man": "grey, hair, man",
    "grey hair, black beard": "grey, hair, black hair, beard",
    "no beard": "without, beard",
    "man with no beard": "man, without, beard",
    "without a beard": "without, beard",
    "clean-shaven": "without, beard",
    "beardless": "without, beard",
    "unshaven": "stubble",
    "five o'clock shadow": "stubble",
    "bald man": "bald, man",
    "balding": "receding hairline",
    "a receding hairline": "receding hairline",
    "red-haired woman with red lipstick": "red hair, hair, woman, with, red, lipstick",
    "ginger beard and red moustache": "red hair, beard, and, red hair, moustache",
    "red lips": "red, lips",
    "portrait of the man": "person, man",
    "a man who isn't smiling": "man, without, smile",
    "black man with black hair": "dark, man, with, black hair, hair",
    "fair-skinned lady with fair hair": "pale, skin, woman, with, blond, hair",
    "make-up": "make-up",
    "makeup": "make-up",
    "bushy eyebrows": "thick, eyebrows",
}


@pytest.mark.parametrize("prompt", ENGLISH)
def test_english_prompts_mean_what_they_say(prompt: str) -> None:
    ids, unknown = tokenize(prompt)
    assert ", ".join(MEANINGS[i] for i in ids) == ENGLISH[prompt]
    assert unknown == []


@pytest.mark.parametrize(
    ("meanings", "phrases", "message"),
    [
        ({"a": "grandpa", "b": "grandma"}, {}, "'grand' cannot stand for both 'a' and 'b'.*=word"),
        ({"a": "red"}, {"red": ("a", "a")}, "'red' cannot stand for both 'a' and 'a' 'a'"),
        ({"a": "red"}, {"red": ()}, "both 'a' and nothing"),
        ({"a": "red"}, {"blue": ("b",)}, "'blue' shall mean 'b', but there is no such meaning"),
        ({"a": "red"}, {"one two three": ("a",)}, "must be one word or two words of letters"),
        ({"a": "red2"}, {}, "must be one word or two"),
        ({"a": "größe"}, {}, "letters from a to z or а to я"),  # boards would split it
        ({"a": "red"}, {"=red eyes": ("a",)}, "must be one word or two"),
        ({"a": "черн:mushy"}, {}, "names no declension.*hard, stressed"),
        ({"a": "red"}, {"padding": ("padding",)}, "no such meaning"),
    ],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(meanings, phrases, message) -> None:
    with pytest.raises(TtiError, match=message):
        Vocabulary(meanings, phrases)


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
    assert all(word[:CUT] not in FORMS and word not in FORMS for word in unknown)


def test_the_page_is_that_of_the_vocabulary(repo) -> None:
    assert (repo / "docs" / "vocabulary.md").read_text("utf-8") == page(FACES)
    for line in page(FACES).splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 3 and cells[0].isdigit():
            for word in cells[2].split(", "):
                assert tokenize(word.strip("*")) == ([int(cells[0])], []), word
