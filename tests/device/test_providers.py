"""Where the weights lie makes no difference: memory, a file in pieces, a user's own class."""

import io
import itertools
import json
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.board import build_romfs, read_romfs

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "pictures.json").read_text("utf-8"))
ROW = next(row for row in ROWS if row["steps"] == 1)

PICTURES = """
import hashlib, json, sys, tti
from tti.weights import FileWeights, Provider

class Mine(Provider):
    "Keeps only the head in memory and copies each piece; what a user might write."
    def __init__(self, path):
        self.file = file = open(path, "rb")
        donor = FileWeights(file)
        super().__init__(donor.head, json.dumps(donor.metadata).encode(), donor.fingerprint)
    def read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

path, prompt, seed, steps, guidance = sys.argv[1:]
def sha(*args):
    pipeline = tti.load(*args)
    out = bytearray(tti.PICTURE_BYTES)
    pipeline.generate_into(out, prompt, int(seed), int(steps), float(guidance))
    print(hashlib.sha256(out).digest().hex())
sha(path)
sha(path, 81920)
sha(path, 200_000)
sha(Mine(path))
"""

SMALL_HEAP = """
import gc, hashlib, sys, tti
path, prompt, seed, steps, guidance = sys.argv[1:]
pipeline = tti.load(path)
print(pipeline.weights.where)
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, prompt, int(seed), int(steps), float(guidance))
print(hashlib.sha256(out).digest().hex())
pipeline.weights.verify()
gc.collect()
print(gc.mem_alloc() + gc.mem_free())
"""


OWN = (
    PICTURES.split("path, prompt")[0]
    + """
mine = Mine(sys.argv[1])
tti.memory()
tti.load(mine)
tti.memory()
print(tti.selftest())
read = mine.read
def damaged(offset, size):
    data = bytearray(read(offset, size))
    if offset <= 3000000 < offset + size:
        data[3000000 - offset] ^= 1
    return data
mine.read = damaged
print(tti.selftest())
"""
)


def arguments(model):
    return [str(model), *(str(ROW[key]) for key in ("prompt", "seed", "steps", "guidance"))]


@pytest.fixture(scope="module")
def weights(tti):
    return sys.modules["tti.weights"]


def test_every_provider_gives_the_golden_picture(run_mpy, shipped):
    done = run_mpy(PICTURES, *arguments(shipped))
    assert done.rc == 0, done.stderr + done.stdout
    assert done.stdout.split() == [ROW["sha256"]] * 4


def test_a_users_own_class_is_described_and_verified(run_mpy, shipped):
    done = run_mpy(OWN, str(shipped))
    assert done.rc == 0, done.stderr + done.stdout
    assert "model    loaded, from a provider of your own\n" in done.stdout
    assert "\nmodel file ... whole\n" in done.stdout and "\nTrue\n" in done.stdout
    assert done.stdout.endswith("model file ... the model file is damaged; copy it again\nFalse\n")


def test_a_model_several_times_larger_than_the_memory(run_mpy, shipped):
    done = run_mpy(SMALL_HEAP, *arguments(shipped), options=("-X", "heapsize=640k"))
    assert done.rc == 0, done.stderr + done.stdout
    where, sha, heap = done.stdout.splitlines()
    assert where == "read from the file piece by piece"
    assert sha == ROW["sha256"]
    assert shipped.stat().st_size > 5 * int(heap)


@pytest.mark.parametrize("cache", [81_920, 98_304])
def test_the_simulator_reads_piece_by_piece_as_well(tti, weights, model, cache):
    expected, got = bytearray(12288), bytearray(12288)
    tti.Pipeline(weights.load(str(model))).generate_into(expected, "девушка", 1, 1)
    tti.Pipeline(weights.load(str(model), cache)).generate_into(got, "девушка", 1, 1)
    assert got == expected


@pytest.fixture(scope="module")
def reader(weights, model):
    """Called with a cache, a provider over the random model, and the bytes of the model."""
    data = model.read_bytes()
    return lambda cache: (weights.FileWeights(io.BytesIO(data), cache), data)


