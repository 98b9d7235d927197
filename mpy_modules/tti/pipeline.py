# Prompt → tokens → vector → latent → picture.

import _tti as ops

from . import samplers
from .arena import PART_LIMITS, Arena
from .decoder import SIZE, Decoder
from .dit import VALUES, DiT
from .text_encoder import OUT, TextEncoder
from .tokenizer import MAX_TOKENS, Tokenizer

PICTURE_BYTES = SIZE * SIZE * 3
MAX_STEPS = 100
MAX_GUIDANCE = 20


def _whole(name, value, low, high):
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(
            "%s must be a whole number from %d to %d, not %r" % (name, low, high, value)
        )
    return value


def hundredths(guidance):
    """Return `guidance` (0 to 20, at most two decimals) as a whole number of hundredths.

    An integer is the same on boards, where Python's floats have 32 bits, and on PCs, where they
    have 64."""
    if isinstance(guidance, (int, float)) and 0 <= guidance <= MAX_GUIDANCE:
        n = int(guidance * 100 + 0.5)
        if -0.01 < guidance * 100 - n < 0.01:
            return n
    raise ValueError(
        "guidance must be a number from 0 to %d with at most two decimals, not %r"
        % (MAX_GUIDANCE, guidance)
    )


class Pipeline:
    """Draws pictures with one model. One picture at a time: a new one ends an unfinished one.

    weights: a provider such as `weights.Weights`; stripe: rows that the decoder computes at a time
    in its last stage; limits: the most bytes of each part of the arena."""

    def __init__(self, weights, stripe=32, limits=PART_LIMITS):
        meta = weights.metadata
        self.weights = weights
        self.tokenizer = Tokenizer(meta["tokenizer"]["forms"])
        self.text_encoder = TextEncoder(weights, meta["text"]["depth"])
        self.dit = DiT(weights, meta["dit"]["depth"])
        self.decoder = Decoder(weights, stripe)
        self.arena = Arena(
            {
                "shared": self.shared(),
                "text": self.text_encoder.buffers(),
                "dit": self.dit.buffers(),
                "decoder": self.decoder.buffers(),
            },
            limits,
        )
        self.notes = []  # sentences about the last prompt
        self._run = 0

    def shared(self):
        """[(name, bytes)] of the buffers that outlive a graph."""
        return [("latent", VALUES * 4), ("text", 2 * OUT * 4)]

    def stages(self, prompt, out, seed=0, steps=8, guidance=3):
        """Draw `prompt` into `out` (12,288 bytes, RGB rows); a generator of (stage, buffer) as the
        work goes on.

        The arguments are checked at once, before the first stage. The stages are "tokens", each
        block of the text encoder, "text", "noise", each block of the DiT and "step" `steps` times,
        and the parts of the decoder; `buffer` is what the stage has computed and may be read until
        the next one. Raises TypeError or ValueError for a bad argument."""
        seed = _whole("seed", seed, 0, 0xFFFFFFFF)
        steps = _whole("steps", steps, 1, MAX_STEPS)
        guidance = hundredths(guidance)
        if len(memoryview(out)) < PICTURE_BYTES:
            raise ValueError(
                "the picture needs %d bytes, the buffer has %d" % (PICTURE_BYTES, len(out))
            )
        ids = bytearray(MAX_TOKENS)
        n, self.notes = self.tokenizer.encode(prompt, ids)
        self._run += 1
        return self._stages(self._run, ids, n, out, seed, steps, guidance)

    def _stages(self, run, ids, n, out, seed, steps, guidance):
        for stage in self._work(ids, n, out, seed, steps, guidance):
            yield stage
            if run != self._run:
                raise RuntimeError(
                    "another picture was started on this pipeline, which ended this one"
                )

    def _work(self, ids, n, out, seed, steps, guidance):
        views = self.arena.views
        shared = views["shared"]
        half = OUT * 4
        yield "tokens", ids
        for stage in self.text_encoder.run(views["text"], shared.text[:half], ids, n):
            yield stage
        shared.text[half : 2 * half] = self.weights.tensor("null")
        ops.noise(shared.latent, seed, VALUES)
        yield "noise", shared.latent
        for stage in samplers.euler(
            self.dit, views["dit"], shared.latent, shared.text, steps, guidance
        ):
            yield stage
        for stage in self.decoder.run(views["decoder"], out, shared.latent):
            yield stage

    def generate_into(self, out, prompt, seed=0, steps=8, guidance=3):
        """Draw `prompt` into `out` (12,288 bytes, RGB rows)."""
        for _ in self.stages(prompt, out, seed, steps, guidance):
            pass
