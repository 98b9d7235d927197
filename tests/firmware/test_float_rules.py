"""The build's flags keep every chip's bytes the same: no multiply and add is fused."""

import platform
import re
import subprocess

import pytest

FUSED = re.compile(r"\bvfn?m(?:add|sub)")


def kernel_flags(repo):
    """The float flags that the user module's rules give to every port's compiler."""
    rules = (repo / "native" / "micropython.mk").read_text()
    return re.findall(r"^CFLAGS_USERMOD \+= (-f[\w=-]+)$", rules, re.MULTILINE)


def fused_kernels(repo, *flags):
    """Names of the kernels that have fused instructions when the chip is said to offer them."""
    core = repo / "native" / "core"
    sources = sorted(core.glob("*.c"))
    assert len(sources) >= 5
    command = ["cc", "-std=gnu99", "-O3", "-mavx2", "-mfma", *flags, "-S", "-o", "-", f"-I{core}"]
    return [
        source.name
        for source in sources
        if FUSED.search(
            subprocess.run(
                [*command, str(source)], check=True, capture_output=True, text=True
            ).stdout
        )
    ]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for x86 instructions")
def test_no_kernel_fuses_multiply_and_add(repo):
    assert fused_kernels(repo, "-ffp-contract=fast"), "the probe sees no fusing at all"
    assert fused_kernels(repo, *kernel_flags(repo)) == []


def test_both_build_systems_have_the_flag(repo):
    assert "-ffp-contract=off" in kernel_flags(repo)
    cmake = (repo / "native" / "micropython.cmake").read_text()
    assert re.search(r"^target_compile_options\(.*-ffp-contract=off\)$", cmake, re.MULTILINE)


def test_no_build_file_asks_for_fast_math(repo):
    rules = [*repo.glob("board_configs/**/*"), *repo.glob("native/*.*"), repo / "Makefile"]
    texts = {path.name: path.read_text() for path in rules if path.is_file()}
    assert "micropython.mk" in texts and "board.mk" in texts
    assert [name for name, text in texts.items() if "-ffast-math" in text] == []
