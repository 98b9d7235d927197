"""What a picture calls: every op of the graphs, with the arguments of its first call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ttikit import simulator
from ttikit.simulator.drawing import Simulator

PROMPT, SEED = "пожилой мужчина", 1

# The op that begins a phase; before the first one it is the text encoder's.
PHASES = {"noise": "dit", "quantize_latent": "decoder"}
# Numbers of the arguments that lie in the model file, which a board uses in its flash.
FROM_MODEL = {
    "gemm_s8": {3, 4, 5},
    "gemm_s8_add": {4, 5, 6},
    "conv3x3_s8": {2, 3, 4, 6},
    "gelu": {2},
    "embed": {1, 2},
}
# Numbers of the arguments that count the rows of the ops that two cores compute
# (native/parallel/split.c): those that take rows in pairs, and others.
_ROWS = {"gemm_s8": 6, "gemm_s8_add": 7, "attention_scores": 7, "attention_values": 7}
_SINGLE_ROWS = {"softmax_s8": 3, "quantize_rows": 3, "layernorm_modulate_s8": 6, "gelu": 3}
_PRODUCTS = ("gemm_s8", "gemm_s8_add")  # the number of columns follows that of rows
# Multiplications by the integers among the arguments.
_MACS: dict[str, Callable[..., int]] = {
    "gemm_s8": lambda t, o, k: t * o * k,
    "gemm_s8_add": lambda t, o, k: t * o * k,
    "attention_scores": lambda _head, _row0, rows, tokens, _heads, dim: rows * tokens * dim,
    "attention_values": lambda _head, _row0, rows, tokens, _heads, dim: rows * tokens * dim,
    "conv3x3_s8": lambda _height, width, cin, cout, _flags, y0, y1, *_: (
        (y1 - y0) * width * 9 * cin * cout
    ),
}
_NO_KERNELS = ("build", "cores", "crc32", "install", "model_", "portable")


@dataclass
class Calls:
    """Calls of one op with the same sizes: how many, and the arguments of the first one.

    args: integers, None, contents of buffers; same: {argument: the earlier one that is the same
    buffer}; phase: "text", "dit" or "decoder".
    """

    phase: str
    op: str
    args: list[int | bytes | None]
    same: dict[int, int]
    count: int = 0

    @property
    def sizes(self) -> list[int]:
        """The integers among the arguments."""
        return [a for a in self.args if isinstance(a, int)]

    @property
    def macs(self) -> int:
        """Multiplications of int8 in one of the calls."""
        if self.op not in _MACS:
            return 0
        return _MACS[self.op](*self.sizes)


@dataclass(frozen=True)
class Read:
    """What one call finds in the model file: addresses and lengths, in the order of arguments."""

    phase: str
    op: str
    parts: tuple[tuple[int, int], ...]


@dataclass
class Recording:
    """The calls of a picture by phase, op and sizes, and what each of them reads of the model."""

    calls: dict[tuple[Any, ...], Calls] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    phase: str = "text"

    def note(self, op: str, args: tuple[Any, ...]) -> None:
        """Add a call."""
        self.phase = PHASES.get(op, self.phase)
        from_model = [args[i] for i in sorted(FROM_MODEL.get(op, ()))]
        parts = [np.frombuffer(part, np.uint8) for part in from_model if part is not None]
        places = tuple((part.ctypes.data, part.size) for part in parts)
        self.reads.append(Read(self.phase, op, places))
        key = (self.phase, op, *(a if isinstance(a, int) else a is None for a in args))
        if key not in self.calls:
            views = [
                a if a is None or isinstance(a, int) else np.frombuffer(a, np.uint8) for a in args
            ]
            seen: dict[int, int] = {}
            same = {}
            for i, view in enumerate(views):
                if isinstance(view, np.ndarray):
                    first = seen.setdefault(view.ctypes.data, i)
                    if first != i:
                        same[i] = first
            copies = [v.tobytes() if isinstance(v, np.ndarray) else v for v in views]
            self.calls[key] = Calls(self.phase, op, copies, same)
        self.calls[key].count += 1


def first_part(calls: Calls, columns: bool = False) -> Calls | None:
    """Return the call that the first of two cores makes; None if the op stays on one.

    columns: whether the cores share the columns of a matrix product instead of its rows. That one
    core computes small calls is left out: they take no time.
    """
    args = list(calls.args)
    if calls.op == "conv3x3_s8":
        patches, y0, y1 = args[7], args[13], args[14]
        assert isinstance(patches, bytes) and isinstance(y0, int) and isinstance(y1, int)
        args[7] = patches[: len(patches) // 2]
        args[14] = y0 + (y1 - y0 + 1) // 2
        return replace(calls, args=args)
    at = _ROWS.get(calls.op) or _SINGLE_ROWS.get(calls.op)
    if at is None:
        return None
    in_columns = columns and calls.op in _PRODUCTS
    at += in_columns
    rows = args[at]
    assert isinstance(rows, int)
    if in_columns:
        half = min((rows // 2 + 3) & ~3, rows)
    else:
        half = (rows // 2 + 1) & ~1 if calls.op in _ROWS else (rows + 1) // 2
    args[at] = half or rows
    return replace(calls, args=args)


def record(model: Path, steps: int) -> Recording:
    """Draw one picture on numpy; returns its calls in the order in which each came first."""
    drawing = Simulator(model)
    recording = Recording()
    with _watched(recording):
        drawing.draw(PROMPT, SEED, steps)
    return recording


@contextmanager
def _watched(recording: Recording) -> Iterator[None]:
    """Let the graphs call the ops through `recording`."""
    names = [name for name in simulator.__all__ if not name.startswith(_NO_KERNELS)]
    plain = {name: getattr(simulator, name) for name in names}

    def watch(name: str, op: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(op)
        def call(*args: Any) -> None:
            recording.note(name, args)
            op(*args)

        return call

    try:
        for name, op in plain.items():
            setattr(simulator, name, watch(name, op))
        yield
    finally:
        for name, op in plain.items():
            setattr(simulator, name, op)
