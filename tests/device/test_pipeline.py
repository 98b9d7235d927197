"""The pipeline on the simulator: arguments, memory, repeatability, interruption."""

import itertools
import sys
import threading

import pytest


@pytest.fixture(scope="module")
def pipe(tti, model):
    return tti.Pipeline(sys.modules["tti.weights"].load(str(model)))


def draw(pipe, *args, **kwargs):
    out = bytearray(12288)
    pipe.generate_into(out, *args, **kwargs)
    return bytes(out)


def test_prompt_seed_steps_and_guidance_change_the_picture(pipe):
    base = draw(pipe, "пожилой мужчина", 1, 2, 3)
    assert draw(pipe, "пожилой мужчина", 1, 2, 3) == base
    others = [
        draw(pipe, "девушка", 1, 2, 3),
        draw(pipe, "пожилой мужчина", 2, 2, 3),
        draw(pipe, "пожилой мужчина", 1, 1, 3),
        draw(pipe, "пожилой мужчина", 1, 2, 1),
        draw(pipe, "пожилой мужчина", 1, 2, 3.01),
    ]
    assert len({base, *others}) == 6


def test_words_that_are_not_known_change_nothing(pipe):
    assert draw(pipe, "кот девушка", 1, 1) == draw(pipe, "девушка рыба", 1, 1)


@pytest.mark.parametrize("stripe", [1, 7, 32, 64])
def test_any_stripe_gives_the_same_picture(tti, pipe, stripe):
    other = tti.Pipeline(pipe.weights, stripe=stripe, limits=(400_000,))
    assert draw(other, "девушка", 5, 1) == draw(pipe, "девушка", 5, 1)


@pytest.mark.parametrize("rows", [1, 7, 32])
def test_any_slice_of_the_scores_gives_the_same_picture(tti, pipe, monkeypatch, rows):
    expected = draw(pipe, "девушка", 5, 1)
    monkeypatch.setattr(sys.modules["tti.transformer"], "SCORE_ROWS", rows)
    assert draw(tti.Pipeline(pipe.weights), "девушка", 5, 1) == expected


def test_the_arena_fits_the_free_memory_of_a_board(pipe):
    parts = [len(part) for part in pipe.arena.parts]
    assert len(parts) <= 4
    assert max(parts) <= 224 * 1024
    assert sum(parts) <= 164 * 1024


def test_buffers_of_one_graph_do_not_overlap_and_are_aligned(pipe):
    placed = pipe.arena.placed
    for graph in ("text", "dit", "decoder"):
        spans = sorted((p, o, o + n) for _, p, o, n in placed[graph] + placed["shared"])
        for (part, _, end), (next_part, start, _) in itertools.pairwise(spans):
            assert part != next_part or end <= start
        assert all(start % 16 == 0 for _, start, _ in spans)


def test_an_arena_that_is_too_small_names_the_buffer(tti, pipe):
    with pytest.raises(MemoryError, match=r"no room for dit\.x \(49152 bytes\) in the arena"):
        tti.Pipeline(pipe.weights, limits=(40_000, 40_000, 40_000))


@pytest.mark.parametrize("steps", [0, -1, 101, 1000, "8", 8.0, None, True])
def test_steps_out_of_range(pipe, steps):
    with pytest.raises(ValueError, match="steps must be a whole number from 1 to 100, not"):
        pipe.stages("девушка", bytearray(12288), 1, steps, 3)


@pytest.mark.parametrize("seed", [-1, 2**32, "7", 1.5])
def test_seeds_out_of_range(pipe, seed):
    with pytest.raises(ValueError, match="seed must be a whole number from 0 to 4294967295, not"):
        pipe.stages("девушка", bytearray(12288), seed)


@pytest.mark.parametrize(
    "guidance", [float("nan"), float("inf"), -3, 0, 0.99, 5.01, 20, "3", None, 2.345, 1.001]
)
def test_guidance_out_of_range(pipe, guidance):
    with pytest.raises(ValueError, match="guidance must be a number from 1 to 5 with at most two"):
        pipe.stages("девушка", bytearray(12288), 1, 8, guidance)


@pytest.mark.parametrize(
    ("guidance", "n"), [(1, 100), (1.01, 101), (2.5, 250), (3.33, 333), (4.99, 499), (5, 500)]
)
def test_guidance_in_hundredths(tti, guidance, n):
    assert sys.modules["tti.checks"].hundredths(guidance) == n


def test_a_short_buffer_is_refused(pipe):
    with pytest.raises(ValueError, match="the picture needs 12288 bytes, the buffer has 100"):
        pipe.stages("девушка", bytearray(100))


@pytest.mark.parametrize("out", [bytes(12288), "x" * 12288, None, 12288])
def test_a_buffer_that_cannot_be_written_is_refused_at_once(pipe, out):
    with pytest.raises(TypeError, match=r"needs a buffer that can be written: bytearray\(12288\)"):
        pipe.stages("девушка", out)


def test_the_next_call_works_after_an_interruption(pipe):
    whole = draw(pipe, "девушка", 3, 2)
    names = [name for name, _ in pipe.stages("девушка", bytearray(12288), 3, 2)]
    for stop in range(0, len(names), 3):
        stages = pipe.stages("пожилой мужчина", bytearray(12288), 4, 2)
        for _ in range(stop + 1):
            next(stages)
        with pytest.raises(KeyboardInterrupt):
            stages.throw(KeyboardInterrupt)
    assert draw(pipe, "девушка", 3, 2) == whole


def test_a_new_picture_ends_an_unfinished_one(pipe):
    first = pipe.stages("девушка", bytearray(12288), 3, 2)
    next(first)
    second = draw(pipe, "девушка", 3, 2)
    with pytest.raises(RuntimeError, match="another picture was started"):
        list(first)
    assert draw(pipe, "девушка", 3, 2) == second


def test_the_newest_picture_waits_for_the_stage_of_an_older_one(pipe):
    whole = draw(pipe, "девушка", 3, 2)
    out = bytearray(12288)
    newest = pipe.stages("девушка", out, 3, 2)
    assert pipe._stage.acquire(False)
    threading.Timer(0.1, pipe._stage.release).start()
    names = [name for name, _ in newest]
    assert names[-1] == "decoder.64" and bytes(out) == whole
    assert not pipe._stage.locked()


def test_stages_tell_the_way(pipe):
    names = [name for name, _ in pipe.stages("девушка", bytearray(12288), 3, 2)]
    assert names[0] == "tokens"
    assert names.count("step") == 2
    assert names.count("dit.blocks.5") == 2
    assert names[-1] == "decoder.64"


@pytest.mark.parametrize("guidance", [1, 3, 5])
def test_a_step_is_one_pass_of_one_branch(pipe, guidance):
    stages = pipe.stages("девушка", bytearray(12288), 3, 2, guidance)
    sizes = [len(buffer) for name, buffer in stages if name == "dit.blocks.0"]
    assert sizes == [64 * 192 * 4] * 2
