"""One damaged file for each status, and random ones: both readers must say the same."""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ttikit.model_file import ModelFileError, Status, encode_model, read_model

GOLDEN = Path(__file__).parents[1] / "golden" / "tiny.tti"
BASE = GOLDEN.read_bytes()
DATA = struct.unpack_from("<I", BASE, 36)[0]
PC_ONLY = {Status.METADATA, Status.VALUES, Status.TOO_LARGE, Status.UNREADABLE}

Damage = Callable[[bytearray], None]


def put(offset: int, form: str, *values: int) -> Damage:
    return lambda b: struct.pack_into(form, b, offset, *values)


def field(tensor: int, offset: int, form: str, *values: int) -> Damage:
    """Change a field in the directory entry of a tensor."""
    return put(64 + 64 * tensor + offset, form, *values)


def both(*steps: Damage) -> Damage:
    def run(b: bytearray) -> None:
        for step in steps:
            step(b)

    return run


def flip(offset: int) -> Damage:
    def run(b: bytearray) -> None:
        b[offset] ^= 0x10

    return run


def repair(b: bytearray, *, data: bool = False) -> None:
    """Compute the CRCs anew, from the inside outwards; those of the data only on request."""
    count, directory, directory_bytes, metadata, _, start = struct.unpack_from("<I4xIIIII", b, 12)
    if data:
        for i in range(min(count, (len(b) - 64) // 64)):
            offset, size = struct.unpack_from("<II", b, 64 + 64 * i + 52)
            struct.pack_into("<I", b, 64 + 64 * i + 60, zlib.crc32(b[offset : offset + size]))
        struct.pack_into("<I", b, 56, zlib.crc32(b[start:]))
    struct.pack_into("<I", b, 48, zlib.crc32(b[directory : directory + directory_bytes]))
    struct.pack_into("<I", b, 52, zlib.crc32(b[metadata:start]))
    struct.pack_into("<I", b, 60, zlib.crc32(b[:60]))


def repaired(*steps: Damage) -> Damage:
    return both(*steps, repair)


def cut(end: int) -> Damage:
    return lambda b: b.__delitem__(slice(end, None))


def add(more: bytes) -> Damage:
    return lambda b: b.extend(more)


def set_data(start: int, end: int) -> Damage:
    """State another place of the data section, and cut the file to it."""

    def run(b: bytearray) -> None:
        del b[end:]
        struct.pack_into("<I", b, 16, end)
        struct.pack_into("<II", b, 36, start, end - start)

    return run


def large_metadata(size: int) -> Damage:
    """A file whose metadata has `size` bytes, in order otherwise."""

    def run(b: bytearray) -> None:
        model = read_model(BASE)
        shift = -(-size // 16) * 16 - (DATA - model.header.metadata_offset)
        b[model.header.metadata_offset : DATA] = b'{"k":1}'.ljust(size).ljust(
            -(-size // 16) * 16, b"\0"
        )
        struct.pack_into("<I", b, 32, size)
        set_data(DATA + shift, len(b))(b)
        for i, entry in enumerate(model.entries):
            field(i, 52, "<I", entry.offset + shift)(b)

    return run


def longer_tail(b: bytearray) -> None:
    b.extend(bytes(16))
    struct.pack_into("<I", b, 16, len(b))
    struct.pack_into("<I", b, 40, len(b) - DATA)


FIRST = "dit.blocks.5.mlp.fc1.weight"
LAST = "table.u32"
METADATA_END = DATA - 1
GAP = struct.unpack_from("<I", BASE, 64 + 52)[0] + 15  # the byte after the 15 of the first tensor

CASES: list[tuple[str, Damage, Status, str | None]] = [
    ("empty", cut(0), Status.TOO_SHORT, None),
    ("half a header", cut(63), Status.TOO_SHORT, None),
    ("a picture", put(0, "<8B", *b"\x89PNG\r\n\x1a\n"), Status.MAGIC, None),
    ("line ends changed", put(4, "<2B", 0x0A, 0x0A), Status.TEXT_MODE, None),
    ("eighth bit lost", put(0, "<B", 0x09), Status.TEXT_MODE, None),
    ("version 2", put(8, "<I", 2), Status.VERSION, None),
    ("version 2 with CRC", repaired(put(8, "<I", 2)), Status.VERSION, None),
    ("header bit", flip(20), Status.HEADER_CRC, None),
    ("header CRC bit", flip(60), Status.HEADER_CRC, None),
    ("reserved", repaired(put(44, "<I", 1)), Status.RESERVED, None),
    ("cut", cut(len(BASE) - 1), Status.TRUNCATED, None),
    ("only a header", cut(64), Status.TRUNCATED, None),
    ("one byte more", add(b"\0"), Status.TRAILING, None),
    ("no tensors", repaired(put(12, "<I", 0)), Status.COUNT, None),
    ("1025 tensors", repaired(put(12, "<I", 1025)), Status.COUNT, None),
    ("count wraps", repaired(put(12, "<I", 1 << 26)), Status.COUNT, None),
    ("one tensor less", repaired(put(12, "<I", 8)), Status.SECTIONS, None),
    ("directory elsewhere", repaired(put(20, "<I", 128)), Status.SECTIONS, None),
    ("metadata empty", repaired(put(32, "<I", 0)), Status.SECTIONS, None),
    ("metadata huge", repaired(put(32, "<I", 0xFFFFFFF0)), Status.SECTIONS, None),
    ("data elsewhere", repaired(put(36, "<I", DATA + 16)), Status.SECTIONS, None),
    ("data too long", repaired(put(40, "<I", 0xFFFFFFFF)), Status.SECTIONS, None),
    ("data later", repaired(set_data(DATA + 16, len(BASE))), Status.SECTIONS, None),
    ("data too short", repaired(set_data(DATA, DATA + 31)), Status.SECTIONS, None),
    ("largest metadata", repaired(large_metadata(65536)), Status.OK, None),
    ("metadata too large", repaired(large_metadata(65537)), Status.SECTIONS, None),
    ("directory bit", flip(64), Status.DIRECTORY_CRC, None),
    ("no name", repaired(field(0, 0, "<32x")), Status.NAME, ""),
    ("name without end", repaired(field(0, 0, "<32B", *b"a" * 32)), Status.NAME, "a" * 32),
    ("space in name", repaired(field(0, 1, "<B", 0x20)), Status.NAME, "d?t" + FIRST[3:]),
    ("name with a hole", repaired(field(0, 31, "<B", 0x61)), Status.NAME, FIRST),
    ("same name", repaired(field(1, 0, "<32s", FIRST.encode())), Status.DUPLICATE, FIRST),
    ("type 0", repaired(field(0, 32, "<B", 0)), Status.DTYPE, FIRST),
    ("type 8", repaired(field(0, 32, "<B", 8)), Status.DTYPE, FIRST),
    ("layout", repaired(field(0, 33, "<B", 1)), Status.LAYOUT, FIRST),
    ("hole in shape", repaired(field(0, 36, "<4I", 3, 0, 5, 0)), Status.SHAPE, FIRST),
    ("shape wraps", repaired(field(0, 36, "<4I", 1 << 16, 1 << 16, 15, 0)), Status.SHAPE, FIRST),
    ("shape of 2^31 int32", repaired(field(7, 36, "<I", 1 << 31)), Status.SHAPE, None),
    ("other shape", repaired(field(0, 36, "<I", 4)), Status.BYTES, FIRST),
    ("other bytes", repaired(field(0, 56, "<I", 16)), Status.BYTES, FIRST),
    ("not aligned", repaired(field(0, 52, "<I", DATA + 1)), Status.OFFSET, FIRST),
    ("overlap", repaired(field(1, 52, "<I", DATA)), Status.OFFSET, "dit.blocks.5.mlp.fc1.scale"),
    (
        "past the end",
        repaired(field(8, 36, "<I", 8), field(8, 56, "<I", 32)),
        Status.OFFSET,
        LAST,
    ),
    (
        "starts past the end",
        repaired(set_data(DATA, DATA + 15 + 32)),
        Status.OFFSET,
        "dit.blocks.5.mlp.fc1.scale",
    ),
    ("tail too long", repaired(longer_tail), Status.TAIL, None),
    ("scale of itself", repaired(field(0, 34, "<H", 0)), Status.SCALE, FIRST),
    ("scale absent", repaired(field(0, 34, "<H", 9)), Status.SCALE, FIRST),
    ("scale far outside", repaired(field(0, 34, "<H", 0xFFFE)), Status.SCALE, FIRST),
    ("scale of integers", repaired(field(0, 34, "<H", 6)), Status.SCALE, FIRST),
    (
        "float32 with a scale",
        repaired(field(0, 34, "<H", 0xFFFF), field(1, 34, "<H", 3)),
        Status.SCALE,
        "dit.blocks.5.mlp.fc1.scale",
    ),
    (
        "three scales, two rows",
        repaired(field(2, 34, "<H", 1)),
        Status.SCALE,
        "decoder/conv-1.weight",
    ),
    ("scale with a scale", repaired(field(1, 34, "<H", 3)), Status.SCALE, FIRST),
    ("metadata bit", flip(METADATA_END - 20), Status.METADATA_CRC, None),
    ("metadata padding", repaired(flip(METADATA_END)), Status.PADDING, None),
    ("gap", flip(GAP), Status.PADDING, FIRST),
    ("tail", flip(len(BASE) - 1), Status.PADDING, LAST),
    ("tensor bit", flip(DATA), Status.TENSOR_CRC, FIRST),
    ("tensor CRC bit", repaired(field(8, 60, "<I", 1)), Status.TENSOR_CRC, LAST),
    ("data CRC", repaired(put(56, "<I", 1)), Status.DATA_CRC, None),
    ("untouched", both(), Status.OK, None),
]


def say(content: bytes) -> tuple[Status, str | None, str]:
    """Return what the reader in Python finds: status, tensor, sentence."""
    try:
        read_model(content, verify=True)
    except ModelFileError as error:
        return error.status, error.tensor, str(error)
    return Status.OK, None, Status.OK.text


@pytest.mark.parametrize(
    ("damage", "status", "tensor"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_each_damage_has_its_name(
    probe, damage: Damage, status: Status, tensor: str | None
) -> None:
    content = bytearray(BASE)
    damage(content)
    found, culprit, sentence = say(bytes(content))
    assert found is status
    if tensor is not None:
        assert culprit == tensor
    assert probe.ask(bytes(content))[0] == f"{int(status)} {sentence}"


def test_every_status_has_a_case() -> None:
    assert {case[2] for case in CASES} == set(Status) - PC_ONLY - {Status.NOT_FOUND}


def test_statuses_are_the_same_in_both_languages(probe) -> None:
    common = sorted(set(Status) - PC_ONLY)
    assert probe.statuses() == [status.text for status in common] + [""]
    assert [int(status) for status in common] == list(range(len(common)))


def test_metadata_that_is_no_json_object_is_refused_on_the_pc(probe) -> None:
    for text in (b"[1]", b"{", b'{"a":NaN}', b'{"\xff":1}', b"[" * 20000):
        text = text.ljust(8)
        plain = b'{"k":"' + b"v" * (len(text) - 8) + b'"}'
        content = bytearray(encode_model({"x": np.array(1, np.uint8)}, json.loads(plain)))
        start = content.index(plain)
        content[start : start + len(plain)] = text
        repair(content)
        assert say(bytes(content))[0] is Status.METADATA
        assert probe.ask(bytes(content))[0] == "0 the model file is in order"


NASTY = [0, 1, 15, 16, 64, 1024, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFE0, 0xFFFFFFFF]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A file with up to three changes; in most cases with CRCs that suit them."""
    content = bytearray(BASE)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 4))
        if kind == 0:
            content[draw(st.integers(0, len(content) - 1))] ^= 1 << draw(st.integers(0, 7))
        elif kind == 1:
            value = draw(st.sampled_from(NASTY) | st.integers(0, 2**32 - 1))
            struct.pack_into("<I", content, 4 * draw(st.integers(2, DATA // 4 - 1)), value)
        elif kind == 2:
            i, j = draw(st.integers(0, 8)), draw(st.integers(0, 8))
            one, two = slice(64 + 64 * i, 128 + 64 * i), slice(64 + 64 * j, 128 + 64 * j)
            content[one], content[two] = content[two], content[one]
        elif kind == 3:
            struct.pack_into("<I", content, 12, draw(st.integers(0, 12)))
        else:
            content[64 + 64 * draw(st.integers(0, 8)) + draw(st.integers(32, 35))] = draw(
                st.integers(0, 9)
            )
    if draw(st.integers(0, 3)):
        repair(content, data=draw(st.booleans()))
    end = draw(st.just(len(content)) | st.integers(0, len(content)))
    return bytes(content[:end])


@settings(max_examples=1500, deadline=None)
@given(content=damaged())
def test_both_readers_agree(probe, content: bytes) -> None:
    status, _, sentence = say(content)
    answer, lines = probe.ask(content)
    if status is Status.METADATA:  # only the PC reads the JSON, after all that C checks at load
        assert int(answer.split()[0]) in {
            Status.OK,
            Status.PADDING,
            Status.TENSOR_CRC,
            Status.DATA_CRC,
        }
        return
    assert answer == f"{int(status)} {sentence}"
    if status is Status.OK:
        assert lines == probe.expected_lines(read_model(content))


def test_next_read_works_after_a_damaged_file() -> None:
    with contextlib.suppress(ModelFileError):
        read_model(BASE[:100])
    read_model(GOLDEN).verify()
