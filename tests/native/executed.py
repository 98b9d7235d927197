"""How much the tests have run, for the summary at their end."""

from collections import Counter

cases: Counter[str] = Counter()  # by who ran the kernels
vector_instructions = 0
