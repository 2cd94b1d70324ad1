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

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from ..errors import ExecutionError, StatechartError
from ..events import ERROR, STOP, STOP_EVENT, done_actor_event, error_actor_event, init_event, snapshot_event
from ..machine import Machine
from ..values import UNDEFINED, FrozenDict
from .actors import LogicSnapshot
from .deliveries import (
    Arm,
    Begin,
    Completed,
    Delivery,
    Disarm,
    Emitted,
    End,
    Failed,
    Inspected,
    Perform,
    Published,
    Receive,
    Timer,
)
from .effects import (
    ActorCreated,
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    MicrostepTaken,
    RaiseEvent,
    Record,
    RunAction,
    SendEvent,
    StartActor,
    StopActor,
)
from .inspection import (
    ActionInspection,
    ActorInspection,
    EventInspection,
    MicrostepInspection,
    SnapshotInspection,
)
from .macrostep import initial_step, macrostep
from .program import Program, program_of
from .semantics import Semantics
from .snapshot import ACTIVE, DONE, Snapshot
from .timers import Timers

NOT_STARTED, RUNNING, ENDED = 0, 1, 2
Task = tuple[Any, ...]


class EventFlood(StatechartError):
    """Actors kept feeding each other beyond :attr:`System.max_events`."""


class Cell:
    """One actor as the system keeps it."""

    __slots__ = (
        "begun", "busy", "deferred", "input", "logic", "mailbox", "open", "parent", "program", "ref", "snapshot", "status",
    )  # fmt: skip

    def __init__(self, ref: ActorRef, logic: Any, parent: Cell | None, input: Any) -> None:  # noqa: A002
        self.ref = ref
        self.logic = logic
        self.program: Program | None = program_of(logic) if isinstance(logic, Machine) else None
        self.parent = parent
        self.input = input
        self.snapshot: Any = None
        self.status = NOT_STARTED
        self.mailbox: deque[FrozenDict] = deque()
        self.busy = False
        self.open = False
        self.begun = False
        self.deferred: deque[Any] = deque()

    def __repr__(self) -> str:
        return f"<Cell {self.ref.session_id} {self.ref.id!r}>"


class SystemView:
    """What a user's function sees as ``system``: actors by their system-wide name."""

    __slots__ = ("_registry",)

    def __init__(self, registry: dict[str, ActorRef]) -> None:
        self._registry = registry

    def get(self, system_id: str) -> ActorRef | None:
        """The actor registered under ``system_id``, if any."""
        return self._registry.get(system_id)

    def get_all(self) -> dict[str, ActorRef]:
        """All registered actors by name."""
        return dict(self._registry)


class CellScope:
    """One actor's window on the system while its step is computed."""

    __slots__ = ("cell", "observed", "system")

    def __init__(self, system: System, cell: Cell) -> None:
        self.system = system
        self.cell = cell
        self.observed = system.observed

    @property
    def self_ref(self) -> ActorRef:
        return self.cell.ref

    @property
    def parent_ref(self) -> ActorRef | None:
        return self.cell.parent.ref if self.cell.parent is not None else None

    @property
    def view(self) -> SystemView:
        return self.system.view

    def create(
        self,
        src: Any,
        logic: Any,
        actor_id: Any,
        system_id: str | None,
        input: Any,  # noqa: A002
        sync_snapshot: Any,
        records: list[Record],
    ) -> ActorRef:
        return self.system.create(src, logic, actor_id, system_id, input, sync_snapshot, records, self.cell).ref

    def unregister(self, ref: ActorRef, position: int) -> None:
        self.system.unregister_tree(ref)


