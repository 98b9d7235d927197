# Prompt → tokens → vector → latent → picture.

import _tti as ops
from _tti import cores  # not by way of `ops`, which a Stopwatch replaces

from . import checks, samplers
from .arena import Arena
from .decoder import SIZE, Decoder
from .dit import VALUES, DiT
from .text_encoder import DIM, OUT, TextEncoder
from .tokenizer import MAX_TOKENS, Tokenizer

PICTURE_BYTES = SIZE * SIZE * 3
MAX_STEPS = 100
STRIPE = 16  # rows of the decoder's last stage at a time


def buffers(text_encoder, dit, decoder):
    """{graph: [(name, bytes), ...]} of a whole picture; those of "shared" outlive the others."""
    return {
        "shared": [("latent", VALUES * 4), ("text", OUT * 4)],
        "text": text_encoder.buffers(),
        "dit": dit.buffers(),
        "decoder": decoder.buffers(),
    }


class Pipeline:
    """Draws pictures with one model. One picture at a time: a new one ends an unfinished one.

    weights: a provider such as `weights.Weights`; stripe: rows that the decoder computes at a time
    in its last stage; limits: the most bytes of each part of the arena (default: what fits).

    cores, an attribute: 2 to draw with the chip's second core, if there is one and no `_thread`
    has it; 1 to leave it alone; 0, as at first, for what is best here. The picture is the same. A
    picture given up half-way gives the core back when its generator is closed or collected."""

    cores = 0

    def __init__(self, weights, stripe=STRIPE, limits=None):
        checks.model(weights, DIM, OUT)
        meta = weights.metadata
        self.weights = weights
        self.tokenizer = Tokenizer(meta["tokenizer"]["forms"])
        self.text_encoder = TextEncoder(weights, meta["text"]["depth"])
        self.dit = DiT(weights, meta["dit"]["depth"])
        self.decoder = Decoder(weights, stripe)
        self.arena = Arena(buffers(self.text_encoder, self.dit, self.decoder), limits)
        self.notes = []  # sentences about the last prompt
        self._run = 0

    def stages(self, prompt, out, seed=0, steps=8, guidance=3):
        """Draw `prompt` into `out` (12,288 bytes, RGB rows); a generator of (stage, buffer) as the
        work goes on.

        The arguments are checked at once, before the first stage. The stages are "tokens", each
        block of the text encoder, "text", "noise", each block of the DiT and "step" `steps` times,
        and the parts of the decoder; `buffer` is what the stage has computed and may be read until
        the next one. Raises TypeError or ValueError for a bad argument."""
        seed = checks.whole("seed", seed, 0, 0xFFFFFFFF)
        steps = checks.whole("steps", steps, 1, MAX_STEPS)
        guidance = checks.hundredths(guidance)
        checks.picture_buffer(out, PICTURE_BYTES)
        ids = bytearray(MAX_TOKENS)
        n, self.notes = self.tokenizer.encode(prompt, ids)
        self._run += 1
        return self._stages(self._run, ids, n, out, seed, steps, guidance)

    def _stages(self, run, ids, n, out, seed, steps, guidance):
        taken = cores(self.cores)
        try:
            for stage in self._work(ids, n, out, seed, steps, guidance):
                yield stage
                if run != self._run:
                    raise RuntimeError(
                        "another picture was started on this pipeline, which ended this one"
                    )
        finally:
            taken.end()

    def _work(self, ids, n, out, seed, steps, guidance):
        views = self.arena.views
        shared = views["shared"]
        yield "tokens", ids
        for stage in self.text_encoder.run(views["text"], shared.text, ids, n):
            yield stage
        ops.noise(shared.latent, seed, VALUES)
        yield "noise", shared.latent
        self.dit.instruct(views["dit"], shared.text, guidance, steps)
        for stage in samplers.euler(self.dit, views["dit"], shared.latent, shared.text, steps):
            yield stage
        for stage in self.decoder.run(views["decoder"], out, shared.latent):
            yield stage

    def generate_into(self, out, prompt, seed=0, steps=8, guidance=3):
        """Draw `prompt` into `out` (12,288 bytes, RGB rows)."""
        stages = self.stages(prompt, out, seed, steps, guidance)
        try:
            for _ in stages:
                pass
        finally:
            stages.close()  # an exception out here, too, gives the second core back at once
