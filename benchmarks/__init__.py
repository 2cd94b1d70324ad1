"""Ours beside its peers, on the same charts, in one run. ``python -m benchmarks``; see README.md."""
