# What a person may pass, and what a model file must hold; one sentence for everything else.

from . import tokenizer
from .dit import GUIDES, PACES

FORMAT = "tti text-to-image 2"  # of the model's metadata: names and shapes of its tensors
_OLD_FORMAT = "tti text-to-image 1"


def whole(name, value, low, high):
    """Return `value` if it is a whole number from `low` to `high`."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(
            "%s must be a whole number from %d to %d, not %r" % (name, low, high, value)
        )
    return value


def hundredths(guidance):
    """Return `guidance` (1 to 5, at most two decimals) as a whole number of hundredths.

    An integer is the same on boards, where Python's floats have 32 bits, and on PCs, where they
    have 64."""
    if isinstance(guidance, (int, float)) and 1 <= guidance <= GUIDES:
        n = int(guidance * 100 + 0.5)
        if -0.0005 < guidance * 100 - n < 0.0005:
            return n
    raise ValueError(
        "guidance must be a number from 1 to %d with at most two decimals, not %r"
        % (GUIDES, guidance)
    )


def picture_buffer(out, size):
    """Raise unless `out` holds `size` bytes that can be written."""
    try:
        view = memoryview(out)
        n = len(view) * len(bytes(view[:1]))
        view[0] = view[0]
    except (TypeError, IndexError, ValueError):
        raise TypeError("the picture needs a buffer that can be written: bytearray(%d)" % size)
    if n < size:
        raise ValueError("the picture needs %d bytes, the buffer has %d" % (size, n))


def model(weights, text_dim, vector):
    """Raise ValueError unless the weights are those of a model for the graphs of this package.

    text_dim: float32 values of a token's embedding; vector: of the text vector."""
    meta = weights.metadata
    form = meta.get("format") if isinstance(meta, dict) else None
    if form == _OLD_FORMAT:
        raise ValueError(
            "the model file was made for an older tti; use a newer file, such as the faces.tti"
            " that comes with this version"
        )
    if form != FORMAT:
        raise ValueError("the model file is not one that tti draws with (%s)" % FORMAT)
    for part in ("text", "dit"):
        _depth(weights, part)
    rows = min(256, weights.size("text.embed") // (4 * text_dim))
    tokenizer.check_forms(_entry(meta, "tokenizer", "forms"), rows)
    for name, rows in (("null", 1), ("dit.guide", GUIDES), ("dit.pace", PACES)):
        if weights.size(name) != 4 * vector * rows:
            raise ValueError("the tensor %s of the model file has another size" % name)


def _depth(weights, part):
    depth = _entry(weights.metadata, part, "depth")
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise ValueError("the model file does not say how many blocks %s has" % part)
    block = part + ".blocks.%d.table"
    if not weights.has(block % (depth - 1)) or weights.has(block % depth):
        raise ValueError("the model file does not have the %d blocks of %s" % (depth, part))


def _entry(meta, part, name):
    return meta[part].get(name) if isinstance(meta.get(part), dict) else None
