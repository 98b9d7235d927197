"""The emulated core executes each vector instruction as the reference interpreter does."""

import random
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from ttikit.emulator import EmulatorError, XtensaLX7, read_image
from ttikit.pie.assemble import rewrite
from ttikit.pie.interpreter import Machine, State, is_modelled, join
from ttikit.pie.opcodes import Opcode, encode, opcodes, written
from ttikit.pie.stages import rule

CASES = 8  # of each instruction
MEMORY = 4096  # bytes that they may access
POINTERS = range(3, 15)  # address registers that they may name
RETURN = bytes.fromhex("0df0")  # ret.n
RETW = bytes.fromhex("1df0")  # retw.n
SLOT = 8

# Where a state lies behind a2: registers of 128 bits, then words.
WORDS = [
    *(f"qacc_{half}_{i}" for half in "lh" for i in range(5)),
    *("accx_0", "accx_1", *(f"ua_state_{i}" for i in range(4)), "sar_byte", "fft_bit_width"),
    *("sar", "a0", "code", "back", *(f"a{i}" for i in POINTERS), *(f"f{i}" for i in range(16))),
]
AT = {name: 128 + 4 * i for i, name in enumerate(WORDS)}
BLOCK = 128 + 4 * len(WORDS)
USER = [n for n in WORDS if n.startswith(("qacc", "accx", "ua_state", "sar_byte", "fft"))]


def harness_source() -> str:
    """A function that loads a state from a2, calls the code that it names, and stores it.

    It ends with an instruction of the program, as retw does not leave its quarter of the memory.
    """
    lines = ["entry a1, 32", f"s32i a0, a2, {AT['a0']}", "mov a15, a2"]
    lines += [f"ee.vld.128.ip q{i}, a15, 16" for i in range(8)]
    for name in USER:
        lines += [f"l32i a15, a2, {AT[name]}", f"wur.{name} a15"]
    lines += [f"l32i a15, a2, {AT['sar']}", "wsr.sar a15"]
    lines += [f"lsi f{i}, a2, {AT[f'f{i}']}" for i in range(16)]
    lines += [f"l32i a{i}, a2, {AT[f'a{i}']}" for i in POINTERS]
    lines += [f"l32i a15, a2, {AT['code']}", "callx0 a15"]
    lines += [f"s32i a{i}, a2, {AT[f'a{i}']}" for i in POINTERS]
    lines += ["mov a15, a2", *(f"ee.vst.128.ip q{i}, a15, 16" for i in range(8))]
    for name in USER:
        lines += [f"rur.{name} a15", f"s32i a15, a2, {AT[name]}"]
    lines += ["rsr.sar a15", f"s32i a15, a2, {AT['sar']}"]
    lines += [f"ssi f{i}, a2, {AT[f'f{i}']}" for i in range(16)]
    lines += [f"l32i a0, a2, {AT['a0']}", f"l32i a15, a2, {AT['back']}", "jx a15"]
    return "\n".join(lines) + "\n"


def assembled(folder: Path, source: str) -> bytes:
    (folder / "h.s").write_text(rewrite(source, "h.s"))
    command = "llvm-mc-22 -triple=xtensa -mcpu=esp32 -filetype=obj h.s -o h.o"
    subprocess.run(command.split(), cwd=folder, check=True)
    with (folder / "h.o").open("rb") as file:
        code: bytes = ELFFile(file).get_section_by_name(".text").data()
    return code


def to_bytes(state: State, code: int, back: int) -> bytes:
    words = {
        **{
            f"qacc_{h}_{i}": state.qacc >> 160 * (h == "h") + 32 * i
            for h in "lh"
            for i in range(5)
        },
        **{f"ua_state_{i}": state.ua_state >> 32 * i for i in range(4)},
        **{f"a{i}": state.a[i] for i in POINTERS},
        **{f"f{i}": state.f[i] for i in range(16)},
        "accx_0": state.accx,
        "accx_1": state.accx >> 32,
        "sar_byte": state.sar_byte,
        "fft_bit_width": state.fft_bit_width,
        "sar": state.sar,
        "a0": 0,
        "code": code,
        "back": back,
    }
    packed = struct.pack(f"<{len(WORDS)}I", *(words[name] & 0xFFFF_FFFF for name in WORDS))
    return join(state.q, 128).to_bytes(128, "little") + packed


def without_own(block: bytes) -> bytes:
    """A state without the words that are the harness's own."""
    return block[: AT["a0"]] + block[AT["back"] + 4 :]


