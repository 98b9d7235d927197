"""`tti.bench()` on the firmware: every op is in the table, and the graphs run as before."""

import re

CODE = """
import sys, tti, _tti
tti.load(sys.argv[1])
seconds = tti.bench()
from tti import decoder, dit, pipeline, samplers, stopwatch, text_encoder, transformer
assert all(g.ops is _tti for g in (decoder, dit, pipeline, samplers, text_encoder, transformer))
table, parts = stopwatch.measure(tti.load())
for name in table:
    print(name, table[name][0], table[name][2])
print(seconds)
"""

STOPPED = """
import sys, tti, _tti
from tti import dit, stopwatch
tti.load(sys.argv[1])
def stop(*args):
    raise KeyboardInterrupt
class Stops:
    def __getattr__(self, name):
        return stop if name == "softmax_s8" else getattr(_tti, name)
stopwatch._tti = Stops()
for _ in range(2):
    try:
        tti.load()._run = 0
        stopwatch.measure(tti.load())
    except KeyboardInterrupt:
        print("stopped", dit.ops is stopwatch._tti)
"""


def test_the_table_counts_every_multiplication(run_mpy, model):
    done = run_mpy(CODE, str(model))
    assert done.rc == 0, done.stderr + done.stdout
    lines = done.stdout.splitlines()
    assert re.match(r"linux, [12] cores?, kernels: gemm_s8 \w+, ", lines[0])
    end = next(i for i, line in enumerate(lines) if line.startswith("Python around"))
    shares = [float(re.search(r"([\d.]+)%", line)[1]) for line in lines[2 : end + 1]]
    assert abs(sum(shares) - 100) < 1.5
    assert shares[:-1] == sorted(shares[:-1], reverse=True)
    parts = [float(x) for x in re.findall(r"([\d.]+) s\b", lines[end + 1])]
    assert len(parts) == 4 and 0 < parts[3] < 100
    counted = {n: (int(c), int(m)) for n, c, m in map(str.split, lines[end + 2 : -1])}
    text = 3 * (4 * 32 * 96 * 96 + 2 * 32 * 96 * 288) + 96 * 192
    step = 6 * (4 * 64 * 192 * 192 + 2 * 64 * 192 * 576) + 64 * 16 * 192 * 2 + 10 * 192 * 192
    assert counted["gemm_s8"][1] + counted["gemm_s8_add"][1] == text + step
    attention = 3 * 3 * 32 * 32 * 32 + 6 * 6 * 64 * 64 * 32
    assert counted["attention_scores"][1] == counted["attention_values"][1] == attention
    assert counted["conv3x3_s8"][1] > 226_000_000  # and the halos of the stripes


def test_an_interruption_leaves_the_graphs_as_they_were(run_mpy, model):
    done = run_mpy(STOPPED, str(model))
    assert done.rc == 0, done.stderr + done.stdout
    assert done.stdout.splitlines() == ["stopped True"] * 2
