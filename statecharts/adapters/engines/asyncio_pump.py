"""The pump of the asyncio host: one arrival after the other, each to its end, without awaiting anything.

It runs in whichever task begins it: a sender's own, or a callback of the
loop. Where something has to be awaited (an ``async`` action, or a breath for
the loop after :data:`SLICE` seconds) it stops with a :class:`Pause`;
:mod:`.asyncio_turns` sits those out.

A step that is interrupted (``KeyboardInterrupt``, ``CancelledError``) never
happened: the system is put back to before its event, which is gone, and the
queue goes on.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Mapping
from time import monotonic
from typing import Any, NamedTuple

from ...errors import InvalidTransition
from ...interpreter.deliveries import Begin, Delivery, End, Perform, Published, Receive, Timer
from ...interpreter.effects import RunAction
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import System
from . import asyncio_inside
from .asyncio_alarms import Alarms
from .asyncio_clock import Clock
from .asyncio_inbox import CURRENT, Arrival, Inbox
from .asyncio_inside import Inside
from .asyncio_watch import Watchers
from .driver import Driver

SLICE = 0.002
"""Seconds of work after which it is looked whether the loop has had a turn; after as many again it gets one."""
CHUNK = 64
"""Tasks of a system's agenda between two looks at the time."""

_MAY_FAIL = (Perform, Begin, End, Receive)


class Pause(NamedTuple):
    """Why a turn cannot go on at once: an async action, or (no ``delivery``) a breath for the loop."""

    delivery: Perform | None
    awaitable: Awaitable[Any]
    inside: Inside | None


