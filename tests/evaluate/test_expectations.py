"""The prompts of the evaluation: what they demand is possible, sayable and read correctly."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.data.attributes import ATTRIBUTES, INDEX, sample_attributes
from ttikit.data.vocabulary import tokenize
from ttikit.errors import TtiError
from ttikit.evaluate.expectations import Demand, Expectation, parse, read_expectations, written

RARE = 0.01
PEOPLE = 3000


@pytest.fixture(scope="module")
def shipped():
    return read_expectations()


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    return [sample_attributes(rng) for _ in range(PEOPLE)]


def test_there_are_48_prompts(shipped):
    assert len(shipped) == 48
    assert 8 <= sum(one.rare for one in shipped) <= 16


def test_every_word_is_known(shipped):
    for one in shipped:
        ids, unknown = tokenize(one.prompt)
        assert ids and not unknown, one.prompt


def test_rare_prompts_are_rare_and_all_are_possible(shipped, people):
    for one in shipped:
        share = sum(map(one.met_by, people)) / PEOPLE
        if one.rare:
            assert share < RARE, one.prompt
        else:
            assert share >= RARE, one.prompt


def test_a_demand_is_met_by_any_of_its_names():
    seen = np.zeros((4, len(ATTRIBUTES)), bool)
    seen[1, INDEX["Goatee"]] = seen[2, INDEX["Full_Beard"]] = True
    assert Demand(("Goatee", "Full_Beard")).met(seen).tolist() == [False, True, True, False]
    assert Demand(("Goatee",), False).met(seen).tolist() == [True, False, True, True]
    person = dict.fromkeys(ATTRIBUTES, 0) | {"Goatee": 1}
    assert Demand(("Goatee", "Full_Beard")).met_by(person)
    assert not Demand(("Goatee",), False).met_by(person)


def test_only_gender_age_and_clear_attributes_are_judged():
    one = Expectation("x", (Demand(("Male",)), Demand(("Freckles",)), Demand(("Bald", "Sad"))))
    assert one.judged(["Bald"]) == (Demand(("Male",)),)
    assert one.judged(["Bald", "Sad"]) == (Demand(("Male",)), Demand(("Bald", "Sad")))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("мужчина", "write `prompt: Attribute=1, Other=0`"),
        (": Male=1", "write `prompt"),
        ("мужчина: Male", "'Male' is no demand"),
        ("мужчина: Male=2", "'Male=2' is no demand"),
        ("мужчина: Mail=1", "'Mail' is no attribute"),
        ("мужчина: Male=1, Male=0", "demanded twice"),
        ("мужчина: Goatee/Goatee=1", "demanded twice"),
        ("дед: Male=1\nдед: Young=0", "line 3: the prompt 'дед' stands there twice"),
        ("[rarest]", "'[rarest]' is no section"),
        ("[rare", "'[rare' is no section"),
    ],
)
def test_mistakes_name_the_line(line, says):
    with pytest.raises(TtiError) as caught:
        parse(f"# a comment\n{line}\n")
    assert says in str(caught.value)
    assert str(caught.value).startswith("line ")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TtiError, match=r"nothing.txt cannot be read"):
        read_expectations(tmp_path / "nothing.txt")
    (tmp_path / "bad.txt").write_text("x\n", "utf-8")
    with pytest.raises(TtiError, match=r"bad.txt, line 1: write"):
        read_expectations(tmp_path / "bad.txt")


letters = st.text("абвгдеёя -" + string.ascii_letters, min_size=1).map(str.strip).filter(bool)


@st.composite
def expectations(draw):
    names = draw(st.lists(st.sampled_from(ATTRIBUTES), min_size=1, max_size=6, unique=True))
    demands = []
    while names:
        size = draw(st.integers(1, len(names)))
        demands.append(Demand(tuple(names[:size]), draw(st.booleans())))
        names = names[size:]
    return Expectation(draw(letters), tuple(demands), draw(st.booleans()))


@given(st.lists(expectations(), unique_by=lambda one: one.prompt, max_size=6))
def test_what_is_written_is_read_back(many):
    assert sorted(parse(written(many)), key=repr) == sorted(many, key=repr)


@given(st.text())
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        parse(text)
    except TtiError as error:
        assert str(error).startswith("line ")
