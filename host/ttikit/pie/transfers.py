"""Loads, stores and moves of the vector unit, for `ttikit.pie.interpreter`."""

from __future__ import annotations

from ttikit.pie.interpreter import LANES, Q_BITS, WORD, Machine, does, join, signed, split
from ttikit.pie.opcodes import PieError

HALF = {"l": 0, "h": 64}  # where a half of a register begins
ACCUMULATOR = {"l": 0, "h": 160}


def put(whole: int, at: int, bits: int, part: int) -> int:
    """Return `whole` with `bits` bits from bit `at` on replaced."""
    mask = (1 << bits) - 1 << at
    return whole & ~mask | part << at & mask


@does(r"ee\.vld\.128\.(ip|xp)")
def _load_vector(m: Machine, v: list[int], mode: str) -> None:
    m.state.q[v[0]] = m.load(v[1], 16)
    m.step(mode, v[1], v[2])


@does(r"ee\.vst\.128\.(ip|xp)")
def _store_vector(m: Machine, v: list[int], mode: str) -> None:
    m.store(v[1], 16, m.state.q[v[0]])
    m.step(mode, v[1], v[2])


@does(r"ee\.vld\.([lh])\.64\.(ip|xp)")
def _load_half(m: Machine, v: list[int], half: str, mode: str) -> None:
    m.state.q[v[0]] = put(m.state.q[v[0]], HALF[half], 64, m.load(v[1], 8))
    m.step(mode, v[1], v[2])


@does(r"ee\.vst\.([lh])\.64\.(ip|xp)")
def _store_half(m: Machine, v: list[int], half: str, mode: str) -> None:
    m.store(v[1], 8, m.state.q[v[0]] >> HALF[half])
    m.step(mode, v[1], v[2])


