# How much memory a picture takes and how much there is, before anything runs.

import gc

from . import arena, pipeline
from .decoder import Decoder
from .dit import DiT
from .text_encoder import TextEncoder
from .weights import CACHE, open_model

_HEAD = 20480  # header, directory and description of a model file
_SPARE = 24576  # modules, views of tensors, the small objects of a run
_NAMES = {"text": "text encoder", "dit": "DiT", "decoder": "decoder"}


def graphs():
    """{graph: [(name, bytes), ...]} of a picture."""
    return pipeline.buffers(TextEncoder(None, 0), DiT(None, 0), Decoder(None, pipeline.STRIPE))


def plan():
    """Return (bytes of the arena, [(name of a graph, bytes that it uses)]) of the plan with the
    fewest parts."""
    sizes, placed = arena.plan(graphs())
    used = [
        (_NAMES[name], sum([size for _, _, _, size in placed[name] + placed["shared"]]))
        for name in ("text", "dit", "decoder")
    ]
    return sum(sizes), used


def free():
    """Return (free bytes of the heap, bytes of the largest piece that can be had); (None, None)
    where Python's memory has no fixed size."""
    if not hasattr(gc, "mem_free"):
        return None, None
    gc.collect()
    total = gc.mem_free()
    low, high = 0, total + 1
    while high - low > 256:
        middle = (low + high) // 2
        try:
            bytearray(middle)
            low = middle
        except MemoryError:
            high = middle
        gc.collect()
    return total, low


def aside():
    """Whether a picture drawn now would take the memory set aside at boot."""
    lent = arena.borrow(graphs())
    if lent:
        lent[0].end()
    return bool(lent)


def model(path, largest):
    """Return (how the model at `path` is used, bytes of memory that it takes)."""
    with open_model(path) as file:
        try:
            memoryview(file)
            return "in place", 0
        except TypeError:
            size = file.seek(0, 2)
    if largest is None or size <= largest:
        return "in memory", size
    return "piece by piece", CACHE + _HEAD


def report(path, loaded):
    """Return the lines of `tti.memory()`.

    path: of the model, None if there is none; loaded: the Pipeline, None if nothing is loaded."""
    need, used = plan()
    total, largest = free()
    size, place = need, ""
    if loaded is not None:
        need, size, place = 0, loaded.arena.size(), ", " + loaded.arena.where
        taken, told = 0, "loaded, " + loaded.weights.where
    else:
        if aside():
            need, place = 0, ", set aside at boot"
        taken, told = 0, "none found"
        if path is not None:
            where, taken = model(path, largest)
            told = "{:,} bytes, {} ({})".format(taken, where, path)
    lines = [
        "arena    {:,} bytes{}".format(size, place),
        "         in turn: " + ", ".join(["{} {:,}".format(*graph) for graph in used]),
        "picture  {:,} bytes".format(pipeline.PICTURE_BYTES),
        "model    " + told,
    ]
    if total is not None:
        lines.append("free     {:,} bytes, {:,} in one piece".format(total, largest))
        lines.append(_verdict(need + taken, total, largest))
    if loaded is None and path is None:
        lines.append("there is no model; copy faces.tti to the board or name it: tti.load(path)")
    return lines


def _verdict(pieces, total, largest):
    """One sentence. pieces: bytes that arena and model take, each in one piece if possible."""
    short = pieces + pipeline.PICTURE_BYTES + _SPARE - total
    if short > 0:
        text = "too little memory: {:,} bytes are short; free what you can, or start afresh"
        return text.format(short)
    if pieces > largest:
        return "enough memory, but in pieces, and may fail for that; a soft reset joins them"
    return "enough memory"
