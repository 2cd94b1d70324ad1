"""Clocks for the asyncio host: the wall clock, and one that tests move by hand."""

from __future__ import annotations

import asyncio
import heapq
import threading
import time
from collections.abc import Callable
from typing import Protocol

PATIENCE = 2000
"""Turns of the loop that a manual clock waits for actors that are busy."""
SOON = 0.001
"""Seconds: a timer that is this close may ring while the loop makes a few turns."""


class Alarm(Protocol):
    """A call that has been booked; ``cancel`` calls it off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time for a host, in milliseconds.

    ``now`` is absolute, so that saved due times keep their meaning.
    ``call_at`` calls back once, in the event loop's thread, when ``due`` is
    reached (soon, when it is past).
    """

    def now(self) -> float: ...
    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm: ...


class WallClock:
    """Milliseconds since the epoch; alarms by the running event loop."""

    __slots__ = ()

    def now(self) -> float:
        """Unix time in ms."""
        return time.time() * 1000

    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm:
        """Book ``callback`` with the running loop."""
        delay = max(0.0, due - self.now()) / 1000
        return asyncio.get_running_loop().call_later(delay, callback)


class _ManualAlarm:
    __slots__ = ("_clock", "callback")

    def __init__(self, clock: ManualClock, callback: Callable[[], None]) -> None:
        self._clock = clock
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None
            self._clock._dropped()


class ManualClock:
    """A clock that stands still until :meth:`advance`; each alarm rings at its own due time.

    Actors that use it are let come to rest between two alarms.
    """

    def __init__(self, now: float = 0) -> None:
        self._now = now
        self._alarms: list[tuple[float, int, _ManualAlarm]] = []
        self._count = 0
        self._dead = 0
        self._busy: dict[object, Callable[[], bool]] = {}

    def now(self) -> float:
        """The time it was moved to, in ms."""
        return self._now

    @property
    def pending(self) -> int:
        """How many alarms are booked."""
        return len(self._alarms) - self._dead

    def call_at(self, due: float, callback: Callable[[], None]) -> Alarm:
        """Book ``callback``; an alarm that is overdue rings at the next :meth:`advance`, even by 0."""
        alarm = _ManualAlarm(self, callback)
        self._count += 1
        heapq.heappush(self._alarms, (max(due, self._now), self._count, alarm))
        return alarm

    def _dropped(self) -> None:
        """Keep the list short when alarms are booked and called off all the time."""
        self._dead += 1
        if self._dead > 32 and self._dead * 2 > len(self._alarms):
            self._alarms = [entry for entry in self._alarms if entry[2].callback is not None]
            heapq.heapify(self._alarms)
            self._dead = 0

    def ring_next(self, end: float) -> bool:
        """Move to the next alarm that is due by ``end`` and ring it; false when there is none."""
        while self._alarms and self._alarms[0][0] <= end:
            due, _, alarm = heapq.heappop(self._alarms)
            callback, alarm.callback = alarm.callback, None
            if callback is None:
                self._dead -= 1
                continue
            self._now = max(self._now, due)
            callback()
            return True
        return False

    def attend(self, actor: object, is_busy: Callable[[], bool]) -> None:
        """An actor lives by this clock: time does not pass while it is busy."""
        self._busy[actor] = is_busy

    def leave(self, actor: object) -> None:
        """An actor is over."""
        self._busy.pop(actor, None)

    async def advance(self, ms: float) -> None:
        """Let ``ms`` pass, ringing what is due in order and letting the loop work in between.

        Tasks get a few turns of the loop after each alarm (as long as any is
        ready), and actors as many as they need to come to rest (up to
        :data:`PATIENCE`: one may wait for something that only the caller can
        bring about).
        """
        await asyncio.sleep(0)  # whoever advances in a loop must not keep the event loop from turning
        loop = asyncio.get_running_loop()
        if not self._is_settled(loop):
            await self._settle()
        end = self._now + ms
        while self.ring_next(end):
            if not self._is_settled(loop):
                await self._settle()
        self._now = max(self._now, end)

    def _is_settled(self, loop: asyncio.AbstractEventLoop) -> bool:
        return is_quiet(loop) and not any(is_busy() for is_busy in self._busy.values())

    async def _settle(self) -> None:
        await settle_loop()
        for _ in range(PATIENCE):
            if not any(is_busy() for is_busy in self._busy.values()):
                return
            await asyncio.sleep(0)


async def settle_loop(turns: int = 20) -> None:
    """Give tasks that are ready a few turns of the loop; no more when it is plain that nothing would happen in them."""
    loop = asyncio.get_running_loop()
    for _ in range(turns):
        if is_quiet(loop):
            return
        await asyncio.sleep(0)


def is_quiet(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether nothing will happen in the loop's next turns: nobody is ready, no timer close, no file or thread may wake it.

    Only asyncio's own loops let one see that; of others (uvloop's) it is not known.
    """
    if getattr(loop, "_ready", True):
        return False
    timers, selector = getattr(loop, "_scheduled", ()), getattr(loop, "_selector", None)
    if timers and timers[0].when() - loop.time() < SOON:
        return False
    files = getattr(selector, "get_map", lambda: None)()  # one of them is what wakes the loop itself
    return files is not None and len(files) <= 1 and threading.active_count() == 1
