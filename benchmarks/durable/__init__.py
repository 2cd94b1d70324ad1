"""``python -m benchmarks.durable``: what an event costs that survives a crash, here and elsewhere."""
