"""The cache of pictures: nothing is lost or wrong, whatever happens to its files."""

import pytest
from ttikit.errors import TtiError
from ttikit.evaluate.cache import RECORD, PictureCache
from ttikit.evaluate.firmware import PICTURE_BYTES, Job


def job(seed, prompt="девушка", steps=8, guidance=300):
    return Job(prompt, seed, steps, guidance)


def data(seed):
    return bytes([seed]) * PICTURE_BYTES


@pytest.fixture
def filled(tmp_path):
    """A folder with pictures 0 to 4 and the path of their file."""
    with PictureCache(tmp_path / "cache") as cache:
        for seed in range(5):
            cache.put(job(seed), data(seed))
    (path,) = (tmp_path / "cache").glob("*.pictures")
    return tmp_path / "cache", path


def kept(folder):
    with PictureCache(folder) as cache:
        found = {seed: cache.get(job(seed)) for seed in range(5) if job(seed) in cache}
    assert all(picture == data(seed) for seed, picture in found.items())
    return sorted(found)


def test_pictures_come_back(filled):
    assert kept(filled[0]) == [0, 1, 2, 3, 4]


def test_prompt_seed_steps_and_guidance_count(filled):
    with PictureCache(filled[0]) as cache:
        for other in (job(9), job(0, "дед"), job(0, steps=4), job(0, guidance=100)):
            assert other not in cache
            assert cache.get(other) is None


@pytest.mark.parametrize("cut", [1, 15, 16, 17, RECORD // 2, RECORD - 1, RECORD])
def test_a_torn_end_loses_one_picture(filled, cut):
    folder, path = filled
    path.write_bytes(path.read_bytes()[:-cut])
    assert kept(folder) == [0, 1, 2, 3]
    with PictureCache(folder) as cache:
        cache.put(job(4), data(4))
    assert kept(folder) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("at", [0, 20, RECORD - 1])
def test_a_flipped_bit_loses_one_picture(filled, at):
    folder, path = filled
    content = bytearray(path.read_bytes())
    content[2 * RECORD + at] ^= 4
    path.write_bytes(content)
    assert kept(folder) == [0, 1, 3, 4]


@pytest.mark.parametrize("garbage", [b"", b"x", bytes(3 * RECORD), b"\xff" * 100])
def test_a_file_of_garbage_counts_as_empty(filled, garbage):
    folder, path = filled
    path.write_bytes(garbage)
    assert kept(folder) == []
    with PictureCache(folder) as cache:
        cache.put(job(3), data(3))
    assert kept(folder) == [3]


def test_a_picture_that_rots_while_the_program_runs_is_not_given(filled):
    folder, path = filled
    with PictureCache(folder) as cache:
        assert cache.get(job(1)) == data(1)
        content = bytearray(path.read_bytes())
        content[RECORD + 50] ^= 1
        path.write_bytes(content)
        assert cache.get(job(1)) is None
        assert cache.get(job(2)) == data(2)


def test_forget_drops_a_setting_only(filled):
    folder, _ = filled
    with PictureCache(folder) as cache:
        cache.put(job(1, steps=4), data(1))
        cache.forget(job(0))
        assert job(3) not in cache
        assert cache.get(job(1, steps=4)) == data(1)
    assert kept(folder) == []


def test_two_programs_do_not_share_it(filled):
    with (
        PictureCache(filled[0]),
        pytest.raises(TtiError, match=r"another evaluation is using .*--cache"),
    ):
        PictureCache(filled[0])
    PictureCache(filled[0]).close()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TtiError, match="choose another folder with --cache"):
        PictureCache(tmp_path / "file" / "cache")