class Pump(Driver):
    """Processes arrivals in order, without awaiting. Subclasses say what starts, stops and is shown.

    There may be very many actors, most of them idle: what an idle one can do
    without is made when it is needed and given back at rest (``_arrivals``,
    ``_timed``, and ``_watched``: those who look at it). ``_batch`` is what is left to perform, the next thing last.
    """

    __slots__ = (
        "_arrivals", "_batch", "_closing", "_current", "_loop", "_mailbox", "_performing", "_running", "_slice_counts",
        "_slice_end", "_timed", "_wakeup", "_watched", "clock",
    )  # fmt: skip

    def __init__(self, system: System, clock: Clock, mailbox: int) -> None:
        super().__init__(system)
        self.clock = clock
        self._mailbox = mailbox
        self._arrivals: Inbox | None = None
        self._timed: Alarms | None = None
        self._watched: Watchers | None = None
        self._batch: list[Delivery] | None = None
        self._current: Arrival | None = None
        self._running = False
        self._performing = False
        self._closing = False
        self._wakeup: asyncio.Handle | None = None
        self._slice_end = 0.0
        self._slice_counts = False
        self._loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment] # set when the actor is entered

    @property
    def _inbox(self) -> Inbox:
        """What waits for its turn, and who waits for room."""
        arrivals = self._arrivals
        if arrivals is None:
            arrivals = self._arrivals = Inbox(self._mailbox)
        return arrivals

    @property
    def _alarms(self) -> Alarms:
        """The timers."""
        timed = self._timed
        if timed is None:
            timed = self._timed = Alarms(self.clock, self._ring)
        return timed

    def _ring(self, timer: Timer) -> None:
        """A timer is due."""
        self._arrive(Arrival(None, timer=timer))

    def _now(self) -> float:
        """Milliseconds; never less than when a restored system was saved."""
        timed = self._timed
        return self.clock.now() if timed is None else timed.now()

    _outside: Mapping[int, Any]

    def _give_back(self) -> None:
        """The actor is idle: let go of what can be made again. One that works outside will soon hear of it."""
        if self._outside:
            return
        arrivals, timed = self._arrivals, self._timed
        if arrivals is not None and arrivals.is_spare:
            self._arrivals = None
        if timed is not None and timed.is_spare:
            self._timed = None

    # ------------------------------------------------------- what subclasses say

    def _check(self, event: Any) -> None:
        """Raise :class:`InvalidTransition` for an event that nobody handles, when that was asked for."""

    @abstractmethod
    def _show(self, snapshot: Any) -> None:
        """Tell listeners of the root's new snapshot."""

    @abstractmethod
    def _report(self, message: str, error: BaseException) -> None:
        """Tell the loop of an error that nobody waits for."""

    @abstractmethod
    def _start_turn(self, pause: Pause) -> None:
        """Sit out ``pause`` in a task, and go on after it."""

    # ------------------------------------------------------------ arriving

    def _arrive(self, arrival: Arrival) -> None:
        """Queue something from inside the loop's thread, and see that its turn comes."""
        if self._closing:
            arrival.settle()
            return
        self._inbox.put(arrival)
        self._wake()

    def _wake(self) -> None:
        """Have the loop call when there is something to do and nobody is at it."""
        if self._running or self._closing or self._wakeup is not None:
            return
        if self._arrivals or self._batch or self._sends or not self.system.idle:
            self._wakeup = self._loop.call_soon(self._woken)

    def _is_busy(self) -> bool:
        """Whether a turn is on, or waits for the loop."""
        return self._running or self._wakeup is not None

    def _woken(self) -> None:
        self._wakeup = None
        if not self._running and not self._closing:
            self._run()

    def _run(self) -> None:
        """Work in the caller's task as long as nothing has to be awaited."""
        self._running = True
        if not self._slice_end:
            self._begin_slice()
        try:
            pause = self._pump()
        except BaseException:
            self._running = False
            self._wake()
            raise
        if pause is None:
            self._running = False
        else:
            self._start_turn(pause)

    # ------------------------------------------------------------- breathing

    def _begin_slice(self) -> None:
        """From here on time counts."""
        self._slice_end = monotonic() + SLICE

    def _out_of_time(self) -> bool:
        """The slice is over: whether the loop has to get a turn.

        Not when it may have had one since the slice began, which nobody has
        looked at: a call for every turn would cost more than the work of many
        a step. From here on it is looked at, for a second slice.
        """
        if self._slice_counts:
            return True
        self._slice_counts = True
        self._loop.call_soon(self._end_slice)
        self._begin_slice()
        return monotonic() > self._slice_end

    def _end_slice(self) -> None:
        self._slice_end = 0.0
        self._slice_counts = False

    # ------------------------------------------------------- work in a row

    def _pump(self) -> Pause | None:
        """Work until nothing is left (``None``) or something has to be awaited.

        What goes wrong is told to the sender whose turn it is. Raises when
        he is the caller (an inline ``send``), or there is none and it is an
        interrupt.
        """
        while True:
            try:
                return self._work()
            except Exception as error:
                current = self._current
                if current is None:
                    raise
                if not current.settle(error=error):
                    self._report("an event could not be delivered", error)
            except BaseException as error:
                current = self._current
                told = current is not None and current.settle(error=error)
                if not told or not isinstance(error, asyncio.CancelledError):
                    raise

    def _quick(self, event: Any) -> Pause | bool:
        """An event to an actor at rest; false when the pump must go on after it."""
        system = self.system
        root = system.root
        try:
            if system.tasks or not root.open or system.observed or (system.has_sessions and not root.is_session):
                system.send(event)
                return False
            taken = system.quick(event)
            if isinstance(taken, Snapshot):
                self._show(taken)
                return not self._arrivals
            system.now = self._now()
            if taken is None:
                return False
        except BaseException:
            system.roll_back()
            raise
        self._performing = True
        try:
            result: Pause | bool = self.follow(event, taken)
        finally:
            self._performing = False
        if result is not True:
            return result
        ready = system.ready()
        if self._watched is not None:
            ready = [*ready, Published(root.ref, root.snapshot)]
        if ready:
            self._add(ready)
            while batch := self._batch:
                self._attempt(batch.pop())
            self._batch = None
        if self._timed is not None and self._current is None:
            self._give_back()
        return system.at_rest and not self._arrivals

    def postpone(self, deliveries: list[Delivery]) -> None:
        self._add(deliveries)

    def _add(self, asked: list[Delivery]) -> None:
        """Something more to perform, after all else."""
        if asked:
            asked.reverse()
            self._batch = [*asked, *self._batch] if self._batch else asked

    def _work(self) -> Pause | None:
        system = self.system
        while True:
            while batch := self._batch:
                delivery = batch.pop()
                if self._watched is None and type(delivery) is Published:
                    continue  # half of all, and nobody looks
                pause = self._attempt(delivery)
                if pause is not None:
                    return pause
            self._batch = None
            if self._sends:
                self._flush_sends()
            if not system.settled():
                system.now = self._now()
                try:
                    self._add(system.run(CHUNK))
                except BaseException:
                    system.roll_back()
                    raise
            else:
                begun = self._next()
                if begun is not True:
                    return begun or None
            if monotonic() > self._slice_end and self._out_of_time():
                return Pause(None, asyncio.sleep(0), None)

    def _next(self) -> Pause | bool:
        """The system is at rest: what was asked for has come true. Begin the next turn, if there is one; or what it has to wait for."""
        current = self._current
        if current is not None:
            self._current = None
            if current.phase is CURRENT:
                current.settle(self.system.root.snapshot)
        arrivals = self._arrivals
        arrival = None if arrivals is None else arrivals.take()
        if arrival is None:
            self._give_back()
            return False
        self._current = arrival
        arrival.before = self.system.root.snapshot
        if arrival.timer is not None:
            rung = self.system.take_timer(arrival.timer) if self.system.is_quick else None
            if rung is not None:
                return self._quick(rung) or True
            self.system.fire(arrival.timer)
        elif arrival.emitted:
            assert arrival.source is not None
            self.system.emit(arrival.source, arrival.event)
        else:
            return self._deliver(arrival)
        return True

    def _deliver(self, arrival: Arrival) -> Pause | bool:
        if arrival.counted:
            try:
                self._check(arrival.event)
            except InvalidTransition as error:
                if not arrival.settle(error=error):
                    self._report("a posted event is not handled", error)
                return True
        system, event = self.system, arrival.event
        if system.is_quick:
            if arrival.target is None:
                return self._quick(event) or True
            report = system.take_result(arrival.target, event)
            if report is not None:
                return self._quick(report) or True
        system.send(event, arrival.target, arrival.source)
        return True

    # ---------------------------------------------------------- one delivery

    def _attempt(self, delivery: Delivery) -> Pause | None:
        """Perform one delivery; a user's exception is told to the system, and voids the rest of the batch."""
        self._performing = True
        try:
            result = self.handle(delivery)
        except Exception as error:
            if not isinstance(delivery, _MAY_FAIL):
                raise
            self._void(delivery, error)
            return None
        except BaseException:
            if isinstance(delivery, Perform):
                self._forget_step()
            raise
        finally:
            self._performing = False
        return result if type(result) is Pause else None

    def _perform(self, delivery: Perform) -> Pause | None:
        """Run an action; an awaitable that it returns is what the turn has to wait for."""
        if not isinstance(delivery.effect, RunAction):
            super()._perform(delivery)
            return None
        arrival = self._current
        outer = asyncio_inside.current() if arrival is None else asyncio_inside.live(arrival.inside)
        inside = Inside(self, True, outer)
        token = asyncio_inside.enter(inside)
        try:
            result = super()._perform(delivery)
        except BaseException:
            inside.active = False
            raise
        finally:
            asyncio_inside.leave(token)
        if hasattr(result, "__await__"):
            return Pause(delivery, result, inside)
        inside.active = False
        return None

    def _void(self, delivery: Delivery, error: Exception) -> None:
        self._batch = None
        self._flush_sends()
        self.system.fail(delivery, error)

    def _forget_step(self) -> None:
        """The step whose actions were running was interrupted: it never happened."""
        self._batch = None
        self._flush_sends()
        self.system.roll_back()
