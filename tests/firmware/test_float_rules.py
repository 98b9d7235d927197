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


def has_fused(source, *flags):
    """Whether a kernel has fused instructions when the chip is said to offer them."""
    command = ["cc", "-std=gnu99", "-O3", "-mavx2", "-mfma", *flags, "-S", "-o", "-", str(source)]
    return bool(
        FUSED.search(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for x86 instructions")
def test_no_kernel_fuses_multiply_and_add(repo):
    sources = sorted((repo / "native" / "core").glob("*.c"))
    allowed = (source for source in sources if has_fused(source, "-ffp-contract=fast"))
    assert next(allowed, None), "the probe sees no fusing at all"
    flags = kernel_flags(repo)
    assert [source.name for source in sources if has_fused(source, *flags)] == []


def test_both_build_systems_have_the_flag(repo):
    assert "-ffp-contract=off" in kernel_flags(repo)
    cmake = (repo / "native" / "micropython.cmake").read_text()
    assert re.search(r"^target_compile_options\(.*-ffp-contract=off\)$", cmake, re.MULTILINE)


def test_no_build_file_asks_for_fast_math(repo):
    rules = [*repo.glob("board_configs/**/*"), *repo.glob("native/*.*"), repo / "Makefile"]
    texts = {
        str(path.relative_to(repo)): path.read_text()
        for path in rules
        if path.is_file() and path.suffix != ".pyc"
    }
    assert "native/micropython.mk" in texts and "board_configs/unix/board.mk" in texts
    assert [name for name, text in texts.items() if "-ffast-math" in text] == []
