"""ROMFS images: aligned, read back by us and by MicroPython, never misread when damaged."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpremote.romfs import make_romfs
from ttikit.board import RomfsError, build_romfs, read_romfs

NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
).filter(lambda name: name not in (".", ".."))
TREES = st.recursive(
    st.binary(max_size=300), lambda below: st.dictionaries(NAMES, below, max_size=4), max_leaves=12
).filter(lambda tree: isinstance(tree, dict))
ALIGNMENTS = st.sampled_from([1, 2, 4, 8, 16, 32, 64, 256, 4096])


def flat(tree, folder=""):
    """Return the files of a tree by path."""
    files = {}
    for name, node in tree.items():
        if isinstance(node, dict):
            files |= flat(node, f"{folder}{name}/")
        else:
            files[folder + name] = node
    return files


@given(TREES, ALIGNMENTS)
def test_round_trip_is_aligned(tree, align):
    files = flat(tree)
    image = build_romfs(files, align)
    read = read_romfs(image)
    assert {path: file.data for path, file in read.items()} == files
    assert [file.offset % align for file in read.values()] == [0] * len(files)
    assert len(image) % 2 == 0


@given(TREES, st.binary(max_size=50))
def test_what_follows_the_image_is_ignored(tree, more):
    image = build_romfs(flat(tree))
    assert read_romfs(image + more) == read_romfs(image)


@given(TREES, st.data())
def test_a_cut_image_is_refused(tree, data):
    image = build_romfs(flat(tree))
    cut = data.draw(st.integers(0, len(image) - 1))
    with pytest.raises(RomfsError):
        read_romfs(image[:cut])


@given(TREES, st.data())
def test_a_damaged_image_is_refused_or_read(tree, data):
    image = bytearray(build_romfs(flat(tree)))
    for _ in range(data.draw(st.integers(1, 3))):
        image[data.draw(st.integers(0, len(image) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = read_romfs(bytes(image))
    except RomfsError:
        return
    assert all(file.offset + len(file.data) <= len(image) for file in read.values())


@pytest.mark.parametrize(
    "files",
    [
        {"": b""},
        {"/a": b""},
        {"a/": b""},
        {"a//b": b""},
        {"../a": b""},
        {"a/./b": b""},
        {"\0": b""},
        {"\udcff": b""},
    ],
)
def test_paths_that_are_no_good(files):
    with pytest.raises(RomfsError, match="cannot hold the path"):
        build_romfs(files)


@pytest.mark.parametrize("order", [["a", "a/b"], ["a/b", "a"]])
def test_a_file_is_no_folder(order):
    with pytest.raises(RomfsError, match="a file and a folder at once"):
        build_romfs(dict.fromkeys(order, b""))


def test_alignment_must_be_a_power_of_two():
    with pytest.raises(RomfsError, match="power of two, not 24"):
        build_romfs({}, 24)


def test_images_of_mpremote_are_read(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.bin").write_bytes(b"\x00\xff" * 700)
    (tmp_path / "empty.txt").write_bytes(b"")
    read = read_romfs(make_romfs(str(tmp_path), mpy_cross=False))
    assert {path: file.data for path, file in read.items()} == {
        "lib/a.bin": b"\x00\xff" * 700,
        "empty.txt": b"",
    }


def test_data_that_lie_elsewhere_are_found():
    """Kind 3: a file's data by size and offset from the first record."""
    record = b"\x05\x06" + b"\x01f" + b"\x03\x02" + b"\x03\x0a"
    image = b"\xd2\xcd\x31\x0e" + record + b"\x01\x04" + b"abcd"
    assert read_romfs(image)["f"].data == b"abc"


READ_ALL = """
import hashlib, json, os, sys, uctypes, vfs
for image in sys.argv[2:]:
    data = bytearray(open(image, "rb").read())
    base = uctypes.addressof(data)
    vfs.mount(vfs.VfsRom(data), "/rom")
    found = {}
    def walk(folder):
        for entry in os.ilistdir(folder):
            path = folder + "/" + entry[0]
            if entry[1] & 0x4000:
                walk(path)
            else:
                with open(path, "rb") as file:
                    view = memoryview(file)
                    at = uctypes.addressof(view) - base if len(view) else 0
                    found[path[5:]] = [hashlib.sha256(view).digest().hex(), at % int(sys.argv[1])]
    walk("/rom")
    vfs.umount("/rom")
    print(json.dumps(found))
"""


@settings(max_examples=20, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=20), st.sampled_from([16, 4096]))
def test_micropython_reads_the_same(run_mpy, tmp_path_factory, trees, align):
    folder: Path = tmp_path_factory.mktemp("images")
    images = []
    for number, tree in enumerate(trees):
        images.append(folder / str(number))
        images[-1].write_bytes(build_romfs(flat(tree), align))
    done = run_mpy(READ_ALL, str(align), *map(str, images))
    assert done.rc == 0, done.stderr + done.stdout
    for tree, line in zip(trees, done.stdout.split("\n")[:-1], strict=True):
        expected = {
            path: [hashlib.sha256(data).hexdigest(), 0] for path, data in flat(tree).items()
        }
        assert json.loads(line) == expected


def test_an_erased_flash_is_told_from_an_image_at_once():
    with pytest.raises(RomfsError, match="ends inside a number at byte 0"):
        read_romfs(b"\xff" * 12_000_000)


def test_folders_in_folders_have_a_limit():
    deep = "/".join(["a"] * 100)
    assert list(read_romfs(build_romfs({deep: b"x"}))) == [deep]
    with pytest.raises(RomfsError, match="more than 100 folders"):
        build_romfs({"/".join(["a"] * 5000): b"x"})
    body = b""
    for _ in range(3000):
        body = b"\x04" + _sized(b"\x01a" + body)
    with pytest.raises(RomfsError, match="more than 100 folders"):
        read_romfs(b"\xd2\xcd\x31" + _sized(body))


def _sized(payload):
    """A payload after its length, a varuint."""
    digits = [len(payload) & 0x7F]
    while rest := len(payload) >> 7 * len(digits):
        digits.append(0x80 | rest & 0x7F)
    return bytes(reversed(digits)) + payload
