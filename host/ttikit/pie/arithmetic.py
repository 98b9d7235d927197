"""Arithmetic of the vector unit, for `ttikit.pie.interpreter`."""

from __future__ import annotations

from collections.abc import Callable

from ttikit.pie.interpreter import (
    LANES,
    Q_BITS,
    QACC_BITS,
    WORD,
    Machine,
    clamp,
    does,
    join,
    signed,
    split,
)
from ttikit.pie.opcodes import PieError


def vector(m: Machine, register: int, bits: int, *, is_signed: bool = True) -> list[int]:
    """Return the lanes of a register."""
    return split(m.state.q[register], bits, LANES[bits], is_signed=is_signed)


def shift_amount(m: Machine) -> int:
    """Return SAR; 32 and more are refused, because manual and chip do not agree on them."""
    if m.state.sar >= 32:
        raise PieError("what SAR above 31 does is not known")
    return m.state.sar


def fused(m: Machine, v: list[int], access: str | None, result: int, value: int) -> None:
    """Write a result; with access ld or st also move 16 bytes of q[v[0]] at a[v[1]]."""
    if access == "st":
        m.store(v[1], 16, m.state.q[v[0]])
    loaded = m.load(v[1], 16) if access == "ld" else 0
    m.state.q[result] = value
    if access == "ld":
        m.state.q[v[0]] = loaded
    if access:
        m.step("incp", v[1], 16)


# Multiply and accumulate


def products(m: Machine, x: int, y: int, sign: str, bits: int) -> list[int]:
    """Return the products of two registers' lanes."""
    of = sign == "s"
    pairs = zip(vector(m, x, bits, is_signed=of), vector(m, y, bits, is_signed=of), strict=True)
    return [a * b for a, b in pairs]


def add_to_accx(m: Machine, terms: list[int], sign: str) -> None:
    """Add to ACCX, saturating once."""
    now = signed(m.state.accx, 40) if sign == "s" else m.state.accx
    m.state.accx = clamp(now + sum(terms), 40, is_signed=sign == "s") & (1 << 40) - 1


def add_to_qacc(m: Machine, terms: list[int], sign: str) -> None:
    """Add to the lanes of QACC, each saturating."""
    bits = QACC_BITS // len(terms)
    lanes = split(m.state.qacc, bits, len(terms), is_signed=sign == "s")
    sums = [clamp(a + b, bits, is_signed=sign == "s") for a, b in zip(lanes, terms, strict=True)]
    m.state.qacc = join(sums, bits)


ADD = {"accx": add_to_accx, "qacc": add_to_qacc}


@does(r"ee\.vmulas\.([su])(8|16)\.(accx|qacc)")
def _accumulate(m: Machine, v: list[int], sign: str, bits: str, to: str) -> None:
    ADD[to](m, products(m, v[0], v[1], sign, int(bits)), sign)


@does(r"ee\.vmulas\.([su])(8|16)\.(accx|qacc)\.ld\.(ip|xp)(\.qup)?")
def _accumulate_and_load(
    m: Machine, v: list[int], sign: str, bits: str, to: str, mode: str, qup: str | None
) -> None:
    terms = products(m, v[3], v[4], sign, int(bits))
    aligned = m.shifted(v[5], v[6]) if qup else 0
    loaded = m.load(v[1], 16)
    ADD[to](m, terms, sign)
    if qup:
        m.state.q[v[5]] = aligned
    m.state.q[v[0]] = loaded
    m.step(mode, v[1], v[2])


