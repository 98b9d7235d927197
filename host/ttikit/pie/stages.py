"""In which pipeline stage each instruction of the ESP32-S3 reads and writes its operands.

Vector instructions: ESP32-S3 Technical Reference Manual, table 1.7-2. Others: the Xtensa ISA
manual's pipeline of five stages (results of arithmetic after stage 1, of loads after 2), and for
what neither tells the latencies that GCC schedules Xtensa code with (xtensa.md: multiplication 2,
conversion 2, float arithmetic 4). Assumed, on the slow side: stores read their data in stage 1;
moves between float and other registers and float comparisons take 2; divisions hold the core
for 13 cycles; a `rur` or `wur` is arithmetic.

A rule gives a letter for each operand: u read, d written, m both, - neither; a number behind it
is the stage of reading, writing, or of both (m12); 1 where there is none. Behind | come registers
that the instruction does not name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ttikit.pie.opcodes import PieError

DIVISION = 13  # cycles that a division holds the core

_QACC = "QACC_L:{0} QACC_H:{0}"
_VECTOR = {
    # loads and stores
    r"ee\.(vld\.128|vld\.[lh]\.64|vldbc\.\d+|ld\.128\.usar)\.ip": "d2 m -",
    r"ee\.(vld\.128|vld\.[lh]\.64|vldbc\.\d+|ld\.128\.usar)\.xp": "d2 m u",
    r"ee\.vldbc\.\d+": "d2 u",
    r"ee\.vldhbc\.16\.incp": "d2 d2 m",
    r"ee\.(vst\.128|vst\.[lh]\.64)\.ip": "u m -",
    r"ee\.(vst\.128|vst\.[lh]\.64)\.xp": "u m u",
    r"ee\.ldf\.64\.ip": "d2 d2 m -",
    r"ee\.ldf\.64\.xp": "d2 d2 m u",
    r"ee\.ldf\.128\.ip": "d2 d2 d2 d2 m -",
    r"ee\.ldf\.128\.xp": "d2 d2 d2 d2 m u",
    r"ee\.stf\.64\.ip": "u u m -",
    r"ee\.stf\.64\.xp": "u u m u",
    r"ee\.stf\.128\.ip": "u u u u m -",
    r"ee\.stf\.128\.xp": "u u u u m u",
    r"ee\.ldxq\.32": "d2 u u - -",
    r"ee\.stxq\.32": "u u u - -",
    r"ee\.ld\.accx\.ip": "m - | ACCX:d2",
    r"ee\.st\.accx\.ip": "m - | ACCX:u",
    r"ee\.ld\.(qacc_[lh])\..*": r"m - | \1:m12",
    r"ee\.st\.(qacc_[lh])\..*": r"m - | \1:u",
    r"ee\.ldqa\..*\.ip": "m - | " + _QACC.format("d2"),
    r"ee\.ldqa\..*\.xp": "m u | " + _QACC.format("d2"),
    r"ee\.ld\.ua_state\.ip": "m - | UA_STATE:d2",
    r"ee\.st\.ua_state\.ip": "m - | UA_STATE:u",
    # moves
    r"mv\.qr": "d u",  # not in the table; taken as arithmetic
    r"ee\.movi\.32\.a": "u d -",
    r"ee\.movi\.32\.q": "d u -",
    r"ee\.mov\..*\.qacc": "u | " + _QACC.format("d"),
    r"ee\.zero\.q": "d",
    r"ee\.zero\.accx": "| ACCX:d",
    r"ee\.zero\.qacc": "| " + _QACC.format("d"),
    r"rur\.(accx|sar_byte|fft_bit_width|ua_state|gpio_out|qacc_[lh])(?:_\d)?": r"d | \1:u",
    r"wur\.(accx|sar_byte|fft_bit_width|ua_state|gpio_out|qacc_[lh])(?:_\d)?": r"u | \1:m",
    # arithmetic
    r"ee\.v(adds|subs|max|min|cmp\..t|cmp\.eq)\.s\d+": "d u u",
    r"ee\.v(adds|subs|max|min)\.s\d+\.ld\.incp": "d2 m d u u",
    r"ee\.v(adds|subs|max|min)\.s\d+\.st\.incp": "u m d u u",
    r"ee\.vmul\.[su]\d+": "d2 u u | SAR:u",
    r"ee\.vmul\.[su]\d+\.ld\.incp": "d2 m d2 u u | SAR:u",
    r"ee\.vmul\.[su]\d+\.st\.incp": "u m d2 u u | SAR:u",
    r"ee\.cmul\.s16": "d2 u u - | SAR:u",
    r"ee\.cmul\.s16\.ld\.incp": "d2 m d2 u u - | SAR:u",
    r"ee\.cmul\.s16\.st\.incp": "u2 m d2 u u - | SAR:u",
    r"ee\.(and|or|xor)q": "d u u",
    r"ee\.notq": "d u",
    r"ee\.vs[lr]\.32": "d u | SAR:u",
    r"ee\.v(un)?zip\.\d+": "m m",
    r"ee\.s[lr]ci\.2q": "m m -",
    r"ee\.s[lr]cxxp\.2q": "m m m u",
    r"ee\.src\.q": "d u u | SAR_BYTE:u",
    r"ee\.src\.q\.qup": "d m u | SAR_BYTE:u",
    r"ee\.src\.q\.ld\.ip": "d2 m - m u | SAR_BYTE:u",
    r"ee\.src\.q\.ld\.xp": "d2 m u m u | SAR_BYTE:u",
    r"ee\.srcq\.128\.st\.incp": "u u m | SAR_BYTE:u",
    r"ee\.vrelu\.s\d+": "m12 u u",
    r"ee\.vprelu\.s\d+": "d2 u u u",
    # multiply and accumulate
    r"ee\.vmulas\.[su]\d+\.(accx|qacc)": r"u u | \1:m22",
    r"ee\.vmulas\.[su]\d+\.(accx|qacc)\.ld\.ip": r"d2 m - u u | \1:m22",
    r"ee\.vmulas\.[su]\d+\.(accx|qacc)\.ld\.xp": r"d2 m u u u | \1:m22",
    r"ee\.vmulas\.[su]\d+\.(accx|qacc)\.ld\.ip\.qup": r"d2 m - u u m u | SAR_BYTE:u \1:m22",
    r"ee\.vmulas\.[su]\d+\.(accx|qacc)\.ld\.xp\.qup": r"d2 m u u u m u | SAR_BYTE:u \1:m22",
    r"ee\.vmulas\.[su]\d+\.qacc\.ldbc\.incp": "d2 m u u | " + _QACC.format("m22"),
    r"ee\.vmulas\.[su]\d+\.qacc\.ldbc\.incp\.qup": "d2 m u u m u | SAR_BYTE:u "
    + _QACC.format("m22"),
    r"ee\.vsmulas\.s\d+\.qacc": "u u - | " + _QACC.format("m22"),
    r"ee\.vsmulas\.s\d+\.qacc\.ld\.incp": "d2 m u u - | " + _QACC.format("m22"),
    r"ee\.srcmb\.s\d+\.qacc": "d u - | " + _QACC.format("m"),
    r"ee\.srs\.accx": "d u - | ACCX:m",
    # FFT and GPIO
    r"ee\.bitrev": "d m | FFT_BIT_WIDTH:u",
    r"ee\.fft\.ams\.s16\.ld\.(incp|r32\.decp)": "d2 m d2 d2 u u u - | SAR:u",
    r"ee\.fft\.ams\.s16\.ld\.incp\.uaup": "d2 m d2 d2 u u u - | SAR:u SAR_BYTE:u UA_STATE:m",
    r"ee\.fft\.ams\.s16\.st\.incp": "u2 d2 m12 m u u u - | SAR:u",
    r"ee\.fft\.cmul\.s16\.ld\.xp": "d2 m u d2 u u - | SAR:u",
    r"ee\.fft\.cmul\.s16\.st\.xp": "u u u2 m u - - - | SAR:u",
    r"ee\.fft\.r2bf\.s16": "d d u u -",
    r"ee\.fft\.r2bf\.s16\.st\.incp": "d u u m -",
    r"ee\.fft\.vst\.r32\.decp": "u2 m -",
    r"ee\.(set|clr)_bit_gpio_out": "- | GPIO_OUT:m",
    r"ee\.wr_mask_gpio_out": "u u | GPIO_OUT:m",
    r"ee\.get_gpio_in": "d",
}
_SCALAR = {
    r"(add|sub)(x[248])?|and|or|xor|(min|max)u?|salt|saltu": "d u u",
    r"addi|addmi|slli|srai|srli|sext|clamps": "d u -",
    r"extui": "d u - -",
    r"mov|neg|abs|nsau?|movsp": "d u",
    r"movi": "d -",
    r"mov(eqz|nez|ltz|gez|[ft])": "m u u",
    r"sll|srl|sra": "d u | SAR:u",
    r"src": "d u u | SAR:u",
    r"ss[lr]|ssa8[lb]": "u | SAR:d",
    r"ssai": "- | SAR:d",
    r"mul16[us]|mull|mul[us]h": "d2 u u",
    r"quo[us]|rem[us]": "d u u",
    r"l8ui|l16[us]i|l32a?i": "d2 u -",
    r"l32r": "d2 -",
    r"s8i|s16i|s32r?i": "u u -",
    r"s32c1i": "m12 u - | SCOMPARE1:u",
    r"lsi": "d2 u -",
    r"ls(i[up])": "d2 m -",
    r"lsx": "d2 u u",
    r"lsx[up]": "d2 m u",
    r"ssi": "u u -",
    r"ss(i[up])": "u m -",
    r"ssx": "u u u",
    r"ssx[up]": "u m u",
    r"(add|sub|mul)\.s": "d4 u u",
    r"(madd|msub|maddn|divn)\.s": "m14 u u",
    r"(div0|recip0|sqrt0|rsqrt0|nexp01)\.s": "d4 u",
    r"(addexpm?|mk[ds]adj)\.s": "m14 u",
    r"(abs|mov|neg)\.s|wfr|rfr": "d2 u",
    r"const\.s": "d2 -",
    r"mov(eqz|nez|ltz|gez|[ft])\.s": "m12 u u",
    r"u?float\.s|(u?trunc|round|ceil|floor)\.s": "d2 u -",
    r"(u[en]|[ou](eq|lt|le)|u[n])\.s": "d2 u u",
    r"(and|or|xor)bc?": "d u u",
    r"(any|all)[48]": "d u",
    r"b(eq|ne|ge|lt|geu|ltu|any|none|all|nall|bc|bs)": "u u -",
    r"b(eq|ne|ge|lt)i|b(ge|lt)ui|bbci|bbsi": "u - -",
    r"b(eqz|nez|gez|ltz|t|f)": "u -",
    r"j|call(0|4|8|12)": "-",
    r"jx|callx(0|4|8|12)": "u",
    r"retw?": "",
    r"entry": "m -",
    r"loop(nez|gtz)?": "u -",
    r"rsr\.(\w+)": r"d2 | \1:u",
    r"wsr\.(\w+)": r"u | \1:d",
    r"xsr\.(\w+)": r"m12 | \1:m",
    r"rur\.\w+": "d2",
    r"wur\.\w+": "u",
    r"rsr|rur": "d2 -",
    r"wsr|wur": "u -",
    r"xsr": "m12 -",
    r"rsil": "d2 -",
    r"nop|memw|extw|[idre]sync": "",
}
_JUMPS = re.compile(r"j|jx|callx?(0|4|8|12)|retw?")
_BRANCHES = re.compile(r"b(?!reak).*")
_MACS = re.compile(r"ee\.vs?mulas\.[su](8|16)\..*")
_OPERAND = re.compile(r"([udm])(\d?)(\d?)")


@dataclass(frozen=True)
class Effects:
    """What an instruction does to the pipeline.

    reads, writes: registers and stages; holds: cycles until the next one can begin; macs:
    multiplications of int8 or int16; goes: "branch" if it may jump, "jump" if it always does.
    """

    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]
    holds: int = 1
    macs: int = 0
    goes: str = ""


def base_name(name: str) -> str:
    """Return an instruction's name in small letters, without the mark of its short form."""
    name = name.lower().removeprefix("_")
    return name.removesuffix(".n")


