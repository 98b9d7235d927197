"""The figures of an evaluation on arrays that are small enough to count by hand."""

import numpy as np
import pytest
from ttikit.data.attributes import ATTRIBUTES, INDEX
from ttikit.evaluate import measures
from ttikit.evaluate.expectations import Demand, Expectation
from ttikit.evaluate.measures import Share
from ttikit.evaluate.report import Obedience

MAN, WOMAN = Demand(("Male",)), Demand(("Male",), False)
BALD, GLASSES = Demand(("Bald",)), Demand(("Eyeglasses",))
BEARD = Demand(("Full_Beard", "Goatee"))
PROMPTS = [
    Expectation("лысый мужчина", (MAN, BALD)),
    Expectation("женщина в очках", (WOMAN, GLASSES)),
    Expectation("лысый мужчина в очках с бородой", (MAN, BALD, GLASSES, BEARD), rare=True),
]


def people(*rows):
    """Seen attributes (N, A) of people given by names."""
    seen = np.zeros((len(rows), len(ATTRIBUTES)), bool)
    for row, names in zip(seen, rows, strict=True):
        row[[INDEX[name] for name in names.split()]] = True
    return seen


SEEN = people(
    "Male Bald", "Male",  # two seeds of each prompt
    "", "Male Eyeglasses",
    "Male Bald Eyeglasses Goatee", "Male Full_Beard",
)  # fmt: skip


def test_presence_counts_common_and_rare_prompts_apart():
    found = measures.presence(PROMPTS, SEEN)
    assert found.common == {
        MAN: Share(2, 2),
        BALD: Share(1, 2),
        WOMAN: Share(1, 2),
        GLASSES: Share(1, 2),
    }
    assert found.rare == {
        MAN: Share(2, 2),
        BALD: Share(1, 2),
        GLASSES: Share(1, 2),
        BEARD: Share(2, 2),
    }
    assert found.of(MAN) == Share(4, 4)
    assert found.overall() == Share(11, 16)
    assert found.overall([BALD, WOMAN]) == Share(3, 6)
    assert found.demands() == [MAN, BALD, WOMAN, GLASSES, BEARD]


def test_a_share_of_nothing_is_no_number():
    assert np.isnan(Share().value)
    assert Share(1, 4).value == 0.25


def test_pictures_fail_by_gender_age_glasses_and_clear_attributes_only():
    margins = np.full(SEEN.shape, 0.1, np.float32)
    margins[3, INDEX["Male"]] = 0.8
    found = measures.failures(PROMPTS, SEEN, {"Bald"}, margins)
    assert [(one.index, one.prompt, one.seed, one.missing) for one in found] == [
        (3, "женщина в очках", 1, (WOMAN,)),
        (5, "лысый мужчина в очках с бородой", 1, (BALD, GLASSES)),
        (1, "лысый мужчина", 1, (BALD,)),
        (2, "женщина в очках", 0, (GLASSES,)),
    ]
    assert found[0].severity == pytest.approx(0.8)
    unclear = measures.failures(PROMPTS, SEEN, set(), margins)
    assert [one.index for one in unclear] == [3, 2, 5]


def test_numbers_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="5 pictures do not divide by 3 prompts"):
        measures.presence(PROMPTS, SEEN[:5])


def test_gender_and_glasses_have_the_higher_limit():
    assert measures.limit_of(WOMAN) == measures.limit_of(GLASSES) == 0.95
    assert measures.limit_of(BALD) == measures.limit_of(Demand(("Young",))) == 0.90


def test_distances_inside_groups():
    points = np.array([[0, 0], [3, 4], [0, 1], [10, 0], [10, 2], [10, 5]], np.float32)
    found = measures.pair_distances(points, 2)
    assert found == pytest.approx([5, 1, np.hypot(3, 3), 2, 5, 3])
    assert len(measures.pair_distances(points[:2], 2)) == 0


def test_strangers_are_never_the_same_picture():
    points = np.arange(5, dtype=np.float32)[:, None]
    found = measures.stranger_distances(points, pairs=2000)
    assert found.min() == 1 and found.max() == 4
    assert found.mean() == pytest.approx(2, abs=0.1)  # mean |i − j| of i ≠ j below 5


def test_failures_but_for_age():
    old = Demand(("Young",), False)
    failures = [(old,), (old, BALD), (GLASSES,)]
    made = tuple(measures.Failure(i, "x", i, missing, 1.0) for i, missing in enumerate(failures))
    found = Obedience(measures.Presence(), Share(3, 10), made)
    assert found.failed_but_for_age == Share(2, 10)
