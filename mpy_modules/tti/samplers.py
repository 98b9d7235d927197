# Rectified flow: follow the velocity from noise (t = 1) to a latent (t = 0) in equal steps.

import _tti as ops

from .dit import VALUES

_BRANCH = VALUES * 4  # bytes of one velocity


def euler(dit, ws, latent, text, steps, guidance):
    """Move `latent` (float32 [64][16]) along the flow, in place; yields (stage, buffer) per block
    and step.

    text: float32 [2][192], with and without the prompt; guidance: hundredths. At 100 the branch
    without the prompt has no weight and isn't computed."""
    branches = 1 if guidance == 100 else 2
    for i in range(steps):
        for stage in dit.velocity(ws, latent, text, i, steps, branches):
            yield stage
        if branches == 2:
            ops.guide(ws.v, ws.v[_BRANCH:], guidance, VALUES)
        ops.euler(latent, ws.v, steps, VALUES)
        yield "step", latent