@does(r"ee\.vldbc\.(8|16|32)(?:\.(ip|xp))?")
def _load_broadcast(m: Machine, v: list[int], bits: str, mode: str | None) -> None:
    width = int(bits)
    m.state.q[v[0]] = join([m.load(v[1], width // 8)] * LANES[width], width)
    if mode:
        m.step(mode, v[1], v[2])


@does(r"ee\.vldhbc\.16\.incp")
def _load_doubled(m: Machine, v: list[int]) -> None:
    parts = [part for part in split(m.load(v[2], 16), 16, 8) for _ in range(2)]
    m.state.q[v[0]], m.state.q[v[1]] = join(parts[:8], 16), join(parts[8:], 16)
    m.step("incp", v[2], 16)


@does(r"ee\.ld\.128\.usar\.(ip|xp)")
def _load_unaligned(m: Machine, v: list[int], mode: str) -> None:
    m.state.sar_byte = m.state.a[v[1]] & 15
    _load_vector(m, v, mode)


@does(r"ee\.src\.q\.ld\.(ip|xp)")
def _shift_and_load(m: Machine, v: list[int], mode: str) -> None:
    result = m.shifted(v[3], v[4])
    loaded = m.load(v[1], 16)
    m.state.q[v[3]] = result
    m.state.q[v[0]] = loaded
    m.step(mode, v[1], v[2])


@does(r"ee\.srcq\.128\.st\.incp")
def _shift_and_store(m: Machine, v: list[int]) -> None:
    m.store(v[2], 16, m.shifted(v[0], v[1]))
    m.step("incp", v[2], 16)


def indexed(m: Machine, v: list[int]) -> int:
    """Address of the word that a lane of q[v[1]] counts from a[v[2]]."""
    index = m.state.q[v[1]] >> 16 * v[4] & 0xFFFF
    if index >> 15:
        raise PieError("the manual does not say what an index above 32767 means")
    return m.state.a[v[2]] + 4 * index & WORD & -4


@does(r"ee\.ldxq\.32")
def _load_indexed(m: Machine, v: list[int]) -> None:
    word = m.memory.load(indexed(m, v), 4)
    m.state.q[v[0]] = put(m.state.q[v[0]], 32 * v[3], 32, word)


@does(r"ee\.stxq\.32")
def _store_indexed(m: Machine, v: list[int]) -> None:
    m.memory.store(indexed(m, v), 4, m.state.q[v[0]] >> 32 * v[3] & WORD)


# Registers of the float unit: the last named one is the lowest in memory.


@does(r"ee\.ldf\.(64|128)\.(ip|xp)")
def _load_floats(m: Machine, v: list[int], bits: str, mode: str) -> None:
    count = int(bits) // 32
    value = m.load(v[count], 4 * count)
    for i in range(count):
        m.state.f[v[count - 1 - i]] = value >> 32 * i & WORD
    m.step(mode, v[count], v[count + 1])


@does(r"ee\.stf\.(64|128)\.(ip|xp)")
def _store_floats(m: Machine, v: list[int], bits: str, mode: str) -> None:
    count = int(bits) // 32
    value = join([m.state.f[v[count - 1 - i]] for i in range(count)], 32)
    m.store(v[count], 4 * count, value)
    m.step(mode, v[count], v[count + 1])


# Accumulators


@does(r"ee\.ld\.accx\.ip")
def _load_accx(m: Machine, v: list[int]) -> None:
    m.state.accx = m.load(v[0], 8) & (1 << 40) - 1
    m.step("ip", v[0], v[1])


@does(r"ee\.st\.accx\.ip")
def _store_accx(m: Machine, v: list[int]) -> None:
    m.store(v[0], 8, m.state.accx)
    m.step("ip", v[0], v[1])


@does(r"ee\.ld\.qacc_([lh])\.([lh])\.(32|128)\.ip")
def _load_qacc(m: Machine, v: list[int], which: str, part: str, bits: str) -> None:
    at = ACCUMULATOR[which] + (Q_BITS if part == "h" else 0)
    m.state.qacc = put(m.state.qacc, at, int(bits), m.load(v[0], int(bits) // 8))
    m.step("ip", v[0], v[1])


@does(r"ee\.st\.qacc_([lh])\.([lh])\.(32|128)\.ip")
def _store_qacc(m: Machine, v: list[int], which: str, part: str, bits: str) -> None:
    at = ACCUMULATOR[which] + (Q_BITS if part == "h" else 0)
    m.store(v[0], int(bits) // 8, m.state.qacc >> at)
    m.step("ip", v[0], v[1])


def widen(m: Machine, value: int, sign: str, bits: str) -> None:
    """Fill the lanes of QACC from those of a vector."""
    width = int(bits)
    lanes = split(value, width, LANES[width], is_signed=sign == "s")
    m.state.qacc = join(lanes, 320 // LANES[width])


@does(r"ee\.ldqa\.([su])(8|16)\.128\.(ip|xp)")
def _load_and_widen(m: Machine, v: list[int], sign: str, bits: str, mode: str) -> None:
    widen(m, m.load(v[0], 16), sign, bits)
    m.step(mode, v[0], v[1])


@does(r"ee\.mov\.([su])(8|16)\.qacc")
def _move_and_widen(m: Machine, v: list[int], sign: str, bits: str) -> None:
    widen(m, m.state.q[v[0]], sign, bits)


@does(r"ee\.ld\.ua_state\.ip")
def _load_ua_state(m: Machine, v: list[int]) -> None:
    m.state.ua_state = m.load(v[0], 16)
    m.step("ip", v[0], v[1])


@does(r"ee\.st\.ua_state\.ip")
def _store_ua_state(m: Machine, v: list[int]) -> None:
    m.store(v[0], 16, m.state.ua_state)
    m.step("ip", v[0], v[1])


# Between registers


@does(r"mv\.qr")
def _move(m: Machine, v: list[int]) -> None:
    m.state.q[v[0]] = m.state.q[v[1]]


@does(r"ee\.movi\.32\.a")
def _move_to_address(m: Machine, v: list[int]) -> None:
    m.state.a[v[1]] = m.state.q[v[0]] >> 32 * v[2] & WORD


@does(r"ee\.movi\.32\.q")
def _move_from_address(m: Machine, v: list[int]) -> None:
    m.state.q[v[0]] = put(m.state.q[v[0]], 32 * v[2], 32, m.state.a[v[1]])


@does(r"ee\.zero\.(accx|qacc)")
def _clear_accumulator(m: Machine, _v: list[int], which: str) -> None:
    setattr(m.state, which, 0)


@does(r"ee\.zero\.q")
def _clear(m: Machine, v: list[int]) -> None:
    m.state.q[v[0]] = 0


# By number: the state that holds the register, its first bit and its width.
USER_REGISTERS = {
    "accx_0": ("accx", 0, 32),
    "accx_1": ("accx", 32, 8),
    **{f"qacc_l_{i}": ("qacc", 32 * i, 32) for i in range(5)},
    **{f"qacc_h_{i}": ("qacc", 160 + 32 * i, 32) for i in range(5)},
    **{f"ua_state_{i}": ("ua_state", 32 * i, 32) for i in range(4)},
    "sar_byte": ("sar_byte", 0, 4),
    "fft_bit_width": ("fft_bit_width", 0, 4),
}


@does(r"rur\.(accx_[01]|qacc_[lh]_[0-4]|ua_state_[0-3]|sar_byte|fft_bit_width)")
def _read_user(m: Machine, v: list[int], name: str) -> None:
    state, at, bits = USER_REGISTERS[name]
    m.state.a[v[0]] = getattr(m.state, state) >> at & (1 << bits) - 1


@does(r"wur\.(accx_[01]|qacc_[lh]_[0-4]|ua_state_[0-3]|sar_byte|fft_bit_width)")
def _write_user(m: Machine, v: list[int], name: str) -> None:
    state, at, bits = USER_REGISTERS[name]
    setattr(m.state, state, put(getattr(m.state, state), at, bits, m.state.a[v[0]]))


@does(r"ee\.srs\.accx")
def _shift_accx(m: Machine, v: list[int]) -> None:
    shifted = signed(m.state.accx, 40) >> (m.state.a[v[1]] & 63)
    m.state.accx = shifted & (1 << 40) - 1
    m.state.a[v[0]] = min(max(shifted, -1 << 31), (1 << 31) - 1) & WORD
