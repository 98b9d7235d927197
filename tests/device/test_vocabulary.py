"""The board's tokenizer reads captions as training does."""

import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, labels_array, sample_attributes
from ttikit.data.captions import caption, token_batch
from ttikit.data.vocabulary import FORMS


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