@given(st.data())
def test_pieces_stay_until_an_op_has_all_of_its_own(weights, reader, data):
    cache = data.draw(st.integers(81_920, 130_000))
    provider, content = reader(cache)
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    starts = [rng.randrange(0, len(content) - weights.KEPT) // 16 * 16 for _ in range(12)]
    for _ in range(40):
        kept, total = [], 0
        for _ in range(rng.randrange(1, 6)):  # the buffers of one op
            size = rng.choice([4, 256, 384, 768, 4608, 18_432, 36_864])
            if total + max(size, 1024) > weights.KEPT:
                continue
            total += max(size, 1024)
            at = rng.choice(starts)
            kept.append((at, size, provider.read(at, size)))
        for at, size, piece in kept:
            assert bytes(piece) == content[at : at + size]


def test_pieces_begin_at_aligned_places_of_the_cache(weights, reader):
    provider, content = reader(81_920)
    for at in range(0, len(content) - 2000, 49_936):
        provider.read(at // 16 * 16, 1999)
    assert len(provider._pieces) > 10
    assert all(place % 16 == 0 for _, _, place in provider._pieces)
    spans = sorted((place, place + n) for _, n, place in provider._pieces)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_what_was_just_read_is_not_read_again(weights, reader, monkeypatch):
    provider, _ = reader(98_304)
    filled = []
    fill = provider._fill
    monkeypatch.setattr(provider, "_fill", lambda buf, at: (filled.append(at), fill(buf, at)))
    for _ in range(3):
        provider.tensor("gelu.table")
        provider.piece("dit.pos", 1, 12_288)
    assert len(filled) == 2


def test_a_cache_that_is_too_small_or_a_tensor_that_is_too_large(weights, reader):
    for cache in (50_000, -1, 1e6, "98304"):
        with pytest.raises(ValueError, match=f"at least 81920 bytes, not {cache!r}"):
            reader(cache)
    provider, _ = reader(98_304)
    with pytest.raises(ValueError, match="a tensor of 294912 bytes does not fit the 40960"):
        provider.tensor("dit.adaln.weight")


@pytest.mark.parametrize("keep", [0, 10, 64, 2000, 20_000, 1_000_000, -1])
def test_a_file_that_is_cut_is_refused_at_once(weights, model, tmp_path, keep):
    path = tmp_path / "cut.tti"
    path.write_bytes(model.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"cut\.tti: .*copy (it|the file) again"):
        weights.load(str(path), 98_304)


def test_a_file_that_ends_while_it_is_read(weights, model, tti):
    content = model.read_bytes()
    file = io.BytesIO(content)
    provider = weights.FileWeights(file)
    pipe = tti.Pipeline(provider)
    file.truncate(2_000_000)  # the card was pulled out
    with pytest.raises(ValueError, match="the model file ended early; copy it again"):
        pipe.generate_into(bytearray(12288), "девушка", 1, 1)
    file.seek(0)
    file.write(content)
    pipe.generate_into(bytearray(12288), "девушка", 1, 1)


@pytest.mark.parametrize("at", [70, 14_000, 20_000, 1_000_000, -1])
def test_damage_is_found_by_the_head_or_by_verify(weights, model, tmp_path, at):
    data = bytearray(model.read_bytes())
    data[at] ^= 4
    path = tmp_path / "flipped.tti"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="again"):
        weights.load(str(path), 98_304).verify()
    path.write_bytes(model.read_bytes())
    weights.load(str(path), 98_304).verify()


def test_loading_anew_keeps_the_model_and_changes_the_cache(tti, model):
    first = tti.load(str(model))
    assert tti.load() is first
    second = tti.load(cache=98_304)
    assert second is not first
    assert second.weights.fingerprint == first.weights.fingerprint
    assert "piece by piece" in second.weights.where
    assert tti.load(str(model)).weights.where == "in memory"
    assert tti.load(second.weights).weights is second.weights


IN_ROM = """
import hashlib, sys, tti, vfs
image, prompt, seed, steps, guidance = sys.argv[1:]
with open(image, "rb") as file:
    data = file.read()  # in memory at a multiple of 32
vfs.mount(vfs.VfsRom(memoryview(data)), "/rom")
pipeline = tti.load("/rom/faces.tti")
print(pipeline.weights.where)
out = bytearray(tti.PICTURE_BYTES)
pipeline.generate_into(out, prompt, int(seed), int(steps), float(guidance))
print(hashlib.sha256(out).digest().hex())
"""


@pytest.mark.parametrize("align", [16, 1])
def test_a_model_at_an_odd_place_of_the_flash_is_read_piece_by_piece(
    run_mpy, shipped, tmp_path, align
):
    model = shipped.read_bytes()
    for filler in range(1, 4):
        image = build_romfs({"f" * filler: b"", "faces.tti": model}, align)
        at = read_romfs(image)["faces.tti"].offset % 16
        if (at == 0) == (align == 16):
            break
    (tmp_path / "rom.img").write_bytes(image)
    done = run_mpy(IN_ROM, str(tmp_path / "rom.img"), *arguments(shipped)[1:])
    assert done.rc == 0, done.stderr + done.stdout
    where, sha = done.stdout.splitlines()
    assert where == ("in place" if at == 0 else "read from the file piece by piece")
    assert (at == 0) == (align == 16) and sha == ROW["sha256"]
