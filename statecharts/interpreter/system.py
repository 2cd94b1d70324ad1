"""Actors together: mailboxes, timers, starting and stopping, without a clock or a thread.

:class:`System` is the machine room behind every host. It holds all actors of
one root and an explicit agenda, so that one event's consequences (nested
deliveries, children, errors climbing) run in XState's order and a host can
stop between any two of them to run a user's code. It is deterministic: no
clock is read (the host writes :attr:`System.now`), nothing is random.

A host drives it like this::

    system.send(event)
    while batch := system.run():
        for delivery in batch:
            ...            # perform it; on an exception: system.fail(delivery, error); break
"""

from __future__ import annotations

from typing import Any

from ..events import STOP
from ..values import FrozenDict
from .actor_table import action_inspection
from .cells import ENDED, NOT_STARTED, RUNNING, Cell, CellScope, EventFlood, SystemView
from .deliveries import (
    End,
    Inspected,
    Perform,
    Receive,
    Timer,
)
from .effects import (
    ActorRef,
    LogMessage,
    Record,
    RunAction,
    record,
)
from .lifecycle import Lifecycle
from .macrostep import macrostep
from .routes import leap
from .snapshot import ACTIVE, Snapshot, Step


class System(Lifecycle):
    """All actors of one root. Mutable; owned by one host.

    ``observed`` asks for inspection events; a host that shows nothing but the
    root's snapshots says so by :attr:`root_only`. ``first_session`` numbers the
    root's session (children follow). The host writes :attr:`now`.
    """

    __slots__ = ()

    def start(self, *, quietly: bool = False) -> None:
        """Start the root. ``quietly``: nobody is there yet to be shown the first snapshot."""
        self.begin_step()  # what exists before the start belongs to the snapshot
        root = self.root
        if quietly and self._starts_at_once(root):
            root.status = RUNNING
            root.open = True
        else:
            self._push((self._start, root))

    def resume(self, snapshot: Snapshot[Any]) -> None:
        """The root as it ran, with no other actor and nothing waiting: nothing comes of starting it. Nobody is observing."""
        self.place_root(snapshot)
        root = self.root
        root.status = RUNNING
        root.open = True

    def _starts_at_once(self, root: Cell) -> bool:
        """Whether nothing comes of starting ``root`` but that it runs: nobody looks, and nothing waits for it."""
        if self.observed or root.status != NOT_STARTED or root.ref.system_id or root.deferred or root.mailbox:
            return False
        snapshot = root.snapshot
        return isinstance(snapshot, Snapshot) and snapshot._status == ACTIVE and not snapshot._children

    def send(self, event: FrozenDict, target: ActorRef | None = None, source: ActorRef | None = None) -> None:
        """Put ``event`` into a mailbox (the root's by default)."""
        self._push((self._relay, source, self.root.ref if target is None else target, event))

    @property
    def is_quick(self) -> bool:
        """Whether an event for the root may be taken by :meth:`quick`: all is at rest and nobody is observing."""
        root = self.root
        return (
            root.open and self.at_rest and not self.observed and (root.is_session or not self.has_sessions)
        )

    def quick(self, event: FrozenDict) -> Snapshot[Any] | None:
        """Send ``event`` to the root and, if nothing but a new snapshot comes of it, return that: all is done then.

        Otherwise ``None``, and the host runs the agenda as after :meth:`send`.
        The system :attr:`is_quick`.
        """
        root = self.root
        taken = leap(root.snapshot, event)
        if isinstance(taken, Snapshot) and not self.tasks:
            root.snapshot = taken
            return taken
        self.go_on(event, taken)
        return None

    def go_on(self, event: FrozenDict, taken: Any) -> None:
        """Put on the agenda what is left to do when :func:`.routes.leap` has answered with ``taken``."""
        root = self.root
        if taken is None:
            self.send(event)
        elif isinstance(taken, Snapshot):  # a guard or an update has sent something, which follows
            root.snapshot = taken
            self._push((self._publish, root, taken))
        else:
            root.busy = True
            self.events += 1
            self.tasks.insert(0, (self._flush, root))
            self._push((self._take, root, event, taken))

    def send_all(self, sends: list[tuple[ActorRef | None, ActorRef | None, FrozenDict]]) -> None:
        """Several sends, first first: what a user's code sent while the host ran it."""
        for source, target, event in reversed(sends):
            self._push((self._relay, source, target, event))

    def stop(self) -> None:
        """Stop the root and everything below it; exit actions do not run, as in XState."""
        self._push((self._stop, self.root))

    def fire(self, timer: Timer) -> None:
        """A timer is due. Does nothing when it was cancelled meanwhile."""
        if self.timers.take(timer):
            self._push((self._relay, timer.source, timer.target, timer.event))

    def _process(self, cell: Cell, event: FrozenDict) -> None:
        if cell.program is None:
            self._process_logic(cell, event)
            return
        self._take(cell, event, None)

    def _take(self, cell: Cell, event: FrozenDict, known: Any) -> None:
        """A machine takes an event. ``known`` is its step already, or the transitions that were selected."""
        assert cell.program is not None
        self.begin_step()
        step = known
        if not isinstance(known, Step):
            step = macrostep(cell.program, cell.snapshot, event, CellScope(self, cell), known)
        error = step.error
        if step.effects and self._hand_out(cell, step.effects):
            self._push((self._commit, cell, event, step) if error is None else (self._crash, cell, error))
            self._crash_instead(cell)
        elif error is None:
            self._commit(cell, event, step)
        else:
            self._crash(cell, error)

    def _hand_out(self, cell: Cell, effects: tuple[Record, ...]) -> bool:
        """Hand out the effects that run at once; whether there are any, for what fails first ends the step."""
        must_wait = False
        for effect in effects:
            kind = type(effect)
            if kind is RunAction or kind is LogMessage:
                if self.observed:
                    self._out.append(Inspected(action_inspection(cell.ref, effect, self.root_id)))
                if kind is LogMessage or effect.function is not None:  # type: ignore[union-attr]
                    self._out.append(record(Perform, (cell.ref, effect)))
                    must_wait = True
            elif self.observed:
                self._observe(cell.ref, effect)
        return must_wait

    def _process_logic(self, cell: Cell, event: FrozenDict) -> None:
        before = cell.snapshot
        try:
            after = cell.logic.transition(before, event)
        except Exception as error:
            self._crash(cell, error)
            return
        if cell.logic.kind == "promise" and event.get("type") != STOP:  # no host to wait for, nothing deferred
            cell.snapshot = after
            self._after_deferred(cell, event, after, False)
            return
        self._push((self._commit_logic, cell, event, after))
        if event.get("type") == STOP:
            if cell.begun and before.status == ACTIVE:
                cell.begun = False
                self._out.append(End(cell.ref))
                self._crash_instead(cell)
        elif cell.logic.kind == "callback":
            self._out.append(Receive(cell.ref, event))
            self._crash_instead(cell)

    def _commit_logic(self, cell: Cell, event: FrozenDict, after: Any) -> None:
        cell.snapshot = after
        self._update(cell, event)

    def _commit(self, cell: Cell, event: FrozenDict, step: Any) -> None:
        self.begin_step()
        cell.snapshot = step.snapshot
        for effect in step.effects:
            self._defer(cell, effect)
        self._update(cell, event)


__all__ = ["ENDED", "NOT_STARTED", "RUNNING", "Cell", "CellScope", "EventFlood", "System", "SystemView"]
