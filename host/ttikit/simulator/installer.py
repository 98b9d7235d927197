"""Makes the device package `tti` importable on CPython, over the numpy ops."""

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

from ttikit.errors import TtiError

HERE = Path(__file__).resolve()
# In a checkout the sources lie beside host/; an installed package may carry a copy of its own.
PLACES = (HERE.parents[3] / "mpy_modules", HERE.parents[1] / "mpy_modules")


def install() -> Path:
    """Let `import tti` find the device package, and `import _tti` in it find the simulator.

    Sets `sys.modules["_tti"]`, adds a stand-in for the module `micropython` where there is none,
    and puts the folder of device sources on `sys.path`, which it returns. Safe to call again.

    Raises:
        TtiError: the device sources are not there.
    """
    folder = next((p for p in PLACES if (p / "tti").is_dir()), None)
    if folder is None:
        raise TtiError(
            f"the device package is missing: expected the folder {PLACES[0] / 'tti'}; "
            "run from a complete checkout of the repository"
        )
    sys.modules["_tti"] = sys.modules["ttikit.simulator"]
    if "micropython" not in sys.modules and importlib.util.find_spec("micropython") is None:
        sys.modules["micropython"] = _micropython()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return folder


def _micropython() -> types.ModuleType:
    """Build the part of MicroPython's own module that only steers its compiler."""
    module = types.ModuleType("micropython", "Stand-in for MicroPython's module on CPython.")
    module.const = _same  # type: ignore[attr-defined]
    module.native = _same  # type: ignore[attr-defined]
    module.viper = _same  # type: ignore[attr-defined]
    module.opt_level = _opt_level  # type: ignore[attr-defined]
    return module


def _same(value: Any) -> Any:
    """Stand in for `const` and for the decorators that pick a code generator."""
    return value


def _opt_level(level: int | None = None) -> int | None:
    """Report level 0 and accept any other without effect."""
    return 0 if level is None else None
