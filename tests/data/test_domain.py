"""A domain of one's own: its file, its captions, and every fault in one sentence."""

import pickle
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, UNKNOWN, labels_array, sample_attributes
from ttikit.data.captions import token_batch
from ttikit.data.domain import FACE_DOMAIN, MAX_TOKENS
from ttikit.data.domain_file import domain_of, parse_domain, read_domain
from ttikit.errors import TtiError

SHAPES = """
name = "shapes"
licence = "MIT"
attributes = ["Circle", "Square", "Red", "Blue", "Big", "Framed"]
prompts = ["red circle", "a big blue square with a frame", "tiny square"]
noun = ["shape", "thing"]
and = "and"

[meanings]
shape = "shape thing"
circle = "circle disc round"
square = "square box"
red = "red"
blue = "blue"
big = "big large"
small = "small tiny"
with = "with"
frame = "frame border"
and = "and"
dark = "dark"

[phrases]
a = []
"navy blue" = ["dark", "blue"]

[[say]]
when = "Circle"
as = "noun"
words = ["circle", "disc"]

[[say]]
when = "Square"
as = "noun"
words = ["square"]

[[say]]
when = "Red"
as = "before"
words = ["red"]
often = 1

[[say]]
when = ["Blue", "!Red"]
as = "before"
words = ["blue", "navy blue"]
topic = "colour"

[[say]]
when = "Big"
as = "before"
words = ["big"]
topic = "size"

[[say]]
when = "!Big"
as = "before"
words = ["small"]
topic = "size"

[[say]]
when = "Framed"
as = "after"
words = ["with a frame"]

[[say]]
when = "Framed"
as = "after"
words = ["with a border"]
"""
SHAPE = parse_domain(SHAPES, "shapes.toml")
N = len(SHAPE.attributes)


def texts(labels: list[int], count: int = 300) -> set[str]:
    rng = np.random.default_rng(0)
    return {SHAPE.caption(np.array(labels, np.uint8), rng) for _ in range(count)}


def test_captions_name_what_is_known() -> None:
    red = texts([1, 0, 1, 0, UNKNOWN, 0])
    assert red == {"circle", "disc", "red circle", "red disc"}
    everything = " ".join(texts([0, 1, 0, 1, 1, 1]))
    for words in ("big navy blue square", "blue big square", "with a frame and with a border"):
        assert words in everything
    assert texts([UNKNOWN] * N) == {"shape", "thing"}
    assert texts([0, 0, 0, 0, 0, UNKNOWN]) == {"shape", "thing", "small shape", "small thing"}


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from((0, 1, UNKNOWN)), min_size=N, max_size=N), st.integers(0, 2**32 - 1)
)
def test_captions_are_the_same_tokens_in_training_and_on_a_board(tti, labels, seed) -> None:
    row = np.array(labels, np.uint8)
    text = SHAPE.caption(row, np.random.default_rng(seed))
    batch = SHAPE.token_batch(row[None], np.random.default_rng(seed))[0]
    ids = bytearray(32)
    tokenizer = sys.modules["tti.tokenizer"].Tokenizer(SHAPE.vocabulary.forms)
    n, notes = tokenizer.encode(text, ids)
    assert notes == [] and 1 <= n <= MAX_TOKENS
    assert list(ids) == batch.tolist()
    assert ("red" in text) <= (labels[2] == 1) and ("square" in text) <= (labels[1] == 1)


@pytest.fixture(scope="module")
def tti():
    from ttikit import simulator

    simulator.install()
    import importlib

    return importlib.import_module("tti.tokenizer")


def test_long_captions_stay_within_the_limit() -> None:
    entry = (
        '\n[[say]]\nwhen = "Big"\nas = "after"\nwords = ["with a big big big frame"]\noften = 1\n'
    )
    domain = parse_domain(SHAPES + entry * 20, "x")
    rows = np.ones((200, N), np.uint8)
    longest = (domain.token_batch(rows, np.random.default_rng(0)) != 0).sum(1).max()
    assert 15 < longest <= MAX_TOKENS
    rng = np.random.default_rng(1)
    assert all(re.search("circle|disc|square", domain.caption(row, rng)) for row in rows)


