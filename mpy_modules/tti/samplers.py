# Rectified flow: follow the velocity from noise (t = 1) to a latent (t = 0) in equal steps.

import _tti as ops

from .dit import VALUES


def euler(dit, ws, latent, text, steps):
    """Move `latent` (float32 [64][16]) along the flow, in place; yields (stage, buffer) per block
    and step.

    text: float32 [192], the prompt's vector with the recipe of the picture in it (`DiT.instruct`).
    """
    for i in range(steps):
        for stage in dit.velocity(ws, latent, text, i, steps):
            yield stage
        ops.euler(latent, ws.v, steps, VALUES)
        yield "step", latent
