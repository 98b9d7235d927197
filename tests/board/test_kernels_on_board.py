"""The emulated board has the fast kernels, and finds them equal to the portable ones."""

import pytest


@pytest.mark.parametrize(
    ("cpu", "kernels"), [("m33", "m33"), ("lx7", "pie")], indirect=["cpu"], scope="session"
)
def test_kernels(mpremote, kernels):
    code = """
import _tti
from tti import kernel_check
print(set(implementation for part, implementation in _tti.build() if part != "readline"))
print([name for name, same in kernel_check.compare() if not same])
"""
    assert mpremote("exec", code).text.splitlines() == [str({kernels}), "[]"]
