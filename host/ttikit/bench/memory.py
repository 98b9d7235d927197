"""The memory plan of a picture, from the same code that a board runs."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from ttikit import simulator


@dataclass(frozen=True)
class ArenaPlan:
    """Bytes of each part of the arena, and of the arena that text encoder and DiT alone need."""

    parts: list[int]
    text_and_dit: int


def arena_plan(model: Path) -> ArenaPlan:
    """Return the plan for the model file `model`."""
    simulator.install()
    tti = importlib.import_module("tti")
    arena = importlib.import_module("tti.arena")
    pipeline = tti.Pipeline(tti.load_weights(str(model)))
    parts = pipeline.text_encoder, pipeline.dit, pipeline.decoder
    graphs = importlib.import_module("tti.pipeline").buffers(*parts)
    del graphs["decoder"]
    sizes, _ = arena.plan(graphs)
    return ArenaPlan([len(part) for part in pipeline.arena.parts], sum(sizes))
