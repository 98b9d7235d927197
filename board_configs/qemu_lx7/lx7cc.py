#!/usr/bin/env python3
"""Compiler for the emulated LX7, with the options of gcc that a makefile passes.

usage: lx7cc.py [--call0] -c FILE.c|FILE.S -o FILE.o [OPTIONS]
       lx7cc.py -E FILE [OPTIONS]
       lx7cc.py -o FILE.elf FILE.o... -T FILE.ld [-Wl,OPTIONS]

Debian's clang has the Xtensa instructions but no whole tool chain: it makes assembly, llvm-mc
makes the object file, GNU ld for another Xtensa links. --call0 is for code that runs while the
register windows are out of order: no windows, no floats, no zero-overhead loops.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "host")]

CLANG = "clang-22"
ASSEMBLER = ("llvm-mc-22", "-triple=xtensa", "-mcpu=esp32", "-filetype=obj")
LINKER = ("xtensa-lx106-elf-ld", "-z", "noexecstack", "--no-warn-rwx-segments")

CALL0 = "density mul16 mul32 div32 nsa sext minmax clamps timers3"
WINDOWED = (
    f"{CALL0} windowed loop fp bool coprocessor mac16 threadptr exception interrupt prid miscsr "
    "debug rvector regprotect highpriinterrupts"
)
TARGET = (
    "-Qunused-arguments",
    "--target=xtensa-none-elf",
    "-mcpu=generic",
    "-ffreestanding",
    "-fno-builtin",
)
# Frame pointers break functions with variable arguments, jump tables the code's addresses.
CODE = ("-fomit-frame-pointer", "-fno-jump-tables", "-nostdlibinc")
OPTIMISATION = re.compile(r"-O.*|-f(function|data)-sections|-fno-jump-tables|-g.*")


class Stop(Exception):
    """A program failed, and has said why."""

    def __init__(self, status: int):
        self.status = status


def run(*command: str, shown: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program; its errors are shown, and failing ends this one unless not `shown`."""
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        print(f"lx7cc: {command[0]} is missing; run board_configs/setup lx7", file=sys.stderr)
        raise Stop(127) from None
    if shown or done.returncode == 0:
        sys.stderr.write(done.stderr)
    if shown and done.returncode:
        raise Stop(done.returncode)
    return done


def compile_c(clang: list[str], options: list[str], out: str) -> None:
    """Make assembly of C."""
    done = run(*clang, *options, "-S", "-o", out, "-fno-crash-diagnostics", shown=False)
    if done.returncode == 0:
        return
    if "TargetConstantPool" not in done.stderr:
        sys.stderr.write(done.stderr)
        raise Stop(done.returncode)
    # clang 22 has no instructions for `condition ? 1.0f : 0.0f`; integers do the same.
    from float_select import rewrite

    code = Path(f"{out}.ll")
    run(*clang, *options, "-S", "-emit-llvm", "-o", str(code))
    code.write_text(rewrite(code.read_text()))
    kept = [option for option in options if OPTIMISATION.fullmatch(option)]
    run(*clang, *kept, "-Xclang", "-disable-llvm-passes", "-x", "ir", str(code), "-S", "-o", out)
    code.unlink()


def preprocess_assembly(clang: list[str], options: list[str], source: str, out: str) -> None:
    """Make assembly of assembly with preprocessor lines and vector instructions."""
    from ttikit.errors import TtiError
    from ttikit.pie.assemble import rewrite

    run(*clang, *options, "-x", "assembler-with-cpp", source, "-E", "-o", out)
    code = Path(out)
    try:
        code.write_text(rewrite(code.read_text(), out))
    except TtiError as error:
        print(f"lx7cc: {error}", file=sys.stderr)
        raise Stop(1) from None


def compile_file(clang: list[str], options: list[str], source: str, out: str) -> None:
    """Make an object file."""
    if "-MD" in options:
        options = [*options, "-MT", out]
    assembly = f"{out}.s"
    if source.endswith(".c"):
        compile_c(clang, [source, *options], assembly)
    else:
        preprocess_assembly(clang, options, source, assembly)
    run(*ASSEMBLER, assembly, "-o", out)
    Path(assembly).unlink()


def link(options: list[str], out: str) -> None:
    """Link, passing on what is for the linker."""
    passed = []
    for before, option in zip(["", *options], options, strict=False):
        if option.startswith("-Wl,"):
            passed += option[4:].split(",")
        elif option.startswith("-T") or before == "-T" or option.endswith((".o", ".a")):
            passed.append(option)
    run(*LINKER, *passed, "-o", out)


def main(arguments: list[str]) -> None:
    """Do what the options say."""
    features = WINDOWED
    if "--call0" in arguments:
        features = CALL0
        arguments.remove("--call0")
    clang = [CLANG, *TARGET, *CODE, "-isystem", str(HERE / "include")]
    for feature in features.split():
        clang += ["-Xclang", "-target-feature", "-Xclang", f"+{feature}"]
    if "-E" in arguments or "--version" in arguments:
        run(*clang, *arguments)
        return
    out = "a.out"
    if "-o" in arguments:
        at = arguments.index("-o")
        out = arguments[at + 1]
        del arguments[at : at + 2]
    if "-c" not in arguments:
        link(arguments, out)
        return
    arguments.remove("-c")
    sources = [a for a in arguments if a.endswith((".c", ".S", ".s"))]
    if len(sources) != 1:
        print(f"lx7cc: one source at a time, not {len(sources)}", file=sys.stderr)
        raise Stop(2)
    arguments.remove(sources[0])
    compile_file(clang, arguments, sources[0], out)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Stop as stop:
        sys.exit(stop.status)
