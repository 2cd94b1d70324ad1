"""Clocks for the asyncio host: the wall clock, and one that tests move by hand."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from typing import Protocol


class Alarm(Protocol):
    """A call that has been booked; ``cancel`` calls it off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time for a host, in milliseconds. ``now`` is absolute, so that saved due times keep their meaning."""

    def now(self) -> float: ...
    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm: ...


class WallClock:
    """Milliseconds since the epoch; alarms by the running event loop."""

    def now(self) -> float:
        return time.time() * 1000

    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm:
        delay = max(0.0, due - self.now()) / 1000
        return asyncio.get_running_loop().call_later(delay, callback)


class _ManualAlarm:
    __slots__ = ("callback", "cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class ManualClock:
    """A clock that stands still until :meth:`advance`; each alarm rings at its own due time."""

    def __init__(self, now: float = 0) -> None:
        self._now = now
        self._alarms: list[tuple[float, int, _ManualAlarm]] = []
        self._count = 0

    def now(self) -> float:
        return self._now

    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm:
        alarm = _ManualAlarm(callback)
        self._count += 1
        heapq.heappush(self._alarms, (max(due, self._now) if due == due else self._now, self._count, alarm))
        return alarm

    async def advance(self, ms: float) -> None:
        """Let ``ms`` pass, ringing what is due in order and letting the loop work in between."""
        end = self._now + ms
        while self._alarms and self._alarms[0][0] <= end:
            due, _, alarm = heapq.heappop(self._alarms)
            if alarm.cancelled:
                continue
            self._now = max(self._now, due)
            alarm.callback()
            await settle_loop()
        self._now = end
        await settle_loop()


async def settle_loop(turns: int = 20) -> None:
    """Give tasks that are ready a few turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
