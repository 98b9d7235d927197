"""Sources in GNU syntax become what llvm-mc assembles, with the vector instructions as bytes."""

import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from ttikit.pie.assemble import main, rewrite
from ttikit.pie.opcodes import PieError

SOURCE = """\
#define DOT(u, w) ee.vmulas.s8.accx.ld.ip q##u, a2, 16, q##u, q##w
    .text
    .global f // with a comment; ee.zero.q q7
f:  entry a1, 32 # ee.zero.q q7
    ee.zero.accx; ee.vld.128.ip q1, a3, -2048 /* ; */
1:  DOT(0, 1); DOT(1, 0)
    EE.VLDBC.8.IP q3, a4, 1
    .ascii "; ee.zero.q q0 # //"
    .byte 0
    .word 1
    retw.n
"""
CODE = (
    "364100 040825 3480c3 2e0182f0 2e410af0 4481d5".replace(" ", "")
    + b"; ee.zero.q q0 # //\0\1\0\0\0".hex()
    + "1df0"
)


def test_source_assembles_unchanged(tmp_path: Path) -> None:
    (tmp_path / "f.S").write_text(SOURCE)
    steps = (
        ["clang-22", "-E", "-x", "assembler-with-cpp", "f.S", "-o", "f.i"],
        [sys.executable, "-m", "ttikit.pie.assemble", "f.i", "f.s"],
        ["llvm-mc-22", "-triple=xtensa", "-mcpu=esp32", "-filetype=obj", "f.s", "-o", "f.o"],
    )
    for step in steps:
        subprocess.run(step, cwd=tmp_path, check=True)
    with (tmp_path / "f.o").open("rb") as file:
        assert ELFFile(file).get_section_by_name(".text").data().hex() == CODE


def test_other_lines_stay_as_they_are() -> None:
    source = '# 1 "x.S"\n\t.p2align 2\nf:\n  loopgtz a2, 1f  # ee.x\n1: .string "#;"\n\n'
    assert rewrite(source, "x") == source


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("nop\nee.zero.q q9", "k.s:2: ee.zero.q q9: q9 is not a register q0..q7"),
        ('# 7 "dir/k.S" 2\nnop\nee.foo', "dir/k.S:8: ee.foo is not an instruction"),
        ("ee.zero.q q\\n", "k.s:1: ee.zero.q q\\n: use #define"),
        (".align 4", "k.s:1: .align means bytes or a power of two"),
        ("a: b: nop; ee.zero.accx a2", "k.s:1: ee.zero.accx a2: it takes 0 operands"),
    ],
)
def test_mistakes_are_one_sentence(source: str, error: str) -> None:
    with pytest.raises(PieError) as raised:
        rewrite(source, "k.s")
    assert error in str(raised.value)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "k.s"
    source.write_text("ee.zero.q q9\n")
    assert main([str(source), str(tmp_path / "out")]) == 2
    assert "k.s:1: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([str(tmp_path / "none"), "x"]) == 2
    assert "No such file" in capsys.readouterr().err
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage: ")


def test_needs_nothing_but_python(repo: Path) -> None:
    """A build runs it with the system's Python, which has no packages."""
    code = "import sys, ttikit.pie.assemble as a; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(repo / "host")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"numpy", "capstone", "typer"} & set(done.stdout.split())
