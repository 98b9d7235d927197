# Latent to picture: 3×3 convolutions, ReLU, two doublings of the size.
#
#   16×16×4 → 64 ─ res ─ ×2 → 48 ─ res ─ ×2 → 32 ─ res → 64×64×3
#
# The last, largest stage is computed in horizontal stripes with the halo that three convolutions
# need, so its full activations (2 × 131 KB) never exist. The picture is the same, bit for bit, for
# any height of the stripes.

import _tti as ops
from micropython import const

SIZE = const(64)
UP = const(1)  # flags of conv3x3_s8
RELU = const(2)
BYTES = const(4)
_HALO = const(3)  # rows above and below a stripe
_CALL_MACS = const(
    3000000
)  # multiplications per call, so that Ctrl-C and USB stay alive on a chip


class Decoder:
    """The decoder graph. `weights` provides the tensors decoder.*; `stripe` is the rows of a
    stripe, 1..64."""

    def __init__(self, weights, stripe):
        self.weights = weights
        self.stripe = stripe

    def buffers(self):
        """[(name, bytes)] of the arena that `run` uses."""
        stripe = min(SIZE, self.stripe + 2 * _HALO) * SIZE * 32
        return [
            ("a", max(stripe, 32 * 32 * 48)),
            ("b", max(stripe, 16 * 16 * 64)),
            ("c", 32 * 32 * 48),
            ("latent", 16 * 16 * 4),
            ("patches", 32 * 576),
        ]

    def run(self, ws, out, latent):
        """out (12,288 bytes, RGB rows) = the picture of `latent` (float32 [64][16]); yields per
        layer."""
        w = self.weights
        m, b = w.tensor("decoder.latent.m"), w.tensor("decoder.latent.b")
        ops.quantize_latent(ws.latent, latent, m, b, 16, 16)
        conv = self._conv
        conv(ws, "conv_in", ws.b, ws.latent, 16, 4, 64, 0)
        conv(ws, "res1.conv1", ws.a, ws.b, 16, 64, 64, RELU)
        conv(ws, "res1.conv2", ws.b, ws.a, 16, 64, 64, RELU, True)
        yield "decoder.16", ws.b[: 16 * 16 * 64]
        conv(ws, "up1", ws.c, ws.b, 32, 64, 48, UP | RELU)
        conv(ws, "res2.conv1", ws.a, ws.c, 32, 48, 48, RELU)
        conv(ws, "res2.conv2", ws.c, ws.a, 32, 48, 48, RELU, True)
        yield "decoder.32", ws.c
        for y in range(0, SIZE, self.stripe):
            self._stripe(ws, out, y, min(SIZE, y + self.stripe))
            yield "decoder.64", out

    def _stripe(self, ws, out, y0, y1):
        """Rows y0 ≤ y < y1 of the picture. Window `a` starts at row a0, window `b` at row b0."""
        a0, b0 = max(0, y0 - 3), max(0, y0 - 2)
        conv = self._conv
        conv(ws, "up2", ws.a, ws.c, 64, 48, 32, UP | RELU, False, a0, min(SIZE, y1 + 3), 0, a0)
        conv(ws, "res3.conv1", ws.b, ws.a, 64, 32, 32, RELU, False, b0, min(SIZE, y1 + 2), a0, b0)
        last = min(SIZE, y1 + 1)
        conv(ws, "res3.conv2", ws.a, ws.b, 64, 32, 32, RELU, True, max(0, y0 - 1), last, b0, a0)
        conv(ws, "conv_out", out, ws.a, 64, 32, 3, RELU | BYTES, False, y0, y1, a0, 0)

    def _conv(
        self,
        ws,
        name,
        out,
        x,
        size,
        cin,
        cout,
        flags,
        residual=False,
        y0=0,
        y1=0,
        in_y0=0,
        out_y0=0,
    ):
        """One layer on rows y0 ≤ y < y1 (all rows if y1 is 0), a few rows per call."""
        w = self.weights
        name = "decoder." + name
        weight, m, b = w.tensor(name + ".weight"), w.tensor(name + ".m"), w.tensor(name + ".b")
        r = w.tensor(name + ".r") if residual else None
        y1 = y1 or size
        rows = _CALL_MACS // (size * 9 * cin * cout)
        rows = rows & -2 or 1  # even, for two cores
        while y0 < y1:
            ops.conv3x3_s8(
                out,
                x,
                weight,
                m,
                b,
                out if residual else None,
                r,
                ws.patches,
                size,
                size,
                cin,
                cout,
                flags,
                y0,
                min(y1, y0 + rows),
                in_y0,
                out_y0,
            )
            y0 += rows
