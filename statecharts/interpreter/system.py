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
from .agenda import Task
from .cells import ENDED, NOT_STARTED, RUNNING, Cell, CellScope, EventFlood, SystemView
from .deliveries import (
    Delivery,
    End,
    Inspected,
    Perform,
    Receive,
    Timer,
)
from .effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    RaiseEvent,
    Record,
    RunAction,
    is_delay,
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

    def send_within(self, event: FrozenDict, target: ActorRef | None = None) -> None:
        """:meth:`send`, by code that runs in the middle of a step: it waits its turn behind what was sent before."""
        wanted = self.root.ref if target is None else target
        if self.max_events is not None and self.events >= self.max_events:
            self._push((self._relay, None, wanted, event))  # where it is refused, for that is no fault of the code's
        else:
            self._relay(None, wanted, event)

    @property
    def is_quick(self) -> bool:
        """Whether an event for the root may be taken by :meth:`quick`: all is at rest and nobody is observing."""
        root = self.root
        return (
            root.open and self.at_rest and not self.observed and (root.is_session or not self.has_sessions)
        )

    def quick(self, event: FrozenDict) -> Snapshot[Any] | Step | None:
        """Send ``event`` to the root and, if nothing but a new snapshot comes of it, return that: all is done then.

        Else what :meth:`go_on` returns. The system :attr:`is_quick`.
        """
        root = self.root
        taken = leap(root.snapshot, event)
        if isinstance(taken, Snapshot) and not self.tasks:
            root.snapshot = taken
            return taken
        return self.go_on(event, taken)

    def go_on(self, event: FrozenDict, taken: Any) -> Step | None:
        """What is left to do when :func:`.routes.leap` has answered with ``taken``.

        A step whose actions the host now runs, and then calls :meth:`settle`
        (or :meth:`hand_over`). ``None``: it is on the agenda.
        """
        root = self.root
        if taken is None:
            self.send(event)
            return None
        if isinstance(taken, Snapshot):
            root.snapshot = taken
            self._publish(root, taken)
            return None
        self.events += 1
        flush: Task | None = None
        if not root.busy:  # unless a guard has sent it something just now
            root.busy = True
            flush = (self._flush, root)
        try:
            step = self._step(root, event, taken)
        except BaseException:
            self._put_below(flush)
            raise
        if step.error is None and not self.tasks:
            return step
        self._put_below(flush)
        self._follow(root, event, step)
        return None

    def _put_below(self, task: Task | None) -> None:
        if task is not None:
            self.tasks.insert(0, task)

    def settle(self, event: FrozenDict, step: Step) -> bool:
        """The actions of ``step``, which :meth:`go_on` returned, have run: take it over.

        Whether all is done then, but for what is :meth:`ready` for the host,
        and for showing the root's new snapshot; else the rest is on the agenda.
        """
        root = self.root
        if self.tasks:  # the actions have sent something
            self.hand_over(event, step)
            return False
        self.begin_step()
        root.snapshot = step.snapshot
        for effect in step.effects:
            kind = type(effect)
            if kind is RunAction or kind is LogMessage:
                continue
            if not root.deferred:  # nobody but the host has something to do for these
                if kind is RaiseEvent:
                    if is_delay(effect.delay):  # type: ignore[union-attr]
                        self._schedule(root, root.ref, effect.event, effect.delay, effect.id)  # type: ignore[union-attr]
                    continue
                if kind is CancelEvent:
                    self._cancel(root, effect.send_id)  # type: ignore[union-attr]
                    continue
                if kind is EmitEvent:
                    self._emit(root, effect.event)  # type: ignore[union-attr]
                    continue
            self._defer(root, effect)
        if root.deferred or root.mailbox or step.snapshot._rest.status != ACTIVE:
            self.tasks.append((self._flush, root))
            self._update(root, event)
            return False
        root.busy = False
        if self._forgotten is not None:
            self._purge()
        return True

    def hand_over(self, event: FrozenDict, step: Step, after: Perform | None = None) -> list[Delivery]:
        """Go on by the agenda with a ``step`` some of whose actions have run; the host has still to do what is returned.

        ``after`` is the last that has run. The host is waited for, as if it had all come from :meth:`run`.
        """
        root = self.root
        commit: Task = (self._commit, root, event, step)  # one object in both places
        self.tasks[0:0] = [(self._flush, root), commit]
        self._at_stake = (root, commit)
        last = -1 if after is None else after.effect.position[1]
        return [
            record(Perform, (root.ref, effect))
            for effect in step.effects
            if _is_performed(effect) and effect.position[1] > last  # type: ignore[union-attr]
        ]

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
                if _is_performed(effect):
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


def _is_performed(effect: Record) -> bool:
    """Whether a host runs ``effect`` at once."""
    return type(effect) is LogMessage or (isinstance(effect, RunAction) and effect.function is not None)


__all__ = ["ENDED", "NOT_STARTED", "RUNNING", "Cell", "CellScope", "EventFlood", "System", "SystemView"]
