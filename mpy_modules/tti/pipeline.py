# Prompt → tokens → vector → latent → picture.

from time import sleep

import _tti as ops
from _tti import cores  # not by way of `ops`, which a Stopwatch replaces

from . import checks, samplers
from .arena import Arena
from .decoder import SIZE, Decoder
from .dit import VALUES, DiT
from .text_encoder import DIM, OUT, TextEncoder
from .tokenizer import MAX_TOKENS, Tokenizer

try:
    from _thread import allocate_lock
except ImportError:  # a board without threads

    class allocate_lock:
        def acquire(self, wait):
            return True

        def release(self):
            pass

        def locked(self):
            return False


PICTURE_BYTES = SIZE * SIZE * 3
MAX_STEPS = 100
DRAWING = "this pipeline is drawing; wait for it, or give each thread a Pipeline of its own"
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
    picture given up half-way gives the core back when its generator is closed or collected.

    Threads that draw at once need a Pipeline each; on one, they get a RuntimeError."""

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
        self._newest = None  # the tokens of the picture that was started last
        self._stage = allocate_lock()  # held within a stage, not between two

    def stages(self, prompt, out, seed=0, steps=8, guidance=3):
        """Draw `prompt` into `out` (12,288 bytes, RGB rows); a generator of (stage, buffer) as the
        work goes on.

        The arguments are checked at once, before the first stage. The stages are "tokens", each
        block of the text encoder, "text", "noise", each block of the DiT and "step" `steps` times,
        and the parts of the decoder; `buffer` is what the stage has computed and may be read until
        the next one. Raises TypeError or ValueError for a bad argument, RuntimeError while another
        thread draws. A stage that such a thread begins just then is waited for; its picture
        ends."""
        seed = checks.whole("seed", seed, 0, 0xFFFFFFFF)
        steps = checks.whole("steps", steps, 1, MAX_STEPS)
        guidance = checks.hundredths(guidance)
        checks.picture_buffer(out, PICTURE_BYTES)
        ids = bytearray(MAX_TOKENS)
        n, self.notes = self.tokenizer.encode(prompt, ids)
        if self._stage.locked():
            raise RuntimeError(DRAWING)
        self._newest = ids
        return self._stages(ids, n, out, seed, steps, guidance)

    def _stages(self, ids, n, out, seed, steps, guidance):
        stage = self._stage
        leave = (bool, stage.release)  # made now: later there may be no memory for it
        held = False
        taken = cores(self.cores)
        try:
            for done in self._work(ids, n, out, seed, steps, guidance):
                held = held and stage.release()  # "tokens", the first, is done without it
                yield done
                while not held:
                    held = stage.acquire(False)
                    self._go_on(held, ids)
        finally:
            taken.end()
            leave[bool(held)]()  # no branch, at which Ctrl-C could come

    def _go_on(self, held, ids):
        if ids is not self._newest:
            raise RuntimeError(
                "another picture was started on this pipeline, which ended this one"
            )
        if not held:  # by an older picture, which ends after its stage
            sleep(0.001)

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
