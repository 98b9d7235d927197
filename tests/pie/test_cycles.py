"""The cycle model gives what the manual's rules give by hand, and finds loops in sources."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ttikit.pie.cycles import FunctionCost, cost, report
from ttikit.pie.opcodes import PieError, opcodes
from ttikit.pie.pipeline import Instruction, Round, run, steady_round
from ttikit.pie.source import Loop, functions, preprocess
from ttikit.pie.stages import effects, rule


def code(*lines: str) -> list[Instruction]:
    (function,) = functions("\n".join(lines))
    return function.code


def waits(total: Round) -> list[int]:
    return [wait.cycles for wait in total.waits]


def six_resident(*end: str) -> list[str]:
    """Six registers of weights stay, activations stream through two."""
    loads = [f"ee.vmulas.s8.accx.ld.ip q{j % 2}, a2, 16, q{j % 2}, q{2 + j}" for j in range(6)]
    return [*loads, *end]


def by_lane(depth: int) -> list[str]:
    """Sixteen outputs in QACC: 17 instructions for 16 terms of each, `depth` terms in all."""
    terms = [
        f"ee.vsmulas.s8.qacc.ld.incp q{1 + k % 2}, a3, q{1 + k % 2}, q0, {k}" for k in range(15)
    ]
    last = ["ee.vsmulas.s8.qacc.ld.incp q0, a2, q2, q0, 15", "ee.vld.128.ip q2, a3, 16"]
    return (terms + last) * (depth // 16)


def tile(depth: int) -> list[str]:
    """The same with the bias loaded before and the results stored after."""
    return [
        "ee.ld.qacc_l.l.128.ip a5, 16",
        "ee.ld.qacc_l.h.32.ip a5, 16",
        "ee.ld.qacc_h.l.128.ip a5, 16",
        "ee.ld.qacc_h.h.32.ip a5, -48",
        "ee.vld.128.ip q0, a2, 16",
        "ee.vld.128.ip q1, a3, 16",
        "ee.vld.128.ip q2, a3, 16",
        *by_lane(depth)[:-1],
        "addi a3, a3, -16",
        "ee.srcmb.s8.qacc q3, a6, 0",
        "ee.vst.128.ip q3, a4, 16",
    ]


# Published loops and the two that this project's kernels grew from, by hand from the manual's
# rules. In `tile` the halves of QACC are registers of their own, so only the loads of the upper
# words of each half wait.
KNOWN = {
    "esp-nn's dot product": (
        ["ee.vmulas.s8.accx.ld.ip q0, a2, 16, q0, q1", "ee.vld.128.ip q1, a3, 16"],
        3,
        3.0,
    ),
    "esp-dl's, four registers in turn": (
        [
            "ee.vld.128.ip q2, a3, 16",
            "ee.vmulas.s8.accx.ld.ip q3, a4, 16, q0, q1",
            "ee.vld.128.ip q0, a3, 16",
            "ee.vmulas.s8.accx.ld.ip q1, a4, 16, q2, q3",
        ],
        4,
        2.0,
    ),
    "resident, sums left": (six_resident("ee.st.accx.ip a4, 8", "ee.zero.accx"), 9, 1.5),
    "resident, sums stored": (
        six_resident("addi a4, a4, 4", "rur.accx_0 a8", "ee.zero.accx", "s32i a8, a4, 0"),
        10,
        1.667,
    ),
    "by lane, inside": (by_lane(16), 17, 1.0625),
    "by lane, tile of 32": (tile(32), 45, 1.41),
    "by lane, tile of 96": (tile(96), 113, 1.18),
    "by lane, tile of 192": (tile(192), 215, 1.12),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_loops(name: str) -> None:
    lines, cycles, per_16 = KNOWN[name]
    steady = steady_round(code(*lines))
    assert steady.cycles == cycles
    assert steady.per_16 == pytest.approx(per_16, abs=0.005)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ee.vld.128.ip q0, a2, 16", "ee.vmax.s8 q1, q0, q2", "ee.vst.128.ip q1, a3, 16"], [1]),
        (["ee.vmul.s16 q0, q1, q2", "ee.vadds.s16 q0, q0, q2"], [1]),
        (["ee.vmulas.s8.accx q0, q1", "ee.vmulas.s8.accx q2, q3"], []),
        (["ee.vmulas.s8.accx q0, q1", "ee.st.accx.ip a2, 8"], [1]),
        (["ee.vmulas.s8.qacc q0, q1", "nop", "ee.srcmb.s8.qacc q0, a2, 0"], []),
        (["ee.vrelu.s8 q0, a2, a3", "ee.vst.128.ip q0, a4, 16"], [1]),
        (["ee.ld.qacc_l.l.128.ip a2, 16", "ee.ld.qacc_h.l.128.ip a2, 16"], []),
        (["ee.ld.qacc_l.l.128.ip a2, 16", "ee.ld.qacc_l.h.32.ip a2, 16"], [1]),
        (["ee.vmulas.s8.qacc q0, q1", "rur.qacc_h_0 a2"], [1]),
        (["ee.ld.128.usar.ip q0, a2, 16", "ee.src.q q2, q0, q1"], [1]),
        (["addi a2, a2, 1", "add a3, a2, a2"], []),
        (["l32i a2, a3, 0", "add a4, a2, a2"], [1]),
        (["l32i.n a2, a3, 0", "nop.n", "add.n a4, a2, a2"], []),
        (["mull a2, a3, a4", "s32i a2, a5, 0"], [1]),
        (["mul.s f0, f1, f2", "add.s f0, f0, f3"], [3]),
        (["mul.s f0, f1, f2", "mul.s f4, f1, f2", "add.s f0, f0, f3"], [2]),
        (["lsi f0, a2, 0", "add.s f1, f0, f0"], [1]),
        (["quou a2, a3, a4", "add a5, a6, a6"], []),
        (["ssr a2", "srl a3, a4"], []),
        (["addi a1, a1, 16", "l32i a2, sp, 0"], []),
    ],
)
def test_waits(lines: list[str], expected: list[int]) -> None:
    assert [w for w in waits(run(code(*lines))) if w] == expected


def test_a_division_holds_the_core() -> None:
    assert run(code("quou a2, a3, a4", "nop")).cycles == 14


def test_every_vector_instruction_has_stages() -> None:
    for opcode in opcodes().values():
        found = rule(opcode.name)
        assert found, opcode.name
        assert len(found[0]) == len(opcode.operands), opcode.name
        for operand, letters in zip(opcode.operands, found[0], strict=True):
            assert (operand.kind == "i") == (letters == "-"), opcode.name


def test_every_load_defines_its_register_late() -> None:
    loads = [
        n for n in opcodes() if re.search(r"\.v?ld|\.ldq|\.ldx|\.ldf", n) and "qacc_" not in n
    ]
    assert len(loads) > 80
    for name in loads:
        named, others = rule(name) or ([], [])
        written = [letters for letters in [*named, *others] if letters.split(":")[-1][0] in "dD"]
        assert written and written[0].upper().endswith("D2"), name


def test_a_loop_of_one_instruction() -> None:
    (function,) = functions("f:\n nop\n1: bnez a2, 1b\n ret")
    assert function.loops() == [Loop(1, 1, hardware=False)]


def test_fused_loads_define_late_and_pointers_early() -> None:
    does = effects("ee.vmulas.s8.qacc.ld.xp", ("q0", "a2", "a3", "q1", "q2"))
    assert dict(does.writes) == {"q0": 2, "a2": 1, "QACC_L": 2, "QACC_H": 2}
    assert dict(does.reads) == {"a2": 1, "a3": 1, "q1": 1, "q2": 1, "QACC_L": 2, "QACC_H": 2}
    assert does.macs == 16
    assert effects("ee.vsmulas.s16.qacc", ("q0", "q1", "0")).macs == 8


def test_unknown_instructions_are_a_sentence() -> None:
    for line, said in (
        ("frobnicate a2", "line 2: the pipeline's rules have no instruction frobnicate"),
        ("add a2, a3", "line 2: add takes 3 operands, not 2"),
        ("ee.zero.q q9", "line 2: ee.zero.q q9: q9 is not a register q0..q7"),
    ):
        with pytest.raises(PieError, match=f"^{re.escape(said)}$"):
            functions(f"f:\n {line}")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (".macro", "line 1: .macro has no name"),
        (".rept N\n nop\n.endr", "line 1: .rept takes a number"),
        (".macro again\n again\n.endm\nf: again", "have no instruction again"),
    ],
)
def test_odd_macros_are_a_sentence(source: str, said: str) -> None:
    with pytest.raises(PieError, match=re.escape(said)):
        functions(source)


@pytest.mark.parametrize(("end", "said"), [("x", "ends nowhere"), ("1f", "ends where it begins")])
def test_loops_without_an_end_are_a_sentence(end: str, said: str) -> None:
    (function,) = functions(f"f:\n loop a2, {end}\n1: nop")
    with pytest.raises(PieError, match=rf"^line 2: loop a2, {end} {said}$"):
        function.loops()


SOURCE = """\
#define TWICE(q) ee.vmulas.s8.accx q, q; ee.vmulas.s8.accx q, q
    .macro begin name
    .global \\name
