"""The timers of one actor system on one clock.

One alarm is booked at a time, for the earliest timer. So timers ring in the
order of their due times, those of one moment in the order in which they were
set, whatever the clock does with alarms that are close together; an overdue
timer of a restored system takes its place in that order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from ...interpreter.deliveries import Timer
from .asyncio_clock import Alarm, Clock

_LAZY = 64


class Alarms:
    """Calls ``ring`` with each timer once it is due. An actor has one only while it has timers."""

    __slots__ = ("_booked", "_booked_for", "_clock", "_heap", "_offset", "_ring", "_timers", "now")

    def __init__(self, clock: Clock, ring: Callable[[Timer], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._heap: list[tuple[float, int]] = []
        self._timers: dict[int, Timer] = {}
        self._booked: Alarm | None = None
        self._booked_for = 0.0
        self._offset = 0.0
        self.now: Callable[[], float] = clock.now
        """Milliseconds; never less than when a restored system was saved."""

    def go_on_from(self, saved: float) -> None:
        """Time was ``saved`` already: a clock that is behind (a manual one begins at 0) counts from there."""
        self._offset = offset = max(0.0, saved - self._clock.now())
        if offset:
            read = self._clock.now
            self.now = lambda: read() + offset

    def __len__(self) -> int:
        return len(self._timers)

    @property
    def is_spare(self) -> bool:
        """Whether a new one would do as well."""
        return not (self._timers or self._booked or self._offset)

    def set(self, timer: Timer) -> None:
        """A timer was set. A due time that is no number, or in the past, is now."""
        due = timer.due if timer.due == timer.due and timer.delay >= 0 else self.now()
        self._timers[timer.handle] = timer
        heapq.heappush(self._heap, (due, timer.handle))
        self._book()

    def drop(self, timer: Timer) -> None:
        """A timer was cancelled; nothing happens when it has rung."""
        if self._timers.pop(timer.handle, None) is None:
            return
        if len(self._heap) > _LAZY and len(self._heap) > 2 * len(self._timers):
            self._heap = [entry for entry in self._heap if entry[1] in self._timers]
            heapq.heapify(self._heap)
        self._book()

    def close(self) -> None:
        """Ring no more."""
        self._timers.clear()
        self._heap.clear()
        self._book()

    def _book(self) -> None:
        """Have exactly one alarm: for the earliest timer, if there is one."""
        heap = self._heap
        while heap and heap[0][1] not in self._timers:
            heapq.heappop(heap)
        if self._booked is not None:
            if heap and heap[0][0] == self._booked_for:
                return
            self._booked.cancel()
            self._booked = None
        if heap:
            self._booked_for = heap[0][0]
            self._booked = self._clock.call_at(self._booked_for - self._offset, self._rung)

    def _rung(self) -> None:
        """Ring everything that is due; a clock may round and ring a little early."""
        self._booked = None
        now = max(self.now(), self._booked_for)
        due: list[Timer] = []
        heap = self._heap
        while heap and heap[0][0] <= now:
            timer = self._timers.pop(heapq.heappop(heap)[1], None)
            if timer is not None:
                due.append(timer)
        self._book()
        for timer in due:
            self._ring(timer)