@cache
def rule(name: str) -> tuple[list[str], list[str]] | None:
    """Return the rules for the named and for the other operands of an instruction."""
    table = _VECTOR if name.startswith(("ee.", "mv.qr")) else {**_VECTOR, **_SCALAR}
    for pattern, text in table.items():
        match = re.fullmatch(pattern, name)
        if match:
            named, _, others = match.expand(text).partition("|")
            others = others.replace("qacc:m22", _QACC.format("m22"))
            return named.split(), others.upper().split()
    return None


def _stages(letters: str) -> tuple[int | None, int | None]:
    """The stages of reading and of writing."""
    match = _OPERAND.fullmatch(letters.lower())
    assert match, letters
    letter, first, second = match.groups()
    stage = int(first or 1)
    if letter == "u":
        return stage, None
    if letter == "d":
        return None, stage
    return stage, int(second or stage)


@cache
def effects(name: str, operands: tuple[str, ...]) -> Effects:
    """Return what an instruction does; its name and operands are as they are written.

    Raises:
        PieError: the instruction is not in the tables.
    """
    name = base_name(name)
    found = rule(name)
    if found is None:
        raise PieError(f"the pipeline's rules have no instruction {name}")
    named, others = found
    if len(named) != len(operands) and not (name in ("float.s", "j") and operands):
        raise PieError(f"{name} takes {len(named)} operands, not {len(operands)}")
    reads, writes = [], []
    pairs = [*zip(operands, named, strict=False), *(o.split(":") for o in others)]
    for register, letters in pairs:
        if letters == "-":
            continue
        register = "a1" if register == "sp" else register
        reading, writing = _stages(letters)
        if reading:
            reads.append((register, reading))
        if writing:
            writes.append((register, writing))
    macs = _MACS.fullmatch(name)
    return Effects(
        tuple(reads),
        tuple(writes),
        DIVISION if re.fullmatch("quo.|rem.", name) else 1,
        128 // int(macs.group(1)) if macs else 0,
        "jump" if _JUMPS.fullmatch(name) else "branch" if _BRANCHES.fullmatch(name) else "",
    )
