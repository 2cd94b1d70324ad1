"""Measures how long an event loop is kept from turning."""

from __future__ import annotations

import asyncio
from time import thread_time
from types import TracebackType


class Ticker:
    """Turns with the loop as often as it can. ``worst`` is the longest gap.

    In seconds of the thread's own computing time, so that what other
    processes take from the machine does not count.
    """

    def __init__(self) -> None:
        self.worst = 0.0
        self.turns = 0

    async def _tick(self) -> None:
        last = thread_time()
        while True:
            await asyncio.sleep(0)
            now = thread_time()
            self.worst = max(self.worst, now - last)
            self.turns += 1
            last = now

    async def __aenter__(self) -> Ticker:
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
