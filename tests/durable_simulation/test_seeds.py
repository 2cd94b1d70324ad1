"""Two thousand seeds, in chunks: whatever happens, what has to hold holds, and everything comes to rest.

The table at the end (``-rP`` shows it) counts what was met on the way.
"""
