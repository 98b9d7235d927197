"""The device package on this PC, over the numpy simulator, and a model to run it with."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from ttikit import simulator

sys.path.insert(0, str(Path(__file__).parent))
import random_model


@pytest.fixture(scope="session")
def tti() -> ModuleType:
    """The package `tti` of the boards, imported on CPython."""
    simulator.install()
    return importlib.import_module("tti")


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of a model file with random weights."""
    return random_model.write(tmp_path_factory.mktemp("model") / "random.tti")


@pytest.fixture(scope="session")
def shipped(repo: Path) -> Path:
    """Path of the model that the repository ships."""
    return repo / "models" / "faces.tti"