\\name:
    .endm
    .macro pair to, from
    mov \\to, \\from
    .endm
    begin first
    entry a1, 32
    loopgtz a3, 1f
    ee.vld.128.ip q0, a2, 16
#ifdef WIDE
    TWICE(q0)
#endif
1:  addi a4, a4, -1
    .rept 2
    pair a5, a6
    .endr
    bnez a4, 1b
    retw.n
second:
.Lagain:
    ee.vld.128.ip q0, a2, 16
    loopnez a3, .Lend
    nop
.Lend: ee.vmulas.s8.accx q0, q1
    bgez a4, .Lagain
    ret
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "k.S"
    path.write_text(SOURCE)
    return path


def costs(source: Path, *defines: str) -> list[FunctionCost]:
    return [cost(function) for function in functions(preprocess(source, defines))]


def test_loops_of_a_source(source: Path) -> None:
    first, second = costs(source, "WIDE")
    assert [first.function.name, second.function.name] == ["first", "second"]
    inner, outer = first.loops
    assert (inner.loop.hardware, inner.lines, inner.instructions) == (True, (12, 14), 3)
    assert (inner.round.cycles, inner.round.macs) == (4, 32)
    assert (outer.loop.hardware, outer.lines, outer.instructions) == (False, (16, 20), 4)
    assert outer.round.cycles == 4 + 2  # the jump back
    assert first.outside.cycles == 3  # entry, loopgtz, retw

    inner, outer = second.loops
    assert (inner.instructions, inner.round.cycles) == (1, 1)
    assert (outer.instructions, outer.round.cycles) == (4, 6)  # without the nop
    assert outer.round.per_16 == 6
    assert len(costs(source)[0].loops[0].round.waits) == 1  # without WIDE


