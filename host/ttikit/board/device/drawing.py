# Sent to a board by `ttikit board generate`: draws and prints what it has drawn.
#
# Lines that begin with the mark are for the PC, all others are the board's own.

import binascii

import _tti
import tti

MARK = "tti>"
ROW = 192  # bytes of a row of the picture


def about():
    print(MARK, "about", "%08x" % tti.load().weights.fingerprint)


def draw(prompt, seed, steps, guidance):
    seed = tti.random_seed() if seed is None else seed
    out = bytearray(tti.PICTURE_BYTES)
    pipeline = tti.load()
    stages = pipeline.stages(prompt, out, seed, steps, guidance)
    for note in pipeline.notes:
        print(MARK, "note", note)
    for name, _ in stages:
        if name == "step":
            print(MARK, "step")
    for at in range(0, len(out), ROW):
        row = binascii.b2a_base64(memoryview(out)[at : at + ROW])
        print(MARK, "row", str(row, "ascii").strip())
    print(MARK, "done", seed, "%08x" % _tti.crc32(0, out))
