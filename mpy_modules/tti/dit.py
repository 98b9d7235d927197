# The diffusion transformer: which way to move a noisy latent so that it becomes a face.
#
# A latent is 64 tokens (2×2 patches of 16×16) of 16 float32 values. Guidance needs the answer with
# and without the prompt: both branches pass through every product together, so each weight is read
# once.

import _tti as ops
from micropython import const

from . import transformer
from .transformer import rows_of

TOKENS = const(64)
PATCH = const(16)  # values of a token of the latent
DIM = const(192)
HIDDEN = const(576)
VALUES = const(1024)  # of a whole latent
_VECTOR = const(768)  # bytes of DIM float32


class DiT:
    """The DiT graph. `weights` provides the tensors dit.*"""

    def __init__(self, weights, depth):
        self.weights = weights
        self.depth = depth

    def buffers(self):
        """[(name, bytes)] of the arena that `velocity` uses, for two branches."""
        return transformer.buffers(2 * TOKENS, TOKENS, DIM, 2) + [
            ("time", _VECTOR),
            ("c", 2 * _VECTOR),
            ("base", 8 * 2 * _VECTOR),
            ("v", 2 * VALUES * 4),
        ]

    def velocity(self, ws, latent, text, i, steps, branches):
        """ws.v = float32 [branches][64][16], the velocity at step i of `steps`; yields per block.

        latent: float32 [64][16]; text: float32 [branches][192], the prompt's vector first."""
        w = self.weights
        self._condition(ws, text, i, steps, branches)
        rows = branches * TOKENS
        self._linear("dit.patch", ws, ws.x, latent, TOKENS, DIM, PATCH)
        ops.add(ws.x, ws.x, w.tensor("dit.pos"), TOKENS * DIM)
        half = TOKENS * DIM * 4
        if branches == 2:
            ws.x[half : 2 * half] = ws.x[:half]
        for b in range(self.depth):
            name = "dit.blocks.%d" % b
            self._modulate(ws, w.tensor(name + ".table"), branches)
            transformer.block(w, name, ws, ws.mods, branches, TOKENS, TOKENS, DIM, HIDDEN)
            yield name, ws.x[: branches * half]
        m = branches * _VECTOR
        shift, scale = rows_of(ws.base, 6, m), rows_of(ws.base, 7, m)
        ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift, scale, ws.row, rows, DIM, TOKENS)
        weight, scale, bias = w.linear("dit.final")
        ops.gemm_s8(ws.v, ws.h, ws.sh, weight, scale, bias, rows, PATCH, DIM)

    def _linear(self, name, ws, out, x, rows, cols, k):
        ops.quantize_rows(ws.h, ws.sh, x, rows, k)
        weight, scale, bias = self.weights.linear(name)
        ops.gemm_s8(out, ws.h, ws.sh, weight, scale, bias, rows, cols, k)

    def _condition(self, ws, text, i, steps, branches):
        """ws.base = float32 [8][branches][192]: shifts, scales and gates that all blocks share,
        from time and text."""
        freqs = self.weights.tensor("dit.freqs")
        ops.timestep_features(ws.time, freqs, i, steps, DIM // 2)
        self._linear("dit.time1", ws, ws.c, ws.time, 1, DIM, DIM)
        ops.silu(ws.c, ws.c, DIM)
        self._linear("dit.time2", ws, ws.time, ws.c, 1, DIM, DIM)
        for b in range(branches):
            ops.add(rows_of(ws.c, b, _VECTOR), ws.time, rows_of(text, b, _VECTOR), DIM)
        ops.silu(ws.c, ws.c, branches * DIM)
        ops.quantize_rows(ws.h, ws.sh, ws.c, branches, DIM)
        weight, scale, bias = self.weights.linear("dit.adaln")
        for j in range(8):
            ops.gemm_s8(
                rows_of(ws.base, j, branches * _VECTOR),
                ws.h,
                ws.sh,
                rows_of(weight, j, DIM * DIM),
                rows_of(scale, j, _VECTOR),
                rows_of(bias, j, _VECTOR),
                branches,
                DIM,
                DIM,
            )

    def _modulate(self, ws, table, branches):
        """ws.mods = float32 [6][branches][192]: the shared vectors plus this block's own table (6,
        192)."""
        for j in range(6):
            for b in range(branches):
                at = j * branches + b
                mods, base = rows_of(ws.mods, at, _VECTOR), rows_of(ws.base, at, _VECTOR)
                ops.add(mods, base, rows_of(table, j, _VECTOR), DIM)
