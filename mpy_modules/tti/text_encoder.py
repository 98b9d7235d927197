# Token ids to one vector: a small transformer, averaged over the tokens.

import _tti as ops
from micropython import const

from . import transformer

TOKENS = const(32)
DIM = const(96)
HIDDEN = const(288)
OUT = const(192)


class TextEncoder:
    """The text encoder graph. `weights` provides the tensors text.*"""

    def __init__(self, weights, depth):
        self.weights = weights
        self.depth = depth

    def buffers(self):
        """[(name, bytes)] of the arena that `run` uses."""
        return transformer.buffers(TOKENS, DIM) + [("mods", 6 * DIM * 4), ("pooled", DIM * 4)]

    def run(self, ws, out, ids, n):
        """out (float32 [192]) = the vector of the first n of the 32 token ids in `ids` (bytes);
        yields per block.

        Without a token it is the vector that the network learned for a hidden prompt."""
        w = self.weights
        if not n:
            out[:] = w.tensor("null")
            return
        ops.embed(ws.x, w.tensor("text.embed"), w.tensor("text.pos"), ids, TOKENS, DIM)
        for i in range(self.depth):
            name = "text.blocks.%d" % i
            ws.mods[:] = w.tensor(name + ".table")
            transformer.block(w, name, ws, ws.mods, TOKENS, n, DIM, HIDDEN)
            yield name, ws.x
        ops.mean_rows(ws.pooled, ws.x, n, DIM)
        ops.quantize_rows(ws.h, ws.sh, ws.pooled, 1, DIM)
        weight, scale, bias = w.linear("text.proj")
        ops.gemm_s8(out, ws.h, ws.sh, weight, scale, bias, 1, OUT, DIM)
        yield "text", out
