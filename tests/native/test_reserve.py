"""Memory set aside at boot: in as few parts as there is room for, and of the sizes of the plan."""

import ctypes
import importlib
import subprocess
from pathlib import Path

import pytest
from ttikit import simulator

ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Part(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


class Heap:
    """Free blocks of the given sizes; what is taken is gone until it is released."""

    def __init__(self, *blocks: int) -> None:
        self.free = list(blocks)
        self.taken: dict[int, tuple[int, int]] = {}

    def allocate(self, size: int) -> int | None:
        for n, block in enumerate(self.free):
            if block >= size:
                self.free[n] -= size
                address = 0x3FC90000 + 0x1000000 * len(self.taken)
                self.taken[address] = (n, size)
                return address
        return None

    def release(self, address: int) -> None:
        n, size = self.taken.pop(address)
        self.free[n] += size


@pytest.fixture
def reserve(repo: Path, tmp_path: Path) -> ctypes.CDLL:
    """A library of its own for each test: it remembers what it has set aside."""
    folder = repo / "native" / "reserve"
    library = tmp_path / "libreserve.so"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, "-o", library, folder / "reserve.c"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.tti_reserve.restype = ctypes.c_bool
    loaded.tti_reserved.restype = ctypes.POINTER(Part)
    return loaded


def set_aside(reserve: ctypes.CDLL, heap: Heap) -> list[tuple[int, int]]:
    """Call it as a board does at boot; the (address, bytes) of the parts."""
    done = reserve.tti_reserve(ALLOCATE(heap.allocate), RELEASE(heap.release))
    count = ctypes.c_size_t()
    parts = reserve.tti_reserved(ctypes.byref(count))
    assert done == (count.value > 0)
    return [(parts[n].start, parts[n].bytes) for n in range(count.value)]


def plans() -> list[list[int]]:
    """The part sizes that Python's plan asks for, by CHOICES of arena.py."""
    simulator.install()
    arena = importlib.import_module("tti.arena")
    graphs = importlib.import_module("tti.budget").graphs()
    return [arena.plan(graphs, limits)[0] for limits in arena.CHOICES]


# The first is what is free on an ESP32-S3 under MicroPython; the others are in pieces.
@pytest.mark.parametrize(
    ("blocks", "choice"),
    [((229376, 20000, 29000), 0), ((120000, 80000), 1), ((62000, 62000, 62000, 62000), 2)],
)
def test_sizes_are_those_of_the_plan(
    reserve: ctypes.CDLL, blocks: tuple[int, ...], choice: int
) -> None:
    heap = Heap(*blocks)
    parts = set_aside(reserve, heap)
    assert [size for _, size in parts] == plans()[choice]
    assert dict(parts) == {address: size for address, (_, size) in heap.taken.items()}


def test_parts_are_set_aside_once(reserve: ctypes.CDLL) -> None:
    heap = Heap(229376)
    assert set_aside(reserve, heap) == set_aside(reserve, Heap())
    assert len(heap.taken) == 1


@pytest.mark.parametrize("blocks", [(), (100000,), (107000, 50000), (60000,) * 4])
def test_too_little_takes_nothing(reserve: ctypes.CDLL, blocks: tuple[int, ...]) -> None:
    heap = Heap(*blocks)
    assert set_aside(reserve, heap) == []
    assert heap.taken == {} and heap.free == list(blocks)
    assert len(set_aside(reserve, Heap(229376))) == 1
