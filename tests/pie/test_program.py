"""Cycles of a program are those of its instructions, times how often each was executed."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from ttikit.errors import TtiError
from ttikit.pie.assemble import rewrite
from ttikit.pie.program import Program, Routine

BASE = 0x6000_0000
SOURCE = """\
    .text
    .global f
    .type f, @function
f:  entry a1, 32            // 0
    loopgtz a3, 1f          // 3
    ee.vld.128.ip q0, a2, 16 // 6
    ee.vmulas.s8.accx q0, q1 // 9: waits for q0
    rur.accx_0 a5           // 12: waits for ACCX
1:  beqz a5, 2f             // 15
    nop                     // 18
2:  addi a4, a4, -1         // 21
    bnez a4, 2b             // 24
    callx8 a8               // 27
    l32i a6, a1, 0          // 30: lies across two words
    add a6, a6, a6          // 33
    retw.n                  // 36
    .size f, . - f
    .type g, @function
g:  mul.s f0, f1, f2        // 38
    j 1f                    // 41
    add.s f0, f0, f0        // 44
1:  add.s f0, f0, f0        // 47: lies across two words
    ret                     // 50
    .size g, . - g
    .type h, @function
h:  loop a2, 1f             // 53
    add a4, a6, a6          // 56: waits for the load of the round before
    l32i a6, a3, 0          // 59
1:  beqz a4, 3f             // 62
2:  addi a4, a4, -1         // 65
    bnez a4, 2b             // 68
    nop                     // 71
3:  nop                     // 74
    ret                     // 77
    .size h, . - h
"""


def link(folder: Path, source: str) -> Path:
    (folder / "f.s").write_text(rewrite(source, "f.s"))
    for command in (
        "llvm-mc-22 -triple=xtensa -mcpu=esp32 -filetype=obj f.s -o f.o",
        f"xtensa-lx106-elf-ld -e 0 -Ttext={BASE:#x} -o f.elf f.o",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder / "f.elf"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(link(tmp_path_factory.mktemp("elf"), SOURCE))


def routine(program: Program, name: str) -> Routine:
    found = program.routine_at(program.names[name])
    assert found
    return found


@pytest.fixture
def f(program: Program) -> Routine:
    return routine(program, "f")


def counts(**by_offset: int) -> Counter[int]:
    return Counter({BASE + int(name[1:]): n for name, n in by_offset.items()})


def test_functions(program: Program) -> None:
    assert list(program.names) == ["f", "g", "h"]
    f, g = routine(program, "f"), routine(program, "g")
    assert (f.name, len(f.code), g.name, len(g.code)) == ("f", 13, "g", 5)
    assert str(f.code[3].instruction) == "ee.vmulas.s8.accx q0, q1"
    assert [p.address - BASE for p in f.code][-3:] == [30, 33, 36]
    assert program.routine_at(BASE + 36) is f
    assert program.routine_at(BASE + 38) is g
    assert program.routine_at(BASE + 80) is program.routine_at(BASE - 1) is None


def test_a_loop_costs_its_rounds(f: Routine) -> None:
    """Ten rounds, entered twice: the first load of each waits for nothing."""
    rounds = counts(_3=2, _6=10, _9=10, _12=10)
    assert f.cycles(rounds) == 2 + 10 * (1 + 2 + 2)


def test_the_first_round_of_a_loop_waits_less(program: Program) -> None:
    h = routine(program, "h")
    assert h.cycles(counts(_53=2, _56=10, _59=10)) == 2 + 10 + 10 + (10 - 2)


def test_jumps_are_told_apart_where_they_go_to(program: Program) -> None:
    """What is behind 62 is also reached from 68, but 74 from nowhere else."""
    h = routine(program, "h")
    taken = h.taken(counts(_62=9, _65=40, _68=40, _71=6, _74=9))
    assert taken[h.at[BASE + 62]] == 3
    assert taken[h.at[BASE + 68]] == 34


def test_jumps_that_were_taken(f: Routine) -> None:
    counted = counts(_15=9, _18=4, _21=30, _24=30, _27=9)
    taken = f.taken(counted)
    assert taken[f.at[BASE + 15]] == 5
    assert taken[f.at[BASE + 24]] == 21
    # 9, 4, 30 and 30 instructions; 2 cycles for each jump, all to a whole word; the call, its
    # jump, and one cycle each time that it returns to an instruction across two words
    assert f.cycles(counted) == 9 + 4 + 30 + 30 + 2 * (5 + 21) + 9 * (1 + 2 + 1)


def test_waits_end_at_a_jump(program: Program) -> None:
    g = routine(program, "g")
    jumped = counts(_38=1, _41=1, _47=1, _50=1)
    assert g.cycles(jumped) == 1 + (1 + 3) + 1 + (1 + 2)
    fell = counts(_44=1, _47=1, _50=1)  # as never happens
    assert g.cycles(fell) == 1 + (1 + 3) + (1 + 2)


def test_executions_of_blocks(program: Program) -> None:
    blocks = {(BASE, 6): 1, (BASE + 6, 9): 3, (BASE + 38, 6): 2, (BASE - 64, 8): 5}
    counted = program.addresses(blocks)
    assert counted == counts(_0=1, _3=1, _6=3, _9=3, _12=3, _38=2, _41=2)
    assert program.cycles(counted) == {"f": 2 + 15, "g": 2 * (1 + 1 + 3)}


def test_files_that_are_not_programs(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not an ELF file")
    with pytest.raises(TtiError, match="is not an ELF file"):
        Program(tmp_path / "text")
    with pytest.raises(TtiError, match="cannot be read: No such file"):
        Program(tmp_path / "none")
    with pytest.raises(TtiError, match="is not for Xtensa"):
        Program(Path("/bin/sh"))
