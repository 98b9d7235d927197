"""Words to tokens: what a prompt may look like, and what is said about it."""

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_model import FORMS


@pytest.fixture(scope="module")
def encode(tti):
    tokenizer = sys.modules["tti.pipeline"].Tokenizer(FORMS)

    def run(prompt):
        ids = bytearray(32)
        n, notes = tokenizer.encode(prompt, ids)
        assert not any(ids[n:])
        return list(ids[:n]), notes

    return run


@pytest.mark.parametrize(
    ("prompt", "ids"),
    [
        ("пожилой мужчина", [1, 2]),
        ("ПОЖИЛАЯ, Мужчине!", [1, 2]),
        ("девушка со светлыми волосами", [3, 5, 4, 6]),
        ("пожи\u0301лой\u200b мужчина", [1, 2]),
        ("пожилой мужчина".encode(), [1, 2]),
        (bytearray("девушка".encode()), [3]),
    ],
)
def test_forms_of_a_word_are_one_token(encode, prompt, ids):
    assert encode(prompt) == (ids, [])


def test_decomposed_letters_equal_composed(encode, tti):
    words = sys.modules["tti.tokenizer"].words
    text = "Йод ёлка Ёж пожилой"
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    assert list(words(apart)) == list(words(text)) == ["йод", "елка", "еж", "пожилой"]
    assert encode("йод") == encode(unicodedata.normalize("NFD", "йод")) == ([7], [])


def test_unknown_words_are_named(encode):
    ids, notes = encode("пожилой кот и мужчина, кот с рыбой")
    assert ids == [1, 2, 5]
    assert notes == ["ignored, not in the vocabulary: «кот», «и», «рыбой»"]


def test_many_unknown_words_are_counted(encode):
    names = [f"кот{i}" for i in range(20)]
    _, notes = encode(" ".join(names) + " мужчина")
    assert notes[0].endswith("«кот7» and 12 more")


def test_a_prompt_without_known_words_is_drawn_and_says_so(encode):
    ids, notes = encode("кот")
    assert ids == []
    assert notes[1] == "no word of the prompt is known, so the face is a random one"


def test_latin_look_alikes_are_read_and_named(encode):
    assert encode("мyжчина c вoлосами") == (
        [2, 5, 6],
        ["Latin letters read as Cyrillic in «мyжчина», «c», «вoлосами»"],
    )
    assert encode("мужчинa") == ([2], [])  # beyond the letters that count


def test_other_latin_words_are_unknown(encode):
    assert encode("old мужчина") == ([2], ["ignored, not in the vocabulary: «old»"])


ENGLISH = {
    "a": [],
    "hat": 1,  # all of its letters look like Cyrillic ones
    "нат": 2,
    "c": 3,
    "grandma": 4,
    "grandpa": 5,
    "brown": 6,
    "eyes": 7,
    "brown eyes": [8, 7],
    "sungl": [9, 10],
    "two brown": 11,
    "isn t": 12,
}


@pytest.mark.parametrize(
    ("prompt", "ids"),
    [
        ("a hat", [1]),
        ("HAT c a нат", [1, 3, 2]),
        ("Grandma, grandpa", [4, 5]),
        ("brown-eyed", [6]),
        ("brown eyes", [8, 7]),
        ("brown, EYES", [8, 7]),
        ("brown brown eyes eyes", [6, 8, 7, 7]),
        ("two browns eyes", [11, 7]),
        ("eyes brown", [7, 6]),
        ("sunglasses", [9, 10]),
        ("isn't a hat", [12, 1]),
        ("isn’t a “hat”—grandma…", [12, 1, 4]),
    ],
)
def test_forms_of_two_words_of_whole_words_and_of_several_tokens(tti, prompt, ids):
    out = bytearray(32)
    tokenizer = sys.modules["tti.pipeline"].Tokenizer(ENGLISH)
    n, notes = tokenizer.encode(prompt, out)
    assert list(out[:n]) == ids
    assert [note for note in notes if "«eyed»" not in note] == []


def test_a_form_of_several_tokens_may_be_cut_at_the_end(tti):
    ids = bytearray(32)
    n, notes = (
        sys.modules["tti.pipeline"].Tokenizer(ENGLISH).encode("hat " * 31 + "sunglasses", ids)
    )
    assert n == 32 and ids[31] == 9
    assert notes == ["only the first 32 known words are used, 1 more were ignored"]


def test_words_without_meaning_alone_draw_a_random_face(tti):
    ids = bytearray(32)
    n, notes = sys.modules["tti.pipeline"].Tokenizer(ENGLISH).encode("a", ids)
    assert n == 0
    assert notes == ["no word of the prompt is known, so the face is a random one"]


def test_long_prompts_use_the_first_words(encode):
    ids, notes = encode("мужчина " * 1250)  # 10,000 characters
    assert ids == [2] * 32
    assert notes == ["only the first 32 known words are used, 1218 more were ignored"]


def test_one_endless_word(encode):
    ids, notes = encode("ы" * 10_000)
    assert ids == []
    assert len(notes[0]) < 100


@pytest.mark.parametrize("prompt", ["", "   ", "\n\t\u00a0", b"", ", ", "\u0301"])
def test_blank_prompts_are_refused(encode, prompt):
    with pytest.raises(ValueError, match="the prompt has no letters; say whom to draw"):
        encode(prompt)


@pytest.mark.parametrize("prompt", [b"\xff\xfe", b"\xd0", "\udcd0"])
def test_bytes_that_are_no_utf8_are_refused(encode, prompt):
    with pytest.raises(ValueError, match="not valid UTF-8; set the terminal to UTF-8"):
        encode(prompt)


@pytest.mark.parametrize("prompt", [None, 7, ["мужчина"]])
def test_other_types_are_refused(encode, prompt):
    with pytest.raises(TypeError, match="the prompt must be text"):
        encode(prompt)


@settings(max_examples=300)
@given(
    st.text(min_size=1).filter(lambda s: s.strip())
    | st.text("абвгдеёжзийклмнопрстуфхцчшщъыьэюя ЁЙ-,.", min_size=1).filter(lambda s: s.strip())
)
@example("\u0306")
@example("й\u0306\u0308")
def test_any_text_gives_tokens_or_notes(encode, text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    try:
        ids, notes = encode(text)
    except ValueError as error:
        assert "the prompt has no letters" in str(error)
        assert not any("а" <= ch.lower() <= "ё" or "a" <= ch.lower() <= "z" for ch in text)
        return
    assert set(ids) <= set(FORMS.values())
    assert ids or notes
    if all(ch < "\x7f" or "а" <= ch.lower() <= "ё" for ch in text):
        assert encode(unicodedata.normalize("NFD", text)) == (ids, notes)


@given(st.lists(st.sampled_from(sorted(FORMS)), min_size=1, max_size=32))
def test_known_forms_keep_their_order(encode, words):
    assert encode(", ".join(words).upper())[0] == [FORMS[word] for word in words]
