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
from .macrostep import macrostep
from .quick import Quick, is_performed
from .routes import leap
from .snapshot import ACTIVE, Snapshot, Step


class System(Quick):
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
        """Put ``event`` into a mailbox (the root's by default).

        At once, for code that runs in the middle of a step may send several:
        each waits its turn behind what was sent before.
        """
        wanted = self.root.ref if target is None else target
        if self.max_events is not None and self.events >= self.max_events:
            self._push((self._relay, source, wanted, event))  # where it is refused, for that is no fault of the code's
        else:
            self._relay(source, wanted, event)

    def send_all(self, sends: list[tuple[ActorRef | None, ActorRef | None, FrozenDict]]) -> None:
        """Several sends, first first: what a user's code sent while the host ran it."""
        for source, target, event in reversed(sends):
            self._push((self._relay, source, target, event))

    def stop(self) -> None:
        """Stop the root and everything below it; exit actions do not run, as in XState."""
        self._push((self._stop, self.root))

    def abort(self, ref: ActorRef, error: Any) -> None:
        """What an actor does outside has failed for good; nothing when it is over. ``error`` is an exception, or its data."""
        cell = self.find(ref.session)
        if cell is not None and cell.status == RUNNING:
            self._push((self._crash, cell, error))

    def fire(self, timer: Timer) -> None:
        """A timer is due. Does nothing when it was cancelled meanwhile."""
        if self.timers.take(timer):
            self._push((self._relay, timer.source, timer.target, timer.event))

    def _process(self, cell: Cell, event: FrozenDict) -> None:
        if cell.program is None:
            self._process_logic(cell, event)
            return
        self._take(cell, event)

    def _take(self, cell: Cell, event: FrozenDict) -> None:
        """A machine takes an event."""
        plain = not self.observed and type(event.get("type")) is str
        taken = leap(cell.snapshot, event) if plain else None
        if isinstance(taken, Snapshot):
            cell.snapshot = taken
            self._update(cell, event)
        else:
            self._follow(cell, event, self._step(cell, event, taken))

    def _step(self, cell: Cell, event: FrozenDict, taken: Any) -> Step:
        """The step that ``event`` leads to. ``taken`` is what :func:`.routes.leap` says of it."""
        if isinstance(taken, Step):
            return taken
        assert cell.program is not None
        return macrostep(cell.program, cell.snapshot, event, CellScope(self, cell), taken)

    def _follow(self, cell: Cell, event: FrozenDict, step: Step) -> None:
        """What follows when a machine's step has been computed."""
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
                if is_performed(effect):
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