@does(r"ee\.vmulas\.([su])(8|16)\.qacc\.ldbc\.incp(\.qup)?")
def _accumulate_and_broadcast(
    m: Machine, v: list[int], sign: str, bits: str, qup: str | None
) -> None:
    width = int(bits)
    terms = products(m, v[2], v[3], sign, width)
    aligned = m.shifted(v[4], v[5]) if qup else 0
    loaded = join([m.load(v[1], width // 8)] * LANES[width], width)
    add_to_qacc(m, terms, sign)
    if qup:
        m.state.q[v[4]] = aligned
    m.state.q[v[0]] = loaded
    m.step("incp", v[1], width // 8)


def scaled(m: Machine, x: int, y: int, lane: int, bits: int) -> list[int]:
    """Return the lanes of x times one lane of y."""
    factor = vector(m, y, bits)[lane]
    return [a * factor for a in vector(m, x, bits)]


@does(r"ee\.vsmulas\.s(8|16)\.qacc")
def _accumulate_scaled(m: Machine, v: list[int], bits: str) -> None:
    add_to_qacc(m, scaled(m, v[0], v[1], v[2], int(bits)), "s")


@does(r"ee\.vsmulas\.s(8|16)\.qacc\.ld\.incp")
def _accumulate_scaled_and_load(m: Machine, v: list[int], bits: str) -> None:
    terms = scaled(m, v[2], v[3], v[4], int(bits))
    loaded = m.load(v[1], 16)
    add_to_qacc(m, terms, "s")
    m.state.q[v[0]] = loaded
    m.step("incp", v[1], 16)


@does(r"ee\.srcmb\.s(8|16)\.qacc")
def _shift_out(m: Machine, v: list[int], bits: str) -> None:
    width = int(bits)
    count = LANES[width]
    shift = m.state.a[v[1]] & (31 if width == 8 else 63)
    lanes = [lane >> shift for lane in split(m.state.qacc, QACC_BITS // count, count)]
    m.state.qacc = join(lanes, QACC_BITS // count)
    m.state.q[v[0]] = join([clamp(lane, width) for lane in lanes], width)


@does(r"ee\.vmul\.([su])(8|16)(?:\.(ld|st)\.incp)?")
def _multiply(m: Machine, v: list[int], sign: str, bits: str, access: str | None) -> None:
    result, x, y = v[-3:]
    shift = shift_amount(m)
    terms = products(m, x, y, sign, int(bits))
    fused(m, v, access, result, join([t >> shift for t in terms], int(bits)))


# Lane by lane

OPERATIONS: dict[str, Callable[[int, int, int], int]] = {
    "adds": lambda a, b, bits: clamp(a + b, bits),
    "subs": lambda a, b, bits: clamp(a - b, bits),
    "max": lambda a, b, _: max(a, b),
    "min": lambda a, b, _: min(a, b),
    "cmp.eq": lambda a, b, _: -(a == b),
    "cmp.lt": lambda a, b, _: -(a < b),
    "cmp.gt": lambda a, b, _: -(a > b),
}


@does(r"ee\.v(adds|subs|max|min|cmp\.eq|cmp\.lt|cmp\.gt)\.s(8|16|32)(?:\.(ld|st)\.incp)?")
def _lane_by_lane(m: Machine, v: list[int], name: str, bits: str, access: str | None) -> None:
    result, x, y = v[-3:]
    width = int(bits)
    pairs = zip(vector(m, x, width), vector(m, y, width), strict=True)
    lanes = [OPERATIONS[name](a, b, width) for a, b in pairs]
    fused(m, v, access, result, join(lanes, width))


def leak(lane: int, factor: int, shift: int) -> int:
    """What the rectifiers make of a lane."""
    return lane if lane > 0 else lane * factor >> shift


@does(r"ee\.vrelu\.s(8|16)")
def _rectify(m: Machine, v: list[int], bits: str) -> None:
    width = int(bits)
    factor = signed(m.state.a[v[1]], width)
    shift = m.state.a[v[2]] & (31 if width == 8 else 63)
    lanes = [leak(lane, factor, shift) for lane in vector(m, v[0], width)]
    m.state.q[v[0]] = join(lanes, width)


@does(r"ee\.vprelu\.s(8|16)")
def _rectify_by_lane(m: Machine, v: list[int], bits: str) -> None:
    width = int(bits)
    shift = m.state.a[v[3]] & (31 if width == 8 else 63)
    pairs = zip(vector(m, v[1], width), vector(m, v[2], width), strict=True)
    m.state.q[v[0]] = join([leak(a, b, shift) for a, b in pairs], width)


# Bits and bytes


@does(r"ee\.(and|or|xor)q")
def _combine(m: Machine, v: list[int], name: str) -> None:
    x, y = m.state.q[v[1]], m.state.q[v[2]]
    m.state.q[v[0]] = {"and": x & y, "or": x | y, "xor": x ^ y}[name]


@does(r"ee\.notq")
def _invert(m: Machine, v: list[int]) -> None:
    m.state.q[v[0]] = m.state.q[v[1]] ^ (1 << Q_BITS) - 1


@does(r"ee\.vs([lr])\.32")
def _shift_words(m: Machine, v: list[int], to: str) -> None:
    shift = shift_amount(m)
    lanes = vector(m, v[1], 32)
    moved = [lane << shift if to == "l" else lane >> shift for lane in lanes]
    m.state.q[v[0]] = join(moved, 32)


@does(r"ee\.src\.q(\.qup)?")
def _shift_bytes(m: Machine, v: list[int], qup: str | None) -> None:
    result, high = m.shifted(v[1], v[2]), m.state.q[v[2]]
    if qup:
        m.state.q[v[1]] = high
    m.state.q[v[0]] = result


def shift_pair(m: Machine, high: int, low: int, to: str, count: int) -> None:
    """Shift 32 bytes by `count` bytes, zeros coming in."""
    q = m.state.q
    both = q[high] << Q_BITS | q[low]
    both = both << 8 * count if to == "l" else both >> 8 * count
    q[low] = both & (1 << Q_BITS) - 1
    q[high] = both >> Q_BITS & (1 << Q_BITS) - 1


@does(r"ee\.s([lr])ci\.2q")
def _shift_pair_by_number(m: Machine, v: list[int], to: str) -> None:
    shift_pair(m, v[0], v[1], to, v[2] + 1)


@does(r"ee\.s([lr])cxxp\.2q")
def _shift_pair_by_register(m: Machine, v: list[int], to: str) -> None:
    a = m.state.a
    shift_pair(m, v[0], v[1], to, (a[v[2]] & 15) + 1)
    a[v[2]] = a[v[2]] + a[v[3]] & WORD


@does(r"ee\.vzip\.(8|16|32)")
def _interleave(m: Machine, v: list[int], bits: str) -> None:
    width = int(bits)
    pairs = zip(vector(m, v[0], width), vector(m, v[1], width), strict=True)
    both = join([lane for pair in pairs for lane in pair], width)
    m.state.q[v[0]], m.state.q[v[1]] = both & (1 << Q_BITS) - 1, both >> Q_BITS


@does(r"ee\.vunzip\.(8|16|32)")
def _separate(m: Machine, v: list[int], bits: str) -> None:
    width = int(bits)
    lanes = vector(m, v[0], width) + vector(m, v[1], width)
    m.state.q[v[0]], m.state.q[v[1]] = join(lanes[::2], width), join(lanes[1::2], width)
