"""How a simulation takes its steps: in one go where all is at rest, else by the agenda."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any, NoReturn, TypeVar

from ...errors import UsageError
from ...interpreter.deliveries import Published
from ...interpreter.effects import ActorRef
from ...interpreter.routes import leap
from ...interpreter.snapshot import Snapshot
from ...interpreter.system import System
from ...native import mypyc_attr
from .clocks import VirtualClock
from .simulation_actors import Rehearsal, Shown

C = TypeVar("C")


@mypyc_attr(allow_interpreted_subclasses=True)
class Stepping(Rehearsal[C]):
    """A rehearsal that is driven by one thread.

    ``_is_plain``: nothing was asked for that concerns each single event
    (schemas, an observer, refusals, a bound on events). ``_is_quick``: what
    comes next may be taken in one go, unless something is on the agenda.
    ``_running``: a step is on.
    """

    __slots__ = ("_counts_anew", "_is_plain", "_is_quick", "_owner", "_running", "_subscribers", "clock")

    def __init__(self, system: System, clock: VirtualClock) -> None:
        super().__init__(system)
        self.clock = clock
        self._counts_anew = True
        self._is_plain = False
        self._is_quick = False
        self._owner = get_ident()
        self._running = False
        self._subscribers: list[Callable[[Snapshot[Any]], Any]] | None = None

    @property
    def snapshot(self) -> Shown[C]:
        """The machine's snapshot now."""
        return self.system.root.snapshot

    def _put(self, event: Any, target: ActorRef | None, source: ActorRef | None = None) -> None:
        self._require_thread()
        self.system.send(event, target, source)

    def _require_thread(self) -> None:
        """Before anything is changed."""
        if get_ident() != self._owner:
            self._refuse_stranger()

    def _fire(self, timer: Any) -> None:
        if self._rests():
            event = self.system.take_timer(timer)
            if event is not None:
                self._at_once(event)
                return
        self.system.now = self.clock.now
        self.system.fire(timer)
        self._drive()

    def _deliver(self, ref: ActorRef, event: Any) -> Shown[C]:
        if self._rests():
            report = self.system.take_result(ref, event)
            if report is not None:
                return self._at_once(report)
        self._put(event, ref, ref)
        return self._drive()

    def _rests(self) -> bool:
        """Whether something may be taken in one go."""
        return self._is_quick and not self._running and not self.system.tasks and get_ident() == self._owner

    def _at_once(self, event: Any) -> Shown[C]:
        """An event for the machine, which is at rest."""
        self._running = True
        try:
            taken = leap(self.system.root.snapshot, event)
        except BaseException:
            self.system.roll_back()
            self._running = self._is_quick = False
            raise
        return self._go_on(event, taken)

    def _drive(self) -> Shown[C]:
        self._require_thread()
        if not self._running:
            self._running = True
            if self._counts_anew:
                self.system.events = 0
            self._is_quick = False
            try:
                self.system.now = self.clock.now
                self.drive()
            finally:
                self._running = False
            self._is_quick = self._is_plain and self.system.is_quick
        return self.snapshot

    def _go_on(self, event: Any, taken: Any) -> Shown[C]:
        """What is left to do when :func:`leap` has answered with ``taken``."""
        system = self.system
        system.events = 0
        system.now = self.clock.now
        try:
            try:
                step = system.go_on(event, taken)
            except BaseException:
                system.roll_back()
                raise
            if step is None or not self.follow(event, step):
                self.drive()
            else:
                self._show_step()
        finally:
            self._running = False
        self._is_quick = system.is_quick
        return self.snapshot

    def _show_step(self) -> None:
        """All is done but for what was asked for and the listeners."""
        ready = self.system.ready()
        if self._subscribers:
            ready = [*ready, Published(self.system.root.ref, self.snapshot)]
        if ready:
            failure = self.perform(ready)
            if not self.system.at_rest:
                self.drive()
            if failure is not None:
                raise failure

    def _refuse_stranger(self) -> NoReturn:
        raise UsageError(
            "a simulation belongs to the thread that made it; machines may be shared, running ones not"
        )
