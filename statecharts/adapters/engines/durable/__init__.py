"""The durable host: instances in a store, effects performed by workers.

The parts that decide anything (:mod:`.committing`, :mod:`.worker`,
:mod:`.reconciling`, :mod:`.pump`) block, know no event loop, and take time and
chance from outside; a test can drive them one step at a time in one thread.
:mod:`.runtime` runs them in threads behind an event loop, and calls users'
coroutines in that loop.
"""
