# Runs on MicroPython and on CPython: draws one picture and prints the CRC of every stage.
# Arguments: model, prompt, seed, steps, guidance.

import sys

import _tti as ops
from tti.pipeline import PICTURE_BYTES, Pipeline
from tti.weights import load


def stages(model, prompt, seed, steps, guidance):
    out = bytearray(PICTURE_BYTES)
    pipeline = Pipeline(load(model))
    for name, buf in pipeline.stages(prompt, out, seed, steps, guidance):
        yield "%s %08x" % (name, ops.crc32(0, buf))
    yield "picture %08x" % ops.crc32(0, out)


if __name__ == "__main__":
    model, prompt, seed, steps, guidance = sys.argv[1:]
    for line in stages(model, prompt, int(seed), int(steps), float(guidance)):
        print(line)