def test_faces_are_the_domain_without_a_file() -> None:
    assert read_domain(None) is domain_of({}) is domain_of({"source": "celeba"}) is FACE_DOMAIN
    assert FACE_DOMAIN.attributes == ATTRIBUTES
    rows = np.stack([labels_array(sample_attributes(np.random.default_rng(i))) for i in range(9)])
    for length in (32, 24):
        ours = FACE_DOMAIN.token_batch(rows, np.random.default_rng(1), length)
        assert ours.shape == (9, length)
        assert np.array_equal(ours, token_batch(rows, np.random.default_rng(1))[:, :length])


def test_a_domain_travels_as_its_text_and_to_other_processes() -> None:
    again = domain_of({"domain": SHAPE.text})
    assert again.vocabulary.forms == SHAPE.vocabulary.forms and again.prompts == SHAPE.prompts
    batch = pickle.loads(pickle.dumps(SHAPE.token_batch))
    rows = np.ones((5, N), np.uint8)
    expected = SHAPE.token_batch(rows, np.random.default_rng(0))
    assert np.array_equal(batch(rows, np.random.default_rng(0)), expected)


def test_labels_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(N, 6\), not \(2, 3\)"):
        SHAPE.token_batch(np.zeros((2, 3), np.uint8), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "shapes"', 'name = "shapes', "Illegal character|Unterminated|Expected"),
        ('name = "shapes"', "", "'name' is missing"),
        ('name = "shapes"', "name = 3", "'name' must be text"),
        ('noun = ["shape", "thing"]', "", "'noun' is missing"),
        ('noun = ["shape", "thing"]', "noun = []", "'noun' must be a list of texts"),
        ('noun = ["shape", "thing"]', 'noun = "shape"', "'noun' must be a list"),
        ('"Blue", "Big"', '"Red", "Big"', "attribute 'Red' is named twice"),
        ('"Blue", "Big"', '"B-lue", "Big"', "attribute 'B-lue' must be letters"),
        ('"Blue", "Big"', '"file", "Big"', "attribute 'file' must be"),
        ('"tiny square"', '"tiny zebra"', "'prompts' says 'tiny zebra', but.*the word zebra"),
        ('"tiny square"', '"a a"', "'a a' must be 1 to 24 known words"),
        ('"a big blue', '"a big blue' + " blue" * 22, "must be 1 to 24 known words"),
        ('red = "red"', 'red = "red box"', "'box' cannot stand for both 'square' and 'red'"),
        ('red = "red"', 'red = ""', "'meanings.red' must be text"),
        ("a = []", 'a = ["nothing"]', "'a' shall mean 'nothing'"),
        ("a = []", 'a = "red"', "'phrases.a' must be a list"),
        ('when = "Circle"', 'when = "Circel"', "names 'Circel', which is not among"),
        ('when = "Circle"', "", "'when' must be a list"),
        ('as = "noun"', 'as = "verb"', "one of before, noun, after, not 'verb'"),
        ("often = 1", "often = 2", "'often' must be a number from 0 to 1"),
        ("often = 1", "rarely = 1", "'rarely' is no entry of a"),
        ('words = ["red"]', 'words = ["pink"]', "the word pink"),
        ('words = ["red"]', 'words = ["a red red red red red red red"]', "1 to 6 known words"),
        ('licence = "MIT"', 'license = "MIT"', "'license' is no entry that a domain has"),
        ("[[say]]", "[say]", "'say' must be a list|Cannot|overwrite"),
    ],
)
def test_faults_are_one_sentence(old: str, new: str, message: str, tmp_path) -> None:
    assert old in SHAPES
    path = tmp_path / "my.toml"
    path.write_text(SHAPES.replace(old, new, 1))
    with pytest.raises(TtiError, match=message) as caught:
        read_domain(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_one_sentence(tmp_path) -> None:
    with pytest.raises(TtiError, match=r"no\.toml cannot be read"):
        read_domain(tmp_path / "no.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(TtiError, match="is not UTF-8"):
        read_domain(tmp_path / "x.toml")
    entries = "\n".join(f'w{i:03} = "{chr(97 + i // 26)}{chr(97 + i % 26)}x"' for i in range(255))
    text = SHAPES.replace("[meanings]", "[meanings]\n" + entries)
    with pytest.raises(TtiError, match="1 to 254 entries, not 266"):
        parse_domain(text, "x")
