"""Benchmarks: speed and memory, side by side in one run. No test depends on them."""
