"""The board's tokenizer reads captions as training does."""

import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, labels_array, sample_attributes
from ttikit.data.captions import caption, token_batch
from ttikit.data.vocabulary import FORMS, tokenize


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_caption_is_the_same_tokens_in_training_and_on_a_board(tti, seed):
    labels = labels_array(sample_attributes(np.random.default_rng(seed)))
    named = dict(zip(ATTRIBUTES, map(int, labels), strict=True))
    text = caption(named, np.random.default_rng(seed))
    trained = token_batch(labels[None], np.random.default_rng(seed))[0]
    ids = bytearray(32)
    _, notes = sys.modules["tti.tokenizer"].Tokenizer(FORMS).encode(text, ids)
    assert notes == []
    assert list(ids) == trained.tolist()
    assert any(ids)


LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюя" + "acdefghijklmnopqrstuvwxyz"
words = st.sampled_from(sorted({word for form in FORMS for word in form.split()}))


@settings(max_examples=300, deadline=None)
@given(st.lists(words | st.text(LETTERS, min_size=1, max_size=9), min_size=1, max_size=12))
def test_any_words_are_the_same_tokens_in_training_and_on_a_board(tti, texts):
    module = sys.modules["tti.tokenizer"]
    text = " ".join(word for word in texts if module._as_cyrillic(word) is None) or "face"
    trained, unknown = tokenize(text.upper())
    ids = bytearray(32)
    n, notes = module.Tokenizer(FORMS).encode(text.upper(), ids)
    assert list(ids[:n]) == trained[:32]
    assert any("not in the vocabulary" in note for note in notes) == bool(unknown)
