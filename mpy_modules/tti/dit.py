# The diffusion transformer: which way to move a noisy latent so that it becomes a face.
#
# A latent is 64 tokens (2×2 patches of 16×16) of 16 float32 values. How strictly to follow the
# prompt and in how many steps are inputs like the prompt itself: the network was trained to know
# them, so a step is one pass through it.

import _tti as ops
from micropython import const

from . import transformer
from .transformer import rows_of

TOKENS = const(64)
PATCH = const(16)  # values of a token of the latent
DIM = const(192)
HIDDEN = const(576)
VALUES = const(1024)  # of a whole latent
GUIDES = const(5)  # rows of dit.guide: guidance 1, 2, 3, 4, 5
PACES = const(5)  # rows of dit.pace: 1, 2, 4, 8, 16 steps
_VECTOR = const(768)  # bytes of DIM float32
_ROWS = const(16)  # of dit.pos at a time


def guide_place(guidance):
    """Return (row, hundredths of the way to the next row) of dit.guide.

    guidance: in hundredths, 100 to 100 · GUIDES."""
    return guidance // 100 - 1, guidance % 100


def pace_place(steps):
    """Return (row, hundredths of the way to the next row) of dit.pace, linear in 1 / steps."""
    row = 0
    while row < PACES - 1 and 2 << row <= steps:
        row += 1
    if row == PACES - 1:
        return row, 0
    return row, (400 * (steps - (1 << row)) + steps) // (2 * steps)  # 200 (N − p) / N, half up


class DiT:
    """The DiT graph. `weights` provides the tensors dit.*"""

    def __init__(self, weights, depth):
        self.weights = weights
        self.depth = depth

    def buffers(self):
        """[(name, bytes)] of the arena that `instruct` and `velocity` use."""
        return transformer.buffers(TOKENS, DIM) + [
            ("mods", 6 * _VECTOR),
            ("time", _VECTOR),
            ("c", _VECTOR),
            ("base", 8 * _VECTOR),
            ("v", VALUES * 4),
        ]

    def instruct(self, ws, text, guidance, steps):
        """Add what tells the network guidance (hundredths) and steps to `text`, the prompt's
        vector (float32 [192])."""
        for name, place in (("dit.guide", guide_place(guidance)), ("dit.pace", pace_place(steps))):
            table = self.weights.tensor(name)
            row, hundredths = place
            vector = rows_of(table, row, _VECTOR)
            if hundredths:
                ops.lerp(ws.c, vector, rows_of(table, row + 1, _VECTOR), hundredths, DIM)
                vector = ws.c
            ops.add(text, text, vector, DIM)

    def velocity(self, ws, latent, text, i, steps):
        """ws.v = float32 [64][16], the velocity at step i of `steps`; yields per block.

        latent: float32 [64][16]; text: float32 [192], as `instruct` leaves it."""
        w = self.weights
        self._condition(ws, text, i, steps)
        self._linear("dit.patch", ws, ws.x, latent, TOKENS, DIM, PATCH)
        for part in range(TOKENS // _ROWS):
            x = rows_of(ws.x, part, _ROWS * _VECTOR)
            ops.add(x, x, w.piece("dit.pos", part, _ROWS * _VECTOR), _ROWS * DIM)
        for b in range(self.depth):
            name = "dit.blocks.%d" % b
            ops.add(ws.mods, ws.base, w.tensor(name + ".table"), 6 * DIM)
            transformer.block(w, name, ws, ws.mods, TOKENS, TOKENS, DIM, HIDDEN)
            yield name, ws.x
        shift, scale = rows_of(ws.base, 6, _VECTOR), rows_of(ws.base, 7, _VECTOR)
        ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift, scale, ws.row, TOKENS, DIM)
        weight, scale, bias = w.linear("dit.final")
        ops.gemm_s8(ws.v, ws.h, ws.sh, weight, scale, bias, TOKENS, PATCH, DIM)

    def _linear(self, name, ws, out, x, rows, cols, k):
        ops.quantize_rows(ws.h, ws.sh, x, rows, k)
        weight, scale, bias = self.weights.linear(name)
        ops.gemm_s8(out, ws.h, ws.sh, weight, scale, bias, rows, cols, k)

    def _condition(self, ws, text, i, steps):
        """ws.base = float32 [8][192]: shifts, scales and gates that all blocks share, from time
        and text."""
        w = self.weights
        freqs = w.tensor("dit.freqs")
        ops.timestep_features(ws.time, freqs, i, steps, DIM // 2)
        self._linear("dit.time1", ws, ws.c, ws.time, 1, DIM, DIM)
        ops.silu(ws.c, ws.c, DIM)
        self._linear("dit.time2", ws, ws.time, ws.c, 1, DIM, DIM)
        ops.add(ws.c, ws.time, text, DIM)
        ops.silu(ws.c, ws.c, DIM)
        ops.quantize_rows(ws.h, ws.sh, ws.c, 1, DIM)
        for row in range(8):
            ops.gemm_s8(
                rows_of(ws.base, row, _VECTOR),
                ws.h,
                ws.sh,
                w.piece("dit.adaln.weight", row, DIM * DIM),
                w.piece("dit.adaln.scale", row, _VECTOR),
                w.piece("dit.adaln.bias", row, _VECTOR),
                1,
                DIM,
                DIM,
            )