def test_report_marks_waits(source: Path) -> None:
    lines = list(report(costs(source, "WIDE")[0]))
    assert "    14 +1 q0        | ee.vmulas.s8.accx q0, q0" in lines
    assert lines[-3:] == [
        "  zero-overhead loop, lines 12-14: 3 instructions, 4 cycles, 1 of them waiting;"
        " 2.00 cycles per 16 MAC",
        "  loop, lines 16-20: 4 instructions, 6 cycles, 0 of them waiting",
        "  outside of loops: 3 instructions, 3 cycles, 0 of them waiting",
    ]


def ttikit(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ttikit", "pie", "cycles", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_command(source: Path, tmp_path: Path) -> None:
    done = ttikit(source, "-D", "WIDE", "--json")
    first, _ = json.loads(done.stdout)
    assert first["loops"][0]["cycles_per_16_mac"] == 2.0
    assert "first:\n" in ttikit(source).stdout
    empty = tmp_path / "empty.S"
    empty.write_text("// nothing\n")
    done = ttikit(empty)
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no code" in done.stderr
    done = ttikit(tmp_path / "none.S")
    assert done.stderr == f"ttikit: {tmp_path}/none.S: No such file or directory\n"
    assert ttikit(tmp_path).stderr == f"ttikit: {tmp_path}: not a file\n"
    empty.write_bytes(b'// \xff\n#include "none.h"\n\xff\n')
    done = ttikit(empty)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.h" in done.stderr and "Traceback" not in done.stderr


def test_kernels_of_this_repository_can_be_modelled(repo: Path) -> None:
    for path in sorted((repo / "native" / "core").glob("*_pie.S")):
        found = costs(path, "TTI_PIE=1")
        assert found, path
