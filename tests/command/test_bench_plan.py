"""The memory plan that `make bench` prints."""

from ttikit.bench.memory import arena_plan


def test_the_plan_is_the_boards(repo):
    plan = arena_plan(repo / "models" / "faces.tti")
    assert plan.parts == [167_680]
    assert 100_000 < plan.text_and_dit < 167_680
