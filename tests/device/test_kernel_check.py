"""The comparison of a board's kernels with the portable ones."""

import pytest

NAMES = [
    "quantize_rows",
    "quantize_cols_t",
    "layernorm_modulate_s8",
    "gelu",
    "gemm_s8",
    "gemm_s8_add",
    "attention_scores",
    "softmax_s8",
    "attention_values",
    "conv3x3_s8",
]
COMPARE = """
from tti import kernel_check
print(list(kernel_check.compare()))
"""
BROKEN = """
import sys, tti, _tti
from tti import kernel_check
class Broken:
    def __getattr__(self, name):
        op = getattr(_tti, name)
        if name != sys.argv[1]:
            return op
        def broken(out, *args):
            op(out, *args)
            before = _tti.portable(False)
            _tti.portable(before)
            if not before:
                out[-1] ^= 1
        return broken
kernel_check.ops = Broken()
if len(sys.argv) > 2:
    tti.load(sys.argv[2])
    print(tti.selftest())
else:
    print([name for name, same in kernel_check.compare() if not same])
"""


def test_all_kernels_equal_the_portable_ones(run_mpy):
    done = run_mpy(COMPARE)
    assert done.stdout.strip() == repr([(name, True) for name in NAMES]), done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_that_differs_is_named(run_mpy, name):
    done = run_mpy(BROKEN, name)
    assert done.stdout.strip() == repr([name]), done.stderr


def test_the_self_test_says_it(run_mpy, model):
    done = run_mpy(BROKEN, "gelu", str(model))
    assert "the kernel of gelu differs from the portable one" in done.stdout, done.stderr
    assert done.stdout.split()[-1] == "False"


def test_portable_answers_what_was_set_before(run_mpy):
    done = run_mpy("import _tti; print([_tti.portable(x) for x in (0, 1, 1, 0, 0)])")
    assert done.stdout.strip() == "[False, False, True, True, False]", done.stderr
