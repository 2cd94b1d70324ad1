"""A system at rest: what its root hears is handled without the agenda, as long as nobody else comes in.

Nobody else is: another machine, a callback, an observer, a failure, or
something that is sent meanwhile. Then the step is handed over to the agenda
where it stands, and goes on as if it had come from there.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..events import STOP_EVENT, done_actor_event, error_actor_event
from ..values import FrozenDict
from .actors import PromiseLogic
from .agenda import Task
from .cells import NOT_STARTED, RUNNING, Cell
from .deliveries import Begin, Completed, Delivery, End, Failed, Perform, Timer
from .effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    RaiseEvent,
    Record,
    RunAction,
    StartActor,
    StopActor,
    is_delay,
    record,
)
from .lifecycle import Lifecycle
from .mailboxes import listed_children
from .routes import leap
from .snapshot import ACTIVE, DONE, ERROR, Snapshot, Step


class Quick(Lifecycle):
    """Steps of the root that are taken in one go.

    A host asks whether the system :attr:`is_quick`, gives an event to
    :meth:`quick` (that of a timer from :meth:`take_timer`, what comes of a
    promise from :meth:`take_result`), runs the actions of the step that it
    gets, and calls :meth:`settle`; or :meth:`hand_over`, when something comes
    in between.
    """

    __slots__ = ()

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
        self.events += 1
        flush: Task | None = None
        if not root.busy:  # unless a guard has sent it something just now
            root.busy = True
            flush = (self._flush, root)
        try:
            step = record(Step, (taken, (), None)) if isinstance(taken, Snapshot) else self._step(root, event, taken)
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
        effects = step.effects
        for effect in effects:
            if root.deferred or not self._execute(root, effect, effects):
                self._defer(root, effect)
        if root.deferred or root.mailbox or step.snapshot._rest.status != ACTIVE:
            self.tasks.append((self._flush, root))
            self._update(root, event)
            return False
        root.busy = False
        if self._forgotten is not None:
            self._purge()
        return True

    def _execute(self, root: Cell, effect: Any, effects: tuple[Record, ...]) -> bool:
        """Execute a built-in, one of ``effects``, at once, if nobody but the host has something to do for it."""
        kind = type(effect)
        if kind is RunAction or kind is LogMessage:
            return True
        if kind is RaiseEvent:
            if is_delay(effect.delay):
                self._schedule(root, root.ref, effect.event, effect.delay, effect.id)
        elif kind is CancelEvent:
            self._cancel(root, effect.send_id)
        elif kind is EmitEvent:
            self._emit(root, effect.event)
        elif kind is StartActor:
            # what the same step stops never starts
            return not _stops(effects, effect.ref) and self._begin_promise(effect.ref)
        elif kind is StopActor:
            return self._end_promise(effect.ref)
        else:
            return False
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
            if is_performed(effect) and effect.position[1] > last  # type: ignore[union-attr]
        ]

    # ----------------------------------------------------- timers and promises

    def take_timer(self, timer: Timer) -> FrozenDict | None:
        """The event of a timer that the root has set for itself, which is due; ``None`` when :meth:`fire` has to see to it."""
        ref = self.root.ref
        event = timer.event
        if timer.target is not ref or timer.source is not ref or type(event.get("type")) is not str:
            return None
        return event if self.timers.take(timer) else None

    def take_result(self, ref: ActorRef, event: FrozenDict) -> FrozenDict | None:
        """What the root hears of a promise of its own that ``event`` has settled, and that is over now.

        ``None``: it is not that simple, and nothing has happened.
        """
        cell = self.find(ref.session)
        if cell is None or not self._is_lone_promise(cell) or self.has_sessions:
            return None
        after = cell.logic.transition(cell.snapshot, event)
        if after.status not in (DONE, ERROR):
            return None
        if cell.rules.stale_reports_are_dropped and ref not in listed_children(self.root):
            return None
        self.events += 1
        cell.snapshot = after
        self._stop_procedure(cell)
        if after.status == DONE:
            self._out.append(record(Completed, (ref,)))
            return done_actor_event(ref.id, after.output)
        self._out.append(Failed(ref, after.error))
        return error_actor_event(ref.id, after.error)

    def _is_lone_promise(self, cell: Cell) -> bool:
        """Whether ``cell`` is a promise of the root's that runs, and of which nobody else hears."""
        return (
            type(cell.logic) is PromiseLogic
            and cell.parent is self.root
            and cell.begun
            and cell.open
            and not cell.busy
            and cell.snapshot.status == ACTIVE
            and cell.ref.sync_snapshot is not True
        )

    def _begin_promise(self, ref: ActorRef | None) -> bool:
        """Start a promise. Its host may take its time, so nothing comes of that now."""
        cell = None if ref is None else self.find(ref.session)
        if cell is None or type(cell.logic) is not PromiseLogic or cell.status != NOT_STARTED:
            return False
        known = cell.ref
        if known.system_id or known.sync_snapshot is True or cell.mailbox:
            return False
        cell.status = RUNNING
        cell.begun = True
        cell.open = True
        self._out.append(record(Begin, (known, cell.logic, cell.snapshot.input)))
        return True

    def _end_promise(self, ref: ActorRef | None) -> bool:
        """Stop a promise that runs."""
        cell = None if ref is None else self.find(ref.session)
        if cell is None or not self._is_lone_promise(cell):
            return False
        cell.snapshot = cell.logic.transition(cell.snapshot, STOP_EVENT)
        cell.begun = False
        self._out.append(record(End, (cell.ref,)))
        self._complete_stop(cell)
        return True

    # ------------------------------------------------------- what a system says

    @abstractmethod
    def _step(self, cell: Cell, event: FrozenDict, taken: Any) -> Step:
        """Compute a step (:class:`System`)."""

    @abstractmethod
    def _follow(self, cell: Cell, event: FrozenDict, step: Step) -> None:
        """Put on the agenda what follows from a step (:class:`System`)."""


def _stops(effects: tuple[Record, ...], ref: ActorRef | None) -> bool:
    return any(type(effect) is StopActor and effect.ref is ref for effect in effects)


def is_performed(effect: Record) -> bool:
    """Whether a host runs ``effect`` at once."""
    return type(effect) is LogMessage or (isinstance(effect, RunAction) and effect.function is not None)
