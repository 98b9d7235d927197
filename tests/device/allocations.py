# Runs on the firmware: draws one picture with the garbage collector off and watches the heap.
# Prints the largest allocation between two op calls, that of a whole step, and the calls.
# Arguments: model.

import gc
import sys

import _tti
import micropython
from tti import decoder, dit, samplers, text_encoder, transformer
from tti.pipeline import PICTURE_BYTES, Pipeline
from tti.weights import load


class Watch:
    """Stands in for `_tti` in the graphs and notes how much the heap grew since the last op."""

    def __init__(self):
        self.largest = self.calls = 0
        self.last = None

    def __getattr__(self, name):
        op = getattr(_tti, name)

        def call(*args):
            before = gc.mem_alloc()
            op(*args)
            self.largest = max(self.largest, gc.mem_alloc() - before)
            self.calls += 1

        return call


out = bytearray(PICTURE_BYTES)
pipeline = Pipeline(load(sys.argv[1]))
pipeline.generate_into(out, "девушка", 1, 1)  # each tensor has been looked up once
watch = Watch()
for module in (decoder, dit, samplers, text_encoder, transformer):
    if hasattr(module, "ops"):
        module.ops = watch
pipeline.generate_into(out, "девушка", 1, 1)
for module in (decoder, dit, samplers, text_encoder, transformer):
    module.ops = _tti

gc.collect()
gc.disable()
steps = []
for name, _ in pipeline.stages("девушка", out, 1, 3):
    if name in ("noise", "step"):
        steps.append(gc.mem_alloc())
        if "-v" in sys.argv:
            micropython.mem_info()
gc.enable()
print(watch.largest, max(steps[i + 1] - steps[i] for i in range(len(steps) - 1)), watch.calls)