class System:
    """All actors of one root. Mutable; owned by one host.

    ``observed`` asks for inspection events. ``first_session`` numbers the
    root's session (children follow).
    """

    def __init__(
        self, machine: Machine[Any, Any], *, now: float = 0, observed: bool = False, first_session: int = 0
    ) -> None:
        self.machine = machine
        self.semantics: Semantics = program_of(machine).semantics
        self.now = now
        self.observed = observed
        self.next_session = first_session
        self.cells: dict[int, Cell] = {}
        self.registry: dict[str, ActorRef] = {}
        self.view = SystemView(self.registry)
        self.timers = Timers(self.semantics.cancel_all_with_id)
        self.root: Cell = cast("Cell", None)
        self._stack: list[Task] = []
        self._out: list[Delivery] = []
        self._blocked = False
        self._on_failure: Callable[[Any, BaseException], None] | None = None
        self._created: list[Cell] = []
        self.max_events: int | None = None
        self.events = 0

    # -------------------------------------------------------------- creation

    def boot(self, input: Any = UNDEFINED, *, system_id: str | None = None) -> None:  # noqa: A002
        """Create the root from its initial state; :meth:`start` starts it."""
        records: list[Record] = []
        self.root = self.create(self.machine.id, self.machine, None, system_id, input, UNDEFINED, records, None)
        self._report(records)

    def create(
        self,
        src: Any,
        logic: Any,
        actor_id: Any,
        system_id: str | None,
        input: Any,  # noqa: A002
        sync_snapshot: Any,
        records: list[Record],
        parent: Cell | None,
        restored: Callable[[Cell, list[Record]], Any] | None = None,
    ) -> Cell:
        """A new actor with its first snapshot (XState ``createActor``). Raises for a taken ``system_id``."""
        session = self.next_session
        self.next_session += 1
        name = actor_id if isinstance(actor_id, str) else f"x:{session}"
        ref = ActorRef(session, name, src, system_id, sync_snapshot)
        cell = Cell(ref, logic, parent, input)
        if self.observed:
            records.append(ActorCreated(ref))
        if system_id:
            self._register(system_id, ref)
        self.cells[session] = cell
        self._created.append(cell)
        try:
            cell.snapshot = restored(cell, records) if restored is not None else self._initial(cell, input, records)
        except Exception as error:
            cell.snapshot = LogicSnapshot("error", error=error)
        if system_id and cell.snapshot.status != ACTIVE:
            self._unregister(ref)
        return cell

    def _initial(self, cell: Cell, input: Any, records: list[Record]) -> Any:  # noqa: A002
        if cell.program is None:
            return cell.logic.initial(input)
        step = initial_step(cell.program, input, CellScope(self, cell))
        for effect in step.effects:
            if isinstance(effect, (ActorCreated, MicrostepTaken)):
                records.append(effect)
            elif isinstance(effect, StartActor) and effect.by_assign:
                cell.deferred.append((self._start_deferred, effect.ref))
            else:
                cell.deferred.append((self._execute_initial, effect))
        return step.snapshot

    def _register(self, system_id: str, ref: ActorRef) -> None:
        existing = self.registry.get(system_id)
        if existing is not None and existing.session != ref.session:
            raise ExecutionError(f"Actor with system ID '{system_id}' already exists.")
        self.registry[system_id] = ref

    def _claim_name(self, cell: Cell) -> None:
        if cell.ref.system_id:
            self._register(cell.ref.system_id, cell.ref)

    def _unregister(self, ref: ActorRef) -> None:
        if ref.system_id and self.registry.get(ref.system_id) == ref:
            del self.registry[ref.system_id]

    def unregister_tree(self, ref: ActorRef) -> None:
        """Free the system ids of an actor that is being stopped, and of all below it."""
        cell = self.cells.get(ref.session)
        if cell is None:
            return
        if isinstance(cell.snapshot, Snapshot):
            for child in cell.snapshot._children.values():
                if child is not None:
                    self.unregister_tree(child)
        self._unregister(ref)

    # ------------------------------------------------------------- driving

    def start(self) -> None:
        """Start the root."""
        self._push((self._start, self.root))

    def send(self, event: FrozenDict, target: ActorRef | None = None, source: ActorRef | None = None) -> None:
        """Put ``event`` into a mailbox (the root's by default)."""
        self._push((self._relay, source, self.root.ref if target is None else target, event))

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

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        return not self._stack

    def run(self) -> list[Delivery]:
        """Go on until the host has something to do; an empty list means rest."""
        stack = self._stack
        while stack and not self._blocked:
            task = stack.pop()
            task[0](*task[1:])
        self._blocked = False
        batch, self._out = self._out, []
        return batch

    def fail(self, delivery: Delivery, error: BaseException) -> None:
        """The user's code behind ``delivery`` raised; the rest of its batch is void."""
        handler = self._on_failure
        if handler is not None:
            handler(delivery, error)

    def cell(self, ref: ActorRef) -> Cell | None:
        """The actor behind an address, while the system knows it."""
        return self.cells.get(ref.session)

    def _push(self, task: Task) -> None:
        self._stack.append(task)

    def _push_all(self, *tasks: Task) -> None:
        self._stack.extend(reversed(tasks))

    def _block(self, on_failure: Callable[[Any, BaseException], None]) -> None:
        self._blocked = True
        self._on_failure = on_failure

    # ------------------------------------------------------------- mailboxes

    def _relay(self, source: ActorRef | None, target: ActorRef | None, event: FrozenDict) -> None:
        if self.observed and target is not None:
            self._out.append(Inspected(EventInspection(target, source, event)))
        self.events += 1
        if self.max_events is not None and self.events > self.max_events:
            self._stack.clear()
            raise EventFlood(f"actors exchanged more than {self.max_events} events without coming to rest")
        if target is None:
            raise ExecutionError("Cannot read properties of undefined (reading '_send')", js_name="TypeError")
        cell = self.cells.get(target.session)
        if cell is None or cell.status == ENDED:
            return
        self._enqueue(cell, event)

    def _enqueue(self, cell: Cell, event: FrozenDict) -> None:
        cell.mailbox.append(event)
        if not cell.busy and cell.open:
            cell.busy = True
            self._push((self._flush, cell))

    def _flush(self, cell: Cell) -> None:
        if not cell.mailbox:
            cell.busy = False
            return
        event = cell.mailbox.popleft()
        self._push((self._flush, cell))
        self._process(cell, event)

    def _open(self, cell: Cell) -> None:
        if cell.status != RUNNING:
            return
        cell.open = True
        if cell.mailbox and not cell.busy:
            cell.busy = True
            self._push((self._flush, cell))

    # ------------------------------------------------------------- one event

    def _process(self, cell: Cell, event: FrozenDict) -> None:
        if cell.program is None:
            self._process_logic(cell, event)
            return
        self._created = []
        step = macrostep(cell.program, cell.snapshot, event, CellScope(self, cell))
        if step.error is not None:
            self._push((self._crash, cell, step.error, step.snapshot))
        else:
            self._push((self._commit, cell, event, step))
        self._perform_inline(cell, step.effects, step.snapshot)

    def _perform_inline(self, cell: Cell, effects: tuple[Record, ...], failed_as: Any) -> None:
        """Hand out the effects that run at once; what fails first ends the step."""
        must_wait = False
        for effect in effects:
            if isinstance(effect, (RunAction, LogMessage)):
                if self.observed:
                    self._out.append(Inspected(_action(cell.ref, effect)))
                if isinstance(effect, LogMessage) or effect.function is not None:
                    self._out.append(Perform(cell.ref, effect))
                    must_wait = True
            elif self.observed:
                self._observe(cell.ref, effect)
        if must_wait:
            self._crash_instead(cell)

    def _crash_instead(self, cell: Cell) -> None:
        """Wait for the host; should it fail, the actor crashes instead of doing what is next on the agenda."""
        planned = self._stack[-1]

        def failed(_delivery: Any, error: BaseException) -> None:
            index = max(i for i, task in enumerate(self._stack) if task is planned)
            self._stack[index] = (self._crash, cell, error, None)

        self._block(failed)

    def _observe(self, ref: ActorRef, record: Record) -> None:
        if isinstance(record, MicrostepTaken):
            shown: Any = MicrostepInspection(record.ref, record.event, record.snapshot, record.transitions)
        elif isinstance(record, ActorCreated):
            shown = ActorInspection(record.ref)
        elif isinstance(record, StartActor) and record.by_assign:
            return
        else:
            shown = _action(ref, record)
        self._out.append(Inspected(shown))

    def _report(self, records: list[Record]) -> None:
        if self.observed:
            for record in records:
                if isinstance(record, (ActorCreated, MicrostepTaken)):
                    self._observe(self.root.ref, record)

    def _crash(self, cell: Cell, error: BaseException, snapshot: Any) -> None:
        """A step ended in an error: the snapshot before it, with status ``error``."""
        for orphan in self._created:
            if orphan.status == NOT_STARTED:
                self.cells.pop(orphan.ref.session, None)
        self._created = []
        cell.snapshot = _with_error(cell.snapshot, error)
        cell.deferred.clear()
        if self.semantics.stop_children_on_error:
            self._push((self._die, cell, error))
            self._stop_children(cell)
        else:
            self._die(cell, error)

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

    def _process_logic(self, cell: Cell, event: FrozenDict) -> None:
        before = cell.snapshot
        try:
            after = cell.logic.transition(before, event)
        except Exception as error:
            self._crash(cell, error, None)
            return
        self._push((self._commit_logic, cell, event, after))
        if event["type"] == STOP:
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
        self._created = []
        cell.snapshot = step.snapshot
        for effect in step.effects:
            self._defer(cell, effect)
        self._update(cell, event)

    def _defer(self, cell: Cell, effect: Record) -> None:
        """What executing a built-in does: something for when the macrostep is over."""
        if isinstance(effect, StopActor):
            child = None if effect.ref is None else self.cells.get(effect.ref.session)
            if child is None:
                return
            if child.status != RUNNING:
                child.status = ENDED  # over already, or it will never start
                self._forget(child)
            else:
                cell.deferred.append((self._stop, child))
        elif isinstance(effect, StartActor):
            if effect.ref is not None:
                cell.deferred.append((self._start_deferred, effect.ref))
        elif isinstance(effect, RaiseEvent):
            if effect.delay is not UNDEFINED:
                cell.deferred.append((self._schedule, cell, cell.ref, effect.event, effect.delay, effect.id))
        elif isinstance(effect, SendEvent):
            cell.deferred.append((self._send_effect, cell, effect))
        elif isinstance(effect, CancelEvent):
            cell.deferred.append((self._cancel, cell, effect.send_id))
        elif isinstance(effect, EmitEvent):
            cell.deferred.append((self._emit, cell, effect.event))

    # ----------------------------------------------------- after a macrostep

    def _update(self, cell: Cell, event: FrozenDict, opens: bool = False) -> None:
        """Run what was deferred, then act on the status (XState ``update``)."""
        self._push((self._after_deferred, cell, event, cell.snapshot, opens))
        if cell.deferred:
            self._push((self._run_deferred, cell))

    def _run_deferred(self, cell: Cell) -> None:
        if not cell.deferred:
            return
        task = cell.deferred.popleft()
        if cell.deferred:
            self._push((self._run_deferred, cell))
        if task[0] == self._execute_initial:
            self._execute_initial(cell, task[1])
            return
        try:
            task[0](*task[1:])
        except ExecutionError as error:
            self._deferred_failed(cell, error)

    def _deferred_failed(self, cell: Cell, error: BaseException) -> None:
        cell.deferred.clear()
        cell.snapshot = _with_error(cell.snapshot, error)

    def _execute_initial(self, cell: Cell, effect: Record) -> None:
        """An effect of the initial state: built-ins defer to behind all others, actions run now."""
        if self.observed:
            self._out.append(Inspected(_action(cell.ref, effect)))
        if not isinstance(effect, (RunAction, LogMessage)):
            before = len(cell.deferred)
            self._defer(cell, effect)
            if before == 0 and cell.deferred:
                self._push((self._run_deferred, cell))
            return
        if isinstance(effect, LogMessage) or effect.function is not None:
            self._out.append(Perform(cell.ref, effect))
            self._block(lambda _delivery, error: self._deferred_failed(cell, error))

    def _send_effect(self, cell: Cell, effect: SendEvent) -> None:
        if effect.delay is not UNDEFINED:
            self._schedule(cell, effect.target, effect.event, effect.delay, effect.id)
            return
        event = effect.event
        if event["type"] == ERROR:
            event = error_actor_event(cell.ref.id, event.get("data", UNDEFINED))
        self._relay(cell.ref, effect.target, event)

    def _schedule(self, cell: Cell, target: ActorRef | None, event: FrozenDict, delay: float, send_id: Any) -> None:
        timer = self.timers.add(cell.ref, target, event, delay, send_id, self.now)
        self._out.append(Arm(timer))

    def _cancel(self, cell: Cell, send_id: Any) -> None:
        for timer in self.timers.cancel(cell.ref, send_id):
            self._out.append(Disarm(timer))

    def _emit(self, cell: Cell, event: FrozenDict) -> None:
        self._out.append(Emitted(cell.ref, event))

    def emit(self, ref: ActorRef, event: FrozenDict) -> None:
        """An actor's own code emits (promise, callback, observable)."""
        self._out.append(Emitted(ref, event))

    def _after_deferred(self, cell: Cell, event: FrozenDict, snapshot: Any, opens: bool) -> None:
        status = cell.snapshot.status
        tasks: list[Task] = []
        if status == ACTIVE:
            if cell.ref.sync_snapshot is True and cell.parent is not None:
                tasks.append((self._relay, cell.ref, cell.parent.ref, snapshot_event(cell.ref.id, snapshot)))
            tasks.append((self._publish, cell, snapshot))
        elif status == DONE:
            tasks.append((self._publish, cell, snapshot))
            tasks.append((self._finish, cell, snapshot))
        elif status == "error":
            tasks.append((self._die, cell, cell.snapshot.error))
        if self.observed:
            tasks.append((self._inspect_snapshot, cell, event, snapshot))
        if event["type"] == STOP:
            tasks.append((self._complete_stop, cell))
        if opens:
            tasks.append((self._open, cell))
        self._push_all(*tasks)

    def _publish(self, cell: Cell, snapshot: Any) -> None:
        self._out.append(Published(cell.ref, snapshot))

    def _inspect_snapshot(self, cell: Cell, event: FrozenDict, snapshot: Any) -> None:
        self._out.append(Inspected(SnapshotInspection(cell.ref, event, snapshot)))

    def _complete_stop(self, cell: Cell) -> None:
        self._stop_procedure(cell)
        self._out.append(Completed(cell.ref))
        self._forget(cell)

    def _forget(self, cell: Cell) -> None:
        """Drop an actor that is over and that its parent does not list any more."""
        parent = None if cell.parent is None else cell.parent.snapshot
        if isinstance(parent, Snapshot) and cell.ref not in parent._children.values():
            self.cells.pop(cell.ref.session, None)

    def _finish(self, cell: Cell, snapshot: Any) -> None:
        self._stop_procedure(cell)
        self._out.append(Completed(cell.ref))
        if cell.parent is not None:
            event = done_actor_event(cell.ref.id, snapshot.output)
            self._relay(cell.ref, cell.parent.ref, event)

    def _die(self, cell: Cell, error: Any) -> None:
        self._stop_procedure(cell)
        self._out.append(Failed(cell.ref, error))
        if cell.parent is not None:
            self._relay(cell.ref, cell.parent.ref, error_actor_event(cell.ref.id, error))

    # -------------------------------------------------------- start and stop

    def _start_deferred(self, ref: ActorRef) -> None:
        cell = self.cells.get(ref.session)
        if cell is not None and cell.status != ENDED:
            self._start(cell)

    def _start(self, cell: Cell) -> None:
        if cell.status == RUNNING:
            return
        self._claim_name(cell)
        cell.status = RUNNING
        event = init_event(cell.input)
        if self.observed:
            source = cell.parent.ref if cell.parent is not None else None
            self._out.append(Inspected(EventInspection(cell.ref, source, event)))
        status = cell.snapshot.status
        if status == DONE:
            self._update(cell, event)
        elif status == "error":
            self._die(cell, cell.snapshot.error)
        elif status == "stopped" and self.semantics.stopped_stays_stopped:
            self._complete_stop(cell)
        elif cell.program is not None:
            self._push((self._update, cell, event, True))
            self._push((self._start_children, cell, list(cell.snapshot._children.values())))
        else:
            self._push((self._update, cell, event, True))
            self._begin(cell)

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
        self._stack.pop()  # the update that would have followed the start
        self._crash(cell, error, None)

    def _begin(self, cell: Cell) -> None:
        if cell.logic.kind == "transition" or cell.snapshot.status != ACTIVE:
            return
        cell.begun = True
        self._out.append(Begin(cell.ref, cell.logic, cell.snapshot.input))
        self._crash_instead(cell)

    def _stop(self, cell: Cell) -> None:
        """Queue the end of an actor behind what it is doing (XState ``_stop``)."""
        if cell.status == ENDED:
            return
        first = cell.mailbox[0] if cell.mailbox and not cell.busy else None
        cell.mailbox.clear()
        if cell.status == NOT_STARTED:
            cell.status = ENDED
            return
        if first is not None:
            cell.mailbox.append(first)
        self._enqueue(cell, STOP_EVENT)

    def _stop_procedure(self, cell: Cell) -> None:
        if cell.status != RUNNING:
            return
        for timer in self.timers.cancel_all(cell.ref):
            self._out.append(Disarm(timer))
        cell.mailbox.clear()
        cell.status = ENDED
        cell.open = False
        self._unregister(cell.ref)


def _action(ref: ActorRef, effect: Any) -> ActionInspection:
    params: Any
    if isinstance(effect, RunAction):
        params = effect.params
    elif isinstance(effect, StopActor):
        params = effect.ref
    else:
        params = {name: value for name, value in effect._asdict().items() if name != "position"}
    return ActionInspection(ref, effect.type, params)


def _with_error(snapshot: Any, error: BaseException) -> Any:
    """The same snapshot with status ``error``."""
    if isinstance(snapshot, Snapshot):
        return snapshot.replace(status="error", error=error)
    return replace(snapshot, status="error", error=error)