class Buffer:
    """Memory of the interpreter at the addresses of a buffer of the emulated core."""

    def __init__(self, address: int, data: bytes):
        self.address, self.data = address, bytearray(data)

    def load(self, address: int, size: int) -> int:
        at = address - self.address
        assert 0 <= at <= len(self.data) - size
        return int.from_bytes(self.data[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        at = address - self.address
        assert 0 <= at <= len(self.data) - size
        self.data[at : at + size] = value.to_bytes(size, "little")


@dataclass
class Harness:
    """The emulated core, with the harness at an address."""

    machine: XtensaLX7
    code: int
    back: int

    def run(self, block: int, state: State, at: int) -> None:
        """Write a state into a block, and run the code at an address on it."""
        self.machine.write(block, to_bytes(state, at, self.back))
        self.machine.call(self.code, block)


@dataclass
class Case:
    opcode: Opcode
    values: list[int]
    state: State


def number(dice: random.Random, bits: int, lane: int) -> int:
    """Lanes at random, or at and near their extremes."""
    near = [0, 1, -1, 1 << lane - 1, (1 << lane - 1) - 1, (1 << lane - 1) + 1]
    extremes = dice.random() < 0.5
    return join(
        [
            dice.choice(near) if extremes and dice.random() < 0.7 else dice.getrandbits(lane)
            for _ in range(bits // lane)
        ],
        lane,
    )


def operands(opcode: Opcode, dice: random.Random) -> list[int]:
    """Operands of which no two are written to the same register."""
    letters = (rule(opcode.name) or ([], []))[0]
    while True:
        values = [
            dice.choice(POINTERS) if o.kind == "a" else dice.choice(o.range)
            for o in opcode.operands
        ]
        written_to = [
            (o.kind, v)
            for o, v, how in zip(opcode.operands, values, letters, strict=True)
            if how[0] in "dm"
        ]
        if len(set(written_to)) == len(written_to):
            return values


def cases(memory: int) -> Iterator[Case]:
    dice = random.Random(5)
    for opcode in filter(lambda o: is_modelled(o.name), opcodes().values()):
        accesses = any(
            part.startswith(("ld", "st", "vld", "vst")) for part in opcode.name.split(".")
        )
        for _ in range(CASES):
            lane = dice.choice((8, 16, 32))
            state = State(
                q=[number(dice, 128, lane) for _ in range(8)],
                a=[
                    memory + MEMORY // 2 + dice.randrange(512)
                    if accesses
                    else number(dice, 32, 32)
                    for _ in range(16)
                ],
                f=[dice.getrandbits(31) % 0x7F80_0000 for _ in range(16)],
                accx=number(dice, 40, 40),
                qacc=number(dice, 320, dice.choice((20, 40))),
                sar=dice.randrange(32),
                sar_byte=dice.randrange(16),
                fft_bit_width=dice.randrange(16),
                ua_state=dice.getrandbits(128),
            )
            values = operands(opcode, dice)
            if opcode.name in ("ee.ldxq.32", "ee.stxq.32"):  # an index that stays in memory
                state.q[values[1]] = join([dice.randrange(256) for _ in range(8)], 16)
                if values[0] == values[1] and opcode.name == "ee.stxq.32":
                    values[0] = (values[1] + 1) % 8
            yield Case(opcode, values, state)


@pytest.fixture(scope="module")
def harness(native_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    image = read_image(native_build / "tti_lx7.elf")
    machine = XtensaLX7(image)
    code = machine.place(assembled(tmp_path_factory.mktemp("harness"), harness_source()))
    start, program = next(
        b for b in image.blocks if b[0] <= image.address("_stext") < b[0] + len(b[1])
    )
    yield Harness(machine, code, start + program.index(RETW))
    machine.close()


def test_every_instruction_does_what_the_reference_does(harness: Harness) -> None:
    machine = harness.machine
    content = random.Random(6).randbytes(MEMORY)
    memory = machine.place(content)
    every = list(cases(memory))
    block = machine.place(bytes(BLOCK))
    slots = b"".join(
        (c.opcode.encode(c.values).to_bytes(c.opcode.size, "little") + RETURN).ljust(SLOT, b"\0")
        for c in every
    )
    slot = machine.place(slots)
    before = machine.vector_instructions
    tried: Counter[str] = Counter()
    for i, case in enumerate(every):
        machine.write(memory, content)
        harness.run(block, case.state, slot + SLOT * i)
        reference = Buffer(memory, content)
        Machine(reference, case.state).execute(case.opcode, case.values)
        text = written(case.opcode, case.values)
        expected = without_own(to_bytes(case.state, 0, 0))
        assert without_own(machine.read(block, BLOCK)) == expected, text
        assert machine.read(memory, MEMORY) == bytes(reference.data), text
        tried[case.opcode.name] += 1
    assert set(tried) == {name for name in opcodes() if is_modelled(name)}
    assert machine.vector_instructions - before >= len(every)


@pytest.mark.parametrize("text", ["ee.bitrev q0,a3", "ee.cmul.s16 q0,q1,q2,0", "ee.vsl.32 q0,q1"])
def test_what_nobody_knows_is_refused(harness: Harness, text: str) -> None:
    """Instructions that are not modelled, and a shift by 32."""
    name, _, rest = text.partition(" ")
    at = harness.machine.place(encode(name, rest.split(",")) + RETURN)
    block = harness.machine.place(bytes(BLOCK))
    with pytest.raises(EmulatorError, match="an instruction that the core does not have"):
        harness.run(block, State(sar=32), at)
