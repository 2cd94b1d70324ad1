"""Virtual clocks: time that passes when it is told to.

:class:`ExactClock` stops at each due timer in turn, so a timer set while
another fires counts from that moment. :class:`JumpingClock` is XState's
``SimulatedClock``: it moves the time first and then fires what is due.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...interpreter.deliveries import Timer

Fire = Callable[[Timer], None]


class VirtualClock(Protocol):
    """A clock in milliseconds that a simulation owns."""

    now: float

    def arm(self, timer: Timer) -> None: ...
    def disarm(self, timer: Timer) -> None: ...
    def advance(self, ms: float, fire: Fire) -> None: ...
    def next_due(self) -> float | None: ...


NO_TIMERS: dict[int, tuple[float, Timer]] = {}
"""What a clock starts with. Shared and never written to."""


class ExactClock:
    """Fires each timer at its own due time; ties in the order in which they were set."""

    __slots__ = ("_timers", "now")

    def __init__(self, now: float = 0) -> None:
        self.now = now
        self._timers: dict[int, tuple[float, Timer]] = NO_TIMERS

    def arm(self, timer: Timer) -> None:
        if self._timers is NO_TIMERS:
            self._timers = {}
        due = timer.due
        if due != due or timer.delay < 0:
            due = self.now
        self._timers[timer.handle] = (due, timer)

    def disarm(self, timer: Timer) -> None:
        self._timers.pop(timer.handle, None)

    def next_due(self) -> float | None:
        return min((due for due, _ in self._timers.values()), default=None)

    def advance(self, ms: float, fire: Fire) -> None:
        end = self.now + ms
        while True:
            due = self.next_due()
            if due is None or due > end:
                break
            timer = next(timer for at, timer in self._timers.values() if at == due)
            del self._timers[timer.handle]
            self.now = max(self.now, due)
            fire(timer)
        self.now = end


class JumpingClock:
    """XState's ``SimulatedClock``, including what it does when timers change while it fires."""

    def __init__(self, now: float = 0) -> None:
        self.now = now
        self._timers: dict[int, tuple[float, Timer]] = {}
        self._firing = False
        self._changed = False

    def arm(self, timer: Timer) -> None:
        self._changed = self._firing
        fresh = timer.due == self.now + timer.delay
        start = self.now if fresh else timer.due - timer.delay  # restored: it has been waiting for a while
        self._timers[timer.handle] = (start, timer)

    def disarm(self, timer: Timer) -> None:
        self._changed = self._firing
        self._timers.pop(timer.handle, None)

    def next_due(self) -> float | None:
        return min((start + timer.delay for start, timer in self._timers.values()), default=None)

    def advance(self, ms: float, fire: Fire) -> None:
        self.now += ms
        self._flush(fire)

    def _flush(self, fire: Fire) -> None:
        if self._firing:
            self._changed = True
            return
        again = True
        while again:
            again = self._pass(fire)

    def _pass(self, fire: Fire) -> bool:
        """One pass over what is pending; true when a change ends it early, for then it starts anew."""
        self._firing = True
        ordered = sorted(self._timers.values(), key=lambda entry: entry[0] + entry[1].delay)
        for start, timer in ordered:
            if self._changed:
                self._changed = False
                self._firing = False
                return True
            if self.now - start >= timer.delay:
                self._timers.pop(timer.handle, None)
                fire(timer)
        self._firing = False
        return False
