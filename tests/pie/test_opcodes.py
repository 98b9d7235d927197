"""Every vector instruction goes through capstone unchanged; what none can be is a sentence."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ttikit.pie.derive import Disassembler, derive, number
from ttikit.pie.opcodes import Opcode, PieError, decode, encode, opcodes, written

# As Espressif's assembler encodes them (llvm-project, test/MC/Xtensa, esp32s3).
KNOWN = {
    "ee.andq q2, q0, q1": "24 30 dd",
    "ee.ld.qacc_h.h.32.ip a6, -292": "64 37 5e",
    "ee.ldf.64.xp f0, f6, a3, a8": "30 08 66",
    "ee.movi.32.q q5, a5, 3": "54 be ed",
    "ee.src.q.ld.ip q2, a2, 1792, q6, q7": "2f a0 7a e1",
    "ee.srcmb.s8.qacc q4, a1, 1": "14 7e ed",
    "ee.srs.accx a12, a1, 0": "14 1c 7e",
    "ee.st.accx.ip a10, 24": "a4 03 02",
    "ee.vld.128.ip q3, a14, 1248": "e4 ce 93",
    "ee.vldbc.8.ip q3, a3, 103": "34 e7 d5",
    "ee.vmulas.s16.qacc.ldbc.incp.qup q0, a4, q1, q6, q4, q5": "4e 78 45 e0",
    "ee.vmulas.s8.accx.ld.ip q2, a8, 80, q3, q0": "8e c5 02 f1",
    "ee.vmulas.s8.accx.ld.ip.qup q2, a9, -80, q1, q2, q6, q3": "9e 5b 63 2d",
    "ee.vmulas.s8.accx.ld.xp q3, a3, a4, q4, q7": "3f 34 9a f1",
    "ee.vsmulas.s8.qacc.ld.incp q1, a8, q1, q1, 4": "8e 4c aa e0",
    "ee.vst.128.ip q3, a6, -816": "64 cd da",
    "ee.zero.accx": "04 08 25",
    "mv.qr q4, q7": "24 0c af",
    "rur.accx_0 a11": "00 b0 e3",
    "wur.sar_byte a9": "90 0d f3",
}


@pytest.fixture(scope="session")
def capstone() -> Disassembler:
    return Disassembler()


def instruction(text: str) -> bytes:
    name, _, operands = text.partition(" ")
    return encode(name, operands.split(",") if operands else [])


def test_known_encodings() -> None:
    assert {text: instruction(text).hex(" ") for text in KNOWN} == KNOWN


def test_table_is_complete(capstone: Disassembler) -> None:
    names = {name.replace(".", "_") for name in opcodes()}
    assert capstone.names <= names
    assert len(names) == 256
    assert sum(name.startswith(("rur.", "wur.")) for name in opcodes()) == 38


def samples(opcode: Opcode) -> list[list[int]]:
    """Operands at both ends, each alone at its highest, and at random."""
    ranges = [operand.range for operand in opcode.operands]
    dice = random.Random(opcode.name)
    low, zero, high = ([f(r) for r in ranges] for f in (min, lambda _: 0, max))
    single = [[*zero[:i], high[i], *zero[i + 1 :]] for i in range(len(ranges))]
    return [low, zero, high, *single, *([dice.choice(r) for r in ranges] for _ in range(20))]


def test_round_trip_of_every_opcode(capstone: Disassembler) -> None:
    tried = 0
    for opcode in opcodes().values():
        for values in samples(opcode):
            text = written(opcode, values)
            code = instruction(text)
            seen = capstone.decode(int.from_bytes(code, "little"), opcode.size)
            if opcode.name == "ee.ldf.64.xp" and values[1] == 0:
                continue  # capstone takes some of these for the ESP32-S2's
            assert seen == (opcode.name, seen[1] if seen else []), text
            assert [number(operand) for operand in seen[1]] == values, text
            assert decode(code) == (opcode, values), text
            tried += 1
    assert tried > 256 * 20


def test_any_wrong_bit_of_an_opcode_is_noticed(capstone: Disassembler) -> None:
    for opcode in opcodes().values():
        for bit in range(opcode.size * 8):
            if opcode.mask >> bit & 1:
                seen = capstone.decode(opcode.word ^ 1 << bit, opcode.size)
                assert seen is None or seen[0] != opcode.name, (opcode.name, bit)


@pytest.mark.parametrize(
    "name", ["ee.vmulas.s8.accx.ld.ip", "ee.vldbc.16.ip", "ee.srs.accx", "rur.qacc_h_4"]
)
def test_table_is_what_capstone_says(capstone: Disassembler, name: str) -> None:
    opcode = opcodes()[name]
    word = opcode.encode(samples(opcode)[-1])
    assert derive(capstone, name, word, opcode.size) == opcode


@given(st.binary(min_size=4, max_size=4))
def test_decoded_instructions_encode_to_the_same(code: bytes) -> None:
    found = decode(code)
    if found:
        assert instruction(written(*found)) == code[: found[0].size]


def test_no_two_opcodes_share_a_word() -> None:
    table = list(opcodes().values())
    for i, a in enumerate(table):
        for b in table[:i]:
            if a.size == b.size:
                assert (a.word ^ b.word) & a.mask & b.mask, (a.name, b.name)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("ee.vld.129.ip q0, a2, 16", "ee.vld.129.ip is not an instruction of the ESP32-S3"),
        ("ee.vld.128.ip q0, a2", "takes 3 operands, not 2"),
        ("ee.vld.128.ip q8, a2, 16", "q8 is not a register q0..q7"),
        ("ee.vld.128.ip a0, a2, 16", "a0 is not a register q0..q7"),
        ("ee.vld.128.ip q0, a16, 16", "a16 is not a register a0..a15"),
        ("ee.vld.128.ip q0, a2, 8", "8 is not in -2048..2032 in steps of 16"),
        ("ee.vld.128.ip q0, a2, 2048", "2048 is not in -2048..2032 in steps of 16"),
        ("ee.vld.128.ip q0, a2, N", "n is not a number"),
        ("ee.vld.128.ip q0, a2, 16 ** 9", "16 ** 9 is not a number"),
        ("ee.vld.128.ip q0, a2, (", "( is not a number"),
        ("ee.vmulas.s8.accx.ld.ip q0, a2, 512, q0, q1", "512 is not in -512..496 in steps of 16"),
        ("ee.vsmulas.s8.qacc q0, q1, 16", "16 is not in 0..15"),
        ("ee.zero.accx q0", "takes 0 operands, not 1"),
    ],
)
def test_what_cannot_be_encoded(text: str, error: str) -> None:
    with pytest.raises(PieError, match=re.escape(error)):
        instruction(text)


def test_immediates_may_be_sums_and_products() -> None:
    assert instruction("ee.vld.128.ip q0, a2, -(2 + 3) * 16 - 0x10") == instruction(
        "ee.vld.128.ip q0, a2, -96"
    )


def test_stack_pointer_is_a1() -> None:
    assert instruction("ee.vst.128.ip q0, sp, 0") == instruction("EE.VST.128.IP Q0, A1, 0x0")
