# Where the time of a picture goes, op by op.

import sys
import time

import _tti

from . import decoder, dit, pipeline, samplers, text_encoder, transformer

_GRAPHS = (decoder, dit, pipeline, samplers, text_encoder, transformer)
_STEPS = 8  # of the picture whose time is estimated


def _macs(name, a):
    """Multiplications of a call with the arguments `a`."""
    if name == "gemm_s8":
        return a[6] * a[7] * a[8]
    if name == "gemm_s8_add":
        return a[7] * a[8] * a[9]
    if name == "attention_scores" or name == "attention_values":
        return a[-4] * a[-3] * a[-1]
    if name == "conv3x3_s8":
        return (a[14] - a[13]) * a[9] * a[10] * 9 * a[11]
    return 0


class Stopwatch:
    """Stands in for `_tti` in the graphs: `table` is {op: [calls, microseconds, multiplications]},
    `total` the microseconds of all of them."""

    def __init__(self):
        self.table = {}
        self.total = 0

    def __getattr__(self, name):
        op = getattr(_tti, name)

        def timed(*args):
            start = time.ticks_us()
            op(*args)
            spent = time.ticks_diff(time.ticks_us(), start)
            row = self.table.setdefault(name, [0, 0, 0])
            row[0] += 1
            row[1] += spent
            row[2] += _macs(name, args)
            self.total += spent

        return timed


def measure(drawing):
    """Draw one picture of one step with the Pipeline `drawing`.

    Returns (table as in Stopwatch, {"text": microseconds, "step": ..., "decoder": ...})."""
    out = bytearray(pipeline.PICTURE_BYTES)
    word = next(iter(drawing.weights.metadata["tokenizer"]["forms"]))
    for _ in drawing.stages(word, out, 1, 1):  # each tensor has been looked up once
        pass
    watch = Stopwatch()
    parts = {"text": 0, "step": 0, "decoder": 0}
    part = "text"
    for graph in _GRAPHS:
        graph.ops = watch
    try:
        start = time.ticks_us()
        for name, _ in drawing.stages(word, out, 1, 1):
            if name in ("noise", "step"):
                now = time.ticks_us()
                parts[part] = time.ticks_diff(now, start)
                start = now
                part = "step" if name == "noise" else "decoder"
        parts[part] = time.ticks_diff(time.ticks_us(), start)
    finally:
        for graph in _GRAPHS:
            graph.ops = _tti
    return watch.table, parts


def run(drawing, write):
    """Print the clock, the kernels and a table of the ops of one picture of one step; returns the
    estimated seconds of a picture of 8 steps."""
    taken = _tti.cores(drawing.cores)
    count = taken.count()
    taken.end()
    cores = "%d core%s" % (count, "s" if count > 1 else "")
    kernels = ", ".join(["%s %s" % p for p in _tti.build()])
    write("%s, %s, kernels: %s\n" % (_chip(), cores, kernels))
    table, parts = measure(drawing)
    total = sum(parts.values())
    inside = sum([row[1] for row in table.values()])
    write("%-22s %5s %9s %6s %8s\n" % ("op", "calls", "ms", "share", "MMAC/s"))
    for name in sorted(table, key=lambda name: -table[name][1]):
        calls, spent, macs = table[name]
        speed = "%8d" % (macs // spent) if macs and spent else ""
        row = name, calls, spent / 1000, 100 * spent / total, speed
        write("%-22s %5d %9.2f %5.1f%% %s\n" % row)
    rest = total - inside
    write(
        "%-22s %5s %9.2f %5.1f%%\n" % ("Python around them", "", rest / 1000, 100 * rest / total)
    )
    seconds = (parts["text"] + _STEPS * parts["step"] + parts["decoder"]) / 1000000
    write(
        "text %.3f s, step %.3f s, decoder %.3f s: about %.2f s for %d steps\n"
        % (
            parts["text"] / 1000000,
            parts["step"] / 1000000,
            parts["decoder"] / 1000000,
            seconds,
            _STEPS,
        )
    )
    return seconds


def _chip():
    try:
        import machine

        clock = machine.freq()
        clock = clock[0] if isinstance(clock, tuple) else clock
        return "%s at %d MHz" % (sys.platform, clock // 1000000)
    except (ImportError, AttributeError):
        return sys.platform
