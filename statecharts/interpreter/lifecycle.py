"""How actors start, settle, finish, fail and stop."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

from ..errors import ExecutionError
from ..events import ERROR, STOP, STOP_EVENT, done_actor_event, error_actor_event, init_event, snapshot_event
from ..values import UNDEFINED, FrozenDict
from .actor_table import action_inspection, with_error
from .actors import PROMISE_RESOLVE
from .agenda import Task
from .cells import ENDED, NOT_STARTED, NOTHING, RUNNING, Cell
from .deliveries import (
    Arm,
    Begin,
    Completed,
    Delivery,
    Disarm,
    Emitted,
    Failed,
    Inspected,
    Perform,
    Published,
)
from .effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    RaiseEvent,
    Record,
    RunAction,
    SendEvent,
    StartActor,
    StopActor,
    is_delay,
    record,
)
from .inspection import (
    EventInspection,
    SnapshotInspection,
)
from .mailboxes import Mailboxes
from .snapshot import ACTIVE, DONE, STOPPED, Snapshot

START: Final = init_event(UNDEFINED)
"""What an actor starts with, when nobody looks at it: it has its input already."""


class Lifecycle(Mailboxes):
    """From start to end (XState ``start``, ``update``, ``_error``, ``_stop``)."""

    __slots__ = ()

    def _update(self, cell: Cell, event: FrozenDict, opens: bool = False) -> None:
        """Run what was deferred, then act on the status (XState ``update``)."""
        if cell.deferred:
            self.tasks.append((self._after_deferred, cell, event, cell.snapshot, opens))
            self._run_deferred(cell)
        else:
            self._after_deferred(cell, event, cell.snapshot, opens)

    def _run_deferred(self, cell: Cell) -> None:
        """One after the other, as long as no other actor and no host has something to do in between."""
        tasks = self.tasks
        rest: Task | None = None
        while cell.deferred:
            task = cell.next_task()
            if not cell.deferred:
                rest = None
            elif rest is None:
                rest = (self._run_deferred, cell)
            if rest is not None:
                tasks.append(rest)
            if task[0] == self._execute_initial:
                self._execute_initial(cell, task[1])
            else:
                try:
                    task[0](*task[1:])
                except ExecutionError as error:
                    self._deferred_failed(cell, error)
            if rest is None or self._blocked or tasks[-1] is not rest:
                return
            tasks.pop()

    def _deferred_failed(self, cell: Cell, error: BaseException) -> None:
        cell.deferred = NOTHING
        cell.snapshot = with_error(cell.snapshot, error)

    def _execute_initial(self, cell: Cell, effect: Record) -> None:
        """An effect of the initial state: built-ins defer to behind all others, actions run now."""
        if self.observed:
            self._out.append(Inspected(action_inspection(cell.ref, effect, self.root_id)))
        if not isinstance(effect, (RunAction, LogMessage)):
            before = len(cell.deferred)
            self._defer(cell, effect)
            if before == 0 and cell.deferred:
                self._push((self._run_deferred, cell))
            return
        if isinstance(effect, LogMessage) or effect.function is not None:
            self._out.append(Perform(cell.ref, effect))
            self._block(cell, None)

    def _defer(self, cell: Cell, effect: Record) -> None:
        """What executing a built-in does: something for when the macrostep is over."""
        task: Task
        if isinstance(effect, StartActor):
            if effect.ref is None:
                return
            task = (self._start_deferred, effect.ref)
        elif isinstance(effect, StopActor):
            child = None if effect.ref is None else self.find(effect.ref.session)
            if child is None:
                return
            if child.status != RUNNING:
                child.status = ENDED  # over already, or it will never start
                self._forget(child)
                return
            child.is_muted = child.is_session  # from here on: what it still does in this step counts for nothing
            task = (self._stop, child)
        elif isinstance(effect, CancelEvent):
            task = (self._cancel, cell, effect.send_id)
        elif isinstance(effect, RaiseEvent):
            if not is_delay(effect.delay):
                return
            task = (self._schedule, cell, cell.ref, effect.event, effect.delay, effect.id)
        elif isinstance(effect, SendEvent):
            task = (self._send_effect, cell, effect)
        elif isinstance(effect, EmitEvent):
            task = (self._emit, cell, effect.event)
        else:
            return
        cell.defer(task)

    def _send_effect(self, cell: Cell, effect: SendEvent) -> None:
        if cell.is_muted and cell.parent is not None and effect.target == cell.parent.ref:
            return
        if is_delay(effect.delay):
            self._schedule(cell, effect.target, effect.event, effect.delay, effect.id)
            return
        event = effect.event
        if event.get("type") == ERROR:
            event = error_actor_event(cell.ref.id, event.get("data", UNDEFINED))
        self._relay(cell.ref, effect.target, event)

    def _schedule(
        self, cell: Cell, target: ActorRef | None, event: FrozenDict, delay: float, send_id: Any
    ) -> None:
        timer = self.timers.add(cell.ref, target, event, delay, send_id, self.now)
        self._out.append(record(Arm, (timer,)))

    def _cancel(self, cell: Cell, send_id: Any) -> None:
        for timer in self.timers.cancel(cell.ref, send_id):
            self._out.append(record(Disarm, (timer,)))

    def _emit(self, cell: Cell, event: FrozenDict) -> None:
        self._out.append(Emitted(cell.ref, event))

    def emit(self, ref: ActorRef, event: FrozenDict) -> None:
        """An actor's own code emits (promise, callback, observable)."""
        self._out.append(Emitted(ref, event))

    def _after_deferred(self, cell: Cell, event: FrozenDict, snapshot: Any, opens: bool) -> None:
        status = cell.snapshot.status
        stops = event.get("type") == STOP
        if self.observed or cell.ref.sync_snapshot is True or (status != ACTIVE and opens):
            self._push_all(*self._what_follows(cell, event, snapshot, opens))
            return
        if status == ACTIVE:  # here and below nobody else has something to do in between
            self._publish(cell, snapshot)
        elif status == DONE and not stops:
            self._publish(cell, snapshot)
            self._finish(cell, snapshot)
        elif status == "error" and not stops:
            self._die(cell, cell.snapshot.error)
        elif status != STOPPED:
            self._push_all(*self._what_follows(cell, event, snapshot, opens))
            return
        if stops:
            self._complete_stop(cell)
        if opens:
            self._open(cell)

    def _what_follows(self, cell: Cell, event: FrozenDict, snapshot: Any, opens: bool) -> list[Task]:
        status = cell.snapshot.status
        tasks: list[Task] = []
        if status == ACTIVE:
            if cell.ref.sync_snapshot is True and cell.parent is not None:
                tasks.append((self._report_to_parent, cell, snapshot_event(cell.ref.id, snapshot)))
            tasks.append((self._publish, cell, snapshot))
        elif status == DONE:
            tasks.append((self._publish, cell, snapshot))
            tasks.append((self._finish, cell, snapshot))
        elif status == "error":
            tasks.append((self._die, cell, cell.snapshot.error))
        if self.observed:
            tasks.append((self._inspect_snapshot, cell, event, snapshot))
        if event.get("type") == STOP:
            tasks.append((self._complete_stop, cell))
        if opens:
            tasks.append((self._open, cell))
        return tasks

    def _publish(self, cell: Cell, snapshot: Any) -> None:
        if cell.parent is None or not self.root_only:
            self._out.append(record(Published, (cell.ref, snapshot)))

    def _inspect_snapshot(self, cell: Cell, event: FrozenDict, snapshot: Any) -> None:
        self._out.append(Inspected(SnapshotInspection(cell.ref, event, snapshot, self.root_id)))

    def _complete_stop(self, cell: Cell) -> None:
        self._stop_procedure(cell)
        self._out.append(record(Completed, (cell.ref,)))
        self._forget(cell)

    def _finish(self, cell: Cell, snapshot: Any) -> None:
        self._stop_procedure(cell)
        self._out.append(record(Completed, (cell.ref,)))
        self._report_to_parent(cell, done_actor_event(cell.ref.id, snapshot.output))

    def _die(self, cell: Cell, error: Any) -> None:
        self._stop_procedure(cell)
        self._out.append(Failed(cell.ref, error))
        self._report_to_parent(cell, error_actor_event(cell.ref.id, error))

    def _start_deferred(self, ref: ActorRef) -> None:
        cell = self.find(ref.session)
        if cell is not None and cell.status != ENDED:
            self._start(cell)

    def _start(self, cell: Cell) -> None:
        if cell.status == RUNNING:
            return
        if cell.ref.system_id:
            self._claim_name(cell)
        cell.status = RUNNING
        event = START
        if self.observed:
            event = init_event(cell.input)
            source = cell.parent.ref if cell.parent is not None else None
            self._out.append(Inspected(EventInspection(cell.ref, source, event, self.root_id)))
        status = cell.snapshot.status
        if status == DONE:
            self._update(cell, event)
        elif status == "error":
            self._die(cell, cell.snapshot.error)
        elif status == "stopped" and cell.rules.stopped_stays_stopped:
            self._complete_stop(cell)
        elif cell.program is not None:
            self._push((self._update, cell, event, True))
            children = self._waiting_children(cell)
            if children:
                self._push((self._start_children, cell, children))
        else:
            self._push((self._update, cell, event, True))
            self._begin(cell)

    def _waiting_children(self, cell: Cell) -> list[ActorRef | None]:
        """The children to start before anything else. A session's start in their turn, with what else it has to do."""
        if cell.is_session and cell.deferred:
            return []
        return list(cell.snapshot._children.values())

    def _start_children(self, cell: Cell, children: list[ActorRef | None]) -> None:
        """Start the active children, one after the other; a missing one is an error of the parent."""
        while children:
            child = children.pop(0)
            if child is None:
                message = "Cannot read properties of undefined (reading 'getSnapshot')"
                self._fail_start(cell, ExecutionError(message, js_name="TypeError"))
                return
            target = self.cells[child.session]
            if target.snapshot.status == ACTIVE and target.status == NOT_STARTED:
                try:
                    self._claim_name(target)
                except ExecutionError as error:
                    self._fail_start(cell, error)
                    return
                if children:
                    self._push((self._start_children, cell, children))
                self._start(target)
                return

    def _fail_start(self, cell: Cell, error: ExecutionError) -> None:
        self.tasks.pop()  # the update that would have followed the start
        self._crash(cell, error)

    def _begin(self, cell: Cell) -> None:
        if cell.logic.kind == "transition" or cell.snapshot.status != ACTIVE:
            return
        if cell.mailbox and any(event.get("type") == PROMISE_RESOLVE for event in cell.mailbox):
            return  # restored with its result already waiting: the work is done
        cell.begun = True
        self._out.append(record(Begin, (cell.ref, cell.logic, cell.snapshot.input)))
        self._crash_instead(cell)

    def _stop(self, cell: Cell) -> None:
        """Queue the end of an actor behind what it is doing (XState ``_stop``)."""
        if cell.status == ENDED:
            return
        first = cell.mailbox[0] if cell.mailbox and not cell.busy else None
        cell.mailbox = NOTHING
        if cell.status == NOT_STARTED:
            cell.status = ENDED
            return
        if first is not None:
            cell.post(first)
        cell.is_muted = cell.is_session
        self._enqueue(cell, STOP_EVENT)

    def _stop_procedure(self, cell: Cell) -> None:
        if self._timers is not None and cell.program is not None:  # only machines set timers
            for timer in self._timers.cancel_all(cell.ref):
                self._out.append(record(Disarm, (timer,)))
        cell.mailbox = NOTHING
        cell.status = ENDED
        cell.open = False
        self._unregister(cell.ref)

    def _stop_children(self, cell: Cell) -> None:
        snapshot = cell.snapshot
        if not isinstance(snapshot, Snapshot) or not snapshot._children:
            return
        children = [child for child in snapshot._children.values() if child is not None]
        cell.snapshot = snapshot.replace(children={})
        tasks: list[Task] = []
        for child in children:
            self.unregister_tree(child)
            tasks.append((self._stop, self.cells[child.session]))
        self._push_all(*tasks)

    def _crash(self, cell: Cell, error: Any) -> None:
        """A step ended in an error: the snapshot before it, with status ``error``."""
        self.drop_orphans()
        cell.snapshot = with_error(cell.snapshot, error)
        cell.deferred = NOTHING
        if cell.rules.stop_children_on_error:
            self._push((self._die, cell, error))
            self._stop_children(cell)
        else:
            self._die(cell, error)

    def roll_back(self) -> None:
        """A step was interrupted, in a guard or while the host ran its actions: it never happened, its event is gone."""
        index = max((i for i, task in enumerate(self.tasks) if task[0] == self._commit), default=None)
        if index is not None:
            del self.tasks[index]
        self.undo_after(-1)

    @abstractmethod
    def _commit(self, cell: Cell, event: FrozenDict, step: Any) -> None:
        """Take over the outcome of a step (:class:`System`)."""

    def _crash_instead(self, cell: Cell) -> None:
        """Wait for the host; should it fail, the actor crashes instead of doing what is next on the agenda."""
        self._block(cell, self.tasks[-1])

    def fail(self, delivery: Delivery, error: BaseException) -> None:
        """The user's code behind ``delivery`` raised; the rest of its batch is void."""
        assert self._at_stake is not None  # a delivery that may fail blocks the agenda
        cell, planned = self._at_stake
        if planned is None:
            self._deferred_failed(cell, error)
            return
        if isinstance(delivery, Perform):
            self.undo_after(delivery.effect.position[1])
        index = max(i for i, task in enumerate(self.tasks) if task is planned)
        self.tasks[index] = (self._crash, cell, error)
