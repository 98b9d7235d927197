"""Each vector instruction does what the manual's entry says, on numbers worked out by hand."""

import random
import re

import numpy as np
import pytest
from ttikit.pie.interpreter import Machine, State, is_modelled, join, signed, split
from ttikit.pie.opcodes import PieError, opcodes

UNKNOWN = re.compile(r"ee\.(fft\.|cmul\.|bitrev|.*gpio).*|[rw]ur\.gpio_out")


class Bytes:
    """256 bytes from address 0x1000, each its own offset."""

    def __init__(self) -> None:
        self.data = bytearray(range(256))

    def load(self, address: int, size: int) -> int:
        return int.from_bytes(self.data[address - 0x1000 :][:size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        self.data[address - 0x1000 : address - 0x1000 + size] = value.to_bytes(size, "little")


def machine(**state: object) -> Machine:
    return Machine(Bytes(), State(**state))  # type: ignore[arg-type]


def run(m: Machine, text: str) -> State:
    name, _, operands = text.partition(" ")
    values = [int(o.strip(" qaf"), 0) for o in operands.split(",") if o.strip()]
    m.execute(opcodes()[name], values)
    return m.state


def q(*registers: list[int], bits: int = 8) -> list[int]:
    """Eight registers, the first of them with these lanes (the rest of each is zero)."""
    values = [join(lanes, bits) for lanes in registers]
    return values + [0] * (8 - len(values))


def lanes(value: int, bits: int = 8, count: int = 0) -> list[int]:
    return split(value, bits, count or 128 // bits)


def pointing(address: int, more: int = 0) -> list[int]:
    return [0, 0, address, more] + [0] * 12


def test_what_is_modelled() -> None:
    assert {n for n in opcodes() if not is_modelled(n)} == set(filter(UNKNOWN.match, opcodes()))
    with pytest.raises(PieError, match="not modelled"):
        run(machine(), "ee.bitrev q0, a2")


def test_loads_clear_low_bits_of_the_address_only() -> None:
    s = run(machine(a=pointing(0x1017)), "ee.vld.128.ip q1, a2, -16")
    assert lanes(s.q[1]) == list(range(0x10, 0x20))
    assert s.a[2] == 0x1007
    s = run(machine(a=pointing(0x1017, 0xFFFF_FFF0)), "ee.vld.128.xp q1, a2, a3")
    assert (lanes(s.q[1])[0], s.a[2]) == (0x10, 0x1007)
    s = run(machine(a=pointing(0x101F), q=[-1 & (1 << 128) - 1] * 8), "ee.vld.h.64.ip q1, a2, 8")
    assert lanes(s.q[1]) == [-1] * 8 + list(range(0x18, 0x20))
    s = run(machine(a=pointing(0x101F)), "ee.vld.l.64.ip q1, a2, 8")
    assert (lanes(s.q[1])[:9], s.a[2]) == ([*range(0x18, 0x20), 0], 0x1027)


def test_stores() -> None:
    m = machine(a=pointing(0x1017), q=q(list(range(100, 116))))
    run(m, "ee.vst.128.ip q0, a2, 32")
    assert list(m.memory.data[0x0F:0x21]) == [0x0F, *range(100, 116), 0x20]
    assert m.state.a[2] == 0x1037
    run(m, "ee.vst.h.64.ip q0, a2, 8")
    assert list(m.memory.data[0x2F:0x39]) == [0x2F, *range(108, 116), 0x38]


@pytest.mark.parametrize(
    ("text", "expected", "address"),
    [
        ("ee.vldbc.8 q0, a2", [0x13] * 16, 0x1013),
        ("ee.vldbc.8.ip q0, a2, 5", [0x13] * 16, 0x1018),
        ("ee.vldbc.16.ip q0, a2, 2", [0x12, 0x13] * 8, 0x1015),
        ("ee.vldbc.32.xp q0, a2, a3", [0x10, 0x11, 0x12, 0x13] * 4, 0x101A),
    ],
)
def test_broadcasts(text: str, expected: list[int], address: int) -> None:
    s = run(machine(a=pointing(0x1013, 7)), text)
    assert (lanes(s.q[0]), s.a[2]) == (expected, address)


def test_halfwords_doubled() -> None:
    s = run(machine(a=pointing(0x1010)), "ee.vldhbc.16.incp q0, q1, a2")
    assert lanes(s.q[0])[:8] == [0x10, 0x11, 0x10, 0x11, 0x12, 0x13, 0x12, 0x13]
    assert lanes(s.q[1])[:4] == [0x18, 0x19, 0x18, 0x19]
    assert s.a[2] == 0x1020


def test_unaligned_data() -> None:
    m = machine(a=pointing(0x1003))
    run(m, "ee.ld.128.usar.ip q0, a2, 16")
    assert (m.state.sar_byte, m.state.a[2], lanes(m.state.q[0])[0]) == (3, 0x1013, 0)
    run(m, "ee.vld.128.ip q1, a2, 16")
    assert lanes(run(m, "ee.src.q q2, q0, q1").q[2]) == list(range(3, 19))
    s = run(m, "ee.src.q.ld.ip q3, a2, 16, q0, q1")
    assert lanes(s.q[0]) == list(range(3, 19))
    assert (lanes(s.q[3])[0], s.a[2]) == (0x20, 0x1033)
    s = run(m, "ee.src.q.qup q4, q1, q3")
    assert lanes(s.q[4]) == list(range(0x13, 0x23))
    assert s.q[1] == s.q[3]
    m.state.a[2] = 0x1085
    run(m, "ee.srcq.128.st.incp q1, q3, a2")
    assert list(m.memory.data[0x80:0x90]) == [*range(0x23, 0x30), 0x20, 0x21, 0x22]


def test_indexed_words() -> None:
    m = machine(a=pointing(0x1002), q=q([0, 0, 3], bits=16))
    assert lanes(run(m, "ee.ldxq.32 q1, q0, a2, 1, 2").q[1])[:9] == [0] * 4 + [12, 13, 14, 15, 0]
    m.state.q[1] = join([1, 2, 3, 4], 32)
    run(m, "ee.stxq.32 q1, q0, a2, 3, 0")
    assert list(m.memory.data[:5]) == [4, 0, 0, 0, 4]
    m.state.q[0] = 0x8000
    with pytest.raises(PieError, match="index above 32767"):
        run(m, "ee.ldxq.32 q1, q0, a2, 1, 0")


def test_floats() -> None:
    m = machine(a=pointing(0x1008))
    s = run(m, "ee.ldf.128.ip f3, f2, f1, f0, a2, 16")
    assert s.f[:4] == [0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C]
    run(m, "ee.stf.64.ip f1, f3, a2, 8")
    assert list(m.memory.data[0x18:0x20]) == [12, 13, 14, 15, 4, 5, 6, 7]
    assert m.state.a[2] == 0x1020


def test_accumulators_in_memory() -> None:
    m = machine(a=pointing(0x1000), accx=0x80_0000_0001)
    run(m, "ee.st.accx.ip a2, 8")
    assert list(m.memory.data[:9]) == [1, 0, 0, 0, 0x80, 0, 0, 0, 8]
    assert run(m, "ee.ld.accx.ip a2, 8").accx == 0x0C0B0A0908
    m.state.a[2] = 0x1020
    run(m, "ee.ld.qacc_l.l.128.ip a2, 16")
    run(m, "ee.ld.qacc_l.h.32.ip a2, 16")
    run(m, "ee.ld.qacc_h.l.128.ip a2, 16")
    run(m, "ee.ld.qacc_h.h.32.ip a2, -48")
    parts = [*range(0x20, 0x34), *range(0x40, 0x54)]
    assert split(m.state.qacc, 8, 40) == parts
    m.state.a[2] = 0x1090
    run(m, "ee.st.qacc_h.l.128.ip a2, 16")
    run(m, "ee.st.qacc_h.h.32.ip a2, 4")
    assert list(m.memory.data[0x90:0xA5]) == [*range(0x40, 0x54), 0xA4]


def test_user_registers() -> None:
    m = machine(accx=0xAB_1234_5678, qacc=join(list(range(40)), 8), ua_state=5 << 96)
    assert run(m, "rur.accx_1 a4").a[4] == 0xAB
    assert run(m, "rur.qacc_h_4 a4").a[4] == 0x27262524
    assert run(m, "rur.qacc_l_1 a4").a[4] == 0x07060504
    assert run(m, "rur.ua_state_3 a4").a[4] == 5
    m.state.a[5] = 0xFFFF_FFF7
    assert run(m, "wur.accx_1 a5").accx == 0xF7_1234_5678
    assert run(m, "wur.sar_byte a5").sar_byte == 7
    run(m, "wur.qacc_h_0 a5")
    assert split(m.state.qacc, 8, 40, is_signed=False)[19:25] == [19, 0xF7, 255, 255, 255, 24]


def test_widening_into_qacc() -> None:
    s = run(machine(q=q([-1, 2], bits=16)), "ee.mov.s16.qacc q0")
    assert lanes(s.qacc, 40, 8)[:3] == [-1, 2, 0]
    s = run(machine(q=q([-1] * 16)), "ee.mov.u8.qacc q0")
    assert lanes(s.qacc, 20, 16) == [255] * 16
    s = run(machine(a=pointing(0x1089)), "ee.ldqa.s8.128.ip a2, 16")
    assert lanes(s.qacc, 20, 16) == [i - 128 for i in range(16)]


def test_dot_product_saturates_once_at_the_true_minimum() -> None:
    m = machine(q=q([-128] * 16, [127] * 16), accx=5)
    assert run(m, "ee.vmulas.s8.accx q0, q1").accx == 5 - 16 * 128 * 127 & (1 << 40) - 1
    m.state.accx = 1 << 39
    assert signed(run(m, "ee.vmulas.s8.accx q0, q1").accx, 40) == -(1 << 39)
    m.state.accx = (1 << 39) - 1
    assert run(m, "ee.vmulas.s8.accx q0, q0").accx == (1 << 39) - 1
    m.state.accx = (1 << 40) - 1
    assert run(m, "ee.vmulas.u8.accx q0, q0").accx == (1 << 40) - 1


def test_lanes_of_qacc_saturate() -> None:
    """What a chip of revision 0.2 gave for the same inputs (recorded by others)."""
    m = machine(q=q([-1] * 16, [127] * 16, [-128] * 16), qacc=join([0xFFFF5] * 16, 20))
    assert (
        split(run(m, "ee.vmulas.u8.qacc q0, q0").qacc, 20, 16, is_signed=False) == [0xFFFFF] * 16
    )
    m.state.qacc = join([-(1 << 19) + 1] * 16, 20)
    assert lanes(run(m, "ee.vmulas.s8.qacc q1, q2").qacc, 20, 16) == [-(1 << 19)] * 16
    m.state.qacc = join([(1 << 19) - 1] * 16, 20)
    assert lanes(run(m, "ee.vmulas.s8.qacc q1, q1").qacc, 20, 16) == [(1 << 19) - 1] * 16


def test_fused_access_comes_after_the_arithmetic() -> None:
    m = machine(q=q([1] * 16, [2] * 16), a=pointing(0x1022))
    s = run(m, "ee.vmulas.s8.accx.ld.ip q0, a2, -16, q0, q1")
    assert (s.accx, lanes(s.q[0])[0], s.a[2]) == (32, 0x20, 0x1012)
    m = machine(q=q([1] * 16, [2] * 16), a=pointing(0x1022))
    s = run(m, "ee.vsmulas.s8.qacc.ld.incp q1, a2, q0, q1, 3")
    assert lanes(s.qacc, 20, 16) == [2] * 16
    assert (lanes(s.q[1])[3], s.a[2]) == (0x23, 0x1032)
    m.state.a[2] = 0x1031
    s = run(m, "ee.vmulas.s8.qacc.ldbc.incp q0, a2, q0, q0")
    assert (lanes(s.qacc, 20, 16), lanes(s.q[0]), s.a[2]) == ([3] * 16, [0x31] * 16, 0x1032)
    s = run(m, "ee.vadds.s8.st.incp q0, a2, q1, q0, q0")
    assert list(m.memory.data[0x2F:0x41]) == [0x2F, *[0x31] * 16, 0x40]
    assert lanes(s.q[1]) == [98] * 16


def test_aligning_while_multiplying() -> None:
    m = machine(
        a=pointing(0x1040), q=q([1] * 16, list(range(16)), list(range(16, 32))), sar_byte=5
    )
    s = run(m, "ee.vmulas.s8.accx.ld.ip.qup q3, a2, 16, q0, q1, q1, q2")
    assert s.accx == sum(range(16))
    assert lanes(s.q[1]) == list(range(5, 21))
    assert (lanes(s.q[3])[0], s.a[2]) == (0x40, 0x1050)


def test_reading_sums_out() -> None:
    m = machine(qacc=join([1000, -1000, 511, -513, *[0] * 12], 20), a=pointing(0, 2))
    s = run(m, "ee.srcmb.s8.qacc q0, a3, 0")
    assert lanes(s.q[0])[:4] == [127, -128, 127, -128]
    assert lanes(s.qacc, 20, 16)[:4] == [250, -250, 127, -129]
    m.state.a[3] = 33  # five bits of it count here, six there
    assert lanes(run(m, "ee.srcmb.s8.qacc q0, a3, 0").qacc, 20, 16)[:2] == [125, -125]
    m.state.a[3] = 2
    m.state.qacc = join([1 << 38, -(1 << 39), 3], 40)
    assert lanes(run(m, "ee.srcmb.s16.qacc q0, a3, 0").q[0], 16)[:3] == [32767, -32768, 0]
    m.state.accx = -9 & (1 << 40) - 1
    s = run(m, "ee.srs.accx a4, a3, 0")
    assert (signed(s.a[4], 32), signed(s.accx, 40)) == (-3, -3)
    m.state.accx = 1 << 38
    s = run(m, "ee.srs.accx a4, a3, 0")
    assert (s.a[4], s.accx) == (0x7FFF_FFFF, 1 << 36)


def test_lane_products() -> None:
    m = machine(q=q([-128, 127, 3], [-128, 2, -5]), sar=2)
    assert lanes(run(m, "ee.vmul.s8 q2, q0, q1").q[2])[:3] == [0, 63, -4]
    assert lanes(run(m, "ee.vmul.u8 q2, q0, q1").q[2])[:3] == [0, 63, -68]
    m.state.sar = 32
    with pytest.raises(PieError, match="SAR above 31"):
        run(m, "ee.vmul.s8 q2, q0, q1")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adds", [-128, 127, 0, 5]),
        ("subs", [0, -128 + 129, 0, -1]),
        ("max", [-128, 127, 0, 3]),
        ("min", [-128, 126, 0, 2]),
        ("cmp.eq", [-1, 0, -1, 0]),
        ("cmp.lt", [0, 0, 0, -1]),
        ("cmp.gt", [0, -1, 0, 0]),
    ],
)
def test_lane_by_lane(name: str, expected: list[int]) -> None:
    m = machine(q=q([-128, 127, 0, 2], [-128, 126, 0, 3]))
    assert lanes(run(m, f"ee.v{name}.s8 q2, q0, q1").q[2])[:4] == expected


def test_wide_lanes_saturate() -> None:
    m = machine(q=q([-(1 << 31), (1 << 31) - 1], [-1, 1], bits=32))
    result = lanes(run(m, "ee.vadds.s32 q2, q0, q1").q[2], 32)
    assert result[:2] == [-(1 << 31), (1 << 31) - 1]
    result = lanes(run(m, "ee.vsubs.s32 q2, q1, q0").q[2], 32)
    assert result[:2] == [(1 << 31) - 1, -(1 << 31) + 2]


def test_rectifiers() -> None:
    m = machine(q=q([-100, 100, 0, -1], [3, 3, 3, -64]), a=[0, 0, 0xFD, 1] + [0] * 12)
    assert lanes(run(m, "ee.vprelu.s8 q2, q0, q1, a3").q[2])[:4] == [106, 100, 0, 32]
    assert lanes(run(m, "ee.vrelu.s8 q0, a2, a3").q[0])[:4] == [-106, 100, 0, 1]


def test_bits() -> None:
    m = machine(q=q([0b1100] * 16, [0b1010] * 16))
    for name, expected in (("and", 0b1000), ("or", 0b1110), ("xor", 0b0110)):
        assert lanes(run(m, f"ee.{name}q q2, q0, q1").q[2]) == [expected] * 16
    assert lanes(run(m, "ee.notq q2, q0").q[2]) == [~0b1100] * 16
    m = machine(q=q([-8, 1 << 30], bits=32), sar=2)
    assert lanes(run(m, "ee.vsr.32 q1, q0").q[1], 32)[:2] == [-2, 1 << 28]
    assert lanes(run(m, "ee.vsl.32 q1, q0").q[1], 32)[:2] == [-32, 0]


def test_pairs_of_registers() -> None:
    low, high = list(range(16)), list(range(16, 32))
    m = machine(q=q(low, high))
    s = run(m, "ee.srci.2q q1, q0, 2")
    assert lanes(s.q[0]) + lanes(s.q[1]) == [*range(3, 32), 0, 0, 0]
    s = run(m, "ee.slci.2q q1, q0, 0")
    assert lanes(s.q[0]) + lanes(s.q[1]) == [0, *range(3, 32), 0, 0]
    m = machine(q=q(low, high), a=pointing(0x12, 0x10))
    s = run(m, "ee.srcxxp.2q q1, q0, a2, a3")
    assert (lanes(s.q[0])[0], s.a[2]) == (3, 0x22)
    for bits, second in ((8, 16), (16, 1), (32, 1)):
        m = machine(q=q(low, high))
        s = run(m, f"ee.vzip.{bits} q0, q1")
        assert lanes(s.q[0])[:2] == [0, second]
        assert lanes(s.q[0])[bits // 8] == 16
        s = run(m, f"ee.vunzip.{bits} q0, q1")
        assert lanes(s.q[0]) + lanes(s.q[1]) == low + high


def test_moves() -> None:
    m = machine(q=q([1, 2, 3, 4], bits=32), a=pointing(0, 9))
    assert run(m, "ee.movi.32.a q0, a4, 2").a[4] == 3
    assert lanes(run(m, "ee.movi.32.q q0, a3, 1").q[0], 32) == [1, 9, 3, 4]
    assert run(m, "mv.qr q5, q0").q[5] == m.state.q[0]
    assert run(m, "ee.zero.q q0").q[0] == 0
    m.state.accx = m.state.qacc = 77
    assert run(m, "ee.zero.qacc").accx == 77
    assert run(m, "ee.zero.accx").accx == m.state.qacc == 0


@pytest.mark.parametrize("bits", [8, 16])
def test_products_equal_numpy(bits: int) -> None:
    rng = np.random.default_rng(bits)
    dtype = np.dtype(f"int{bits}")
    x, y = (rng.integers(-(1 << bits - 1), 1 << bits - 1, 128 // bits, dtype) for _ in range(2))
    registers = [int.from_bytes(v.tobytes(), "little") for v in (x, y)] + [0] * 6
    start = random.Random(bits).randrange(-(1 << 15), 1 << 15)
    s = run(machine(q=registers, accx=start & (1 << 40) - 1), f"ee.vmulas.s{bits}.accx q0, q1")
    assert signed(s.accx, 40) == start + int(np.dot(x.astype(np.int64), y.astype(np.int64)))
    s = run(machine(q=registers), f"ee.vsmulas.s{bits}.qacc q0, q1, 5")
    width = 320 * bits // 128
    assert lanes(s.qacc, width, 128 // bits) == (x.astype(np.int64) * y[5]).tolist()
