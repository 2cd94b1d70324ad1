"""A whole actor system as a frozen value, and one step of it.

``step_system(state, delivery) -> (state, effects)`` is what a host that
cannot hold a live :class:`System` uses (a durable one keeps the state in a
database row). The step runs to rest and takes it that every effect succeeds:
such a host performs effects afterwards, under a policy of its own, and
reports what came of them as later deliveries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import UsageError
from ..events import to_event
from ..machine import Machine
from ..values import UNDEFINED, freeze
from .cells import Cell
from .deliveries import Delivery, Timer
from .effects import ActorRef, Record
from .system import System

START, EXECUTE = "start", "execute"


class Begin(NamedTuple):
    """Start the root."""


class Deliver(NamedTuple):
    """Put an event into an actor's mailbox (the root's by default)."""

    event: Any
    target: ActorRef | None = None
    source: ActorRef | None = None


class Fire(NamedTuple):
    """A timer is due, by its handle. Nothing happens when it is not pending any more."""

    handle: int


class Stop(NamedTuple):
    """Stop the root and all below it."""


SystemInput = Begin | Deliver | Fire | Stop


@dataclass(frozen=True, slots=True)
class ActorState:
    """One actor: address, snapshot, and what waits for it."""

    ref: ActorRef
    parent: int | None
    logic: Any
    snapshot: Any
    status: int
    is_open: bool
    begun: bool
    mailbox: tuple[Any, ...]
    deferred: tuple[tuple[str, Any], ...]
    input: Any


@dataclass(frozen=True, slots=True)
class SystemState:
    """Everything a system of actors needs to go on. Immutable."""

    machine: Machine[Any, Any]
    actors: tuple[ActorState, ...]
    timers: tuple[Timer, ...]
    registry: tuple[tuple[str, ActorRef], ...]
    root: int
    next_session: int
    next_timer: int
    now: float

    @property
    def snapshot(self) -> Any:
        """The root's snapshot."""
        return self.actor(self.root).snapshot

    def actor(self, session: int) -> ActorState:
        """The actor with this session number."""
        for actor in self.actors:
            if actor.ref.session == session:
                return actor
        raise UsageError(f"no actor with session {session} in this system")


def initial_system(machine: Machine[Any, Any], input: Any = UNDEFINED, *, now: float = 0) -> SystemState:
    """The system before its root is started. ``now`` in ms; give :class:`Begin` next."""
    system = System(machine, now=now)
    system.boot(freeze(input))
    return freeze_system(system)


def step_system(
    state: SystemState, delivery: SystemInput, *, now: float | None = None
) -> tuple[SystemState, tuple[Delivery, ...]]:
    """The system after ``delivery`` has had all its consequences, and what the host is asked to do.

    Pure: ``state`` is not changed. ``now`` (ms) is the time of the delivery,
    by default that of the state; timers set in the step count from it.
    """
    system = thaw_system(state)
    if now is not None:
        system.now = now
    if isinstance(delivery, Begin):
        system.start()
    elif isinstance(delivery, Deliver):
        system.send(to_event(delivery.event), delivery.target, delivery.source)
    elif isinstance(delivery, Fire):
        timer = system.timers.pending.get(delivery.handle)
        if timer is not None:
            system.fire(timer)
    else:
        system.stop()
    asked: list[Delivery] = []
    while batch := system.run():
        asked.extend(batch)
    return freeze_system(system), tuple(asked)


def freeze_system(system: System) -> SystemState:
    """``system`` (at rest) as a value. Raises :class:`UsageError` in the middle of a step."""
    if not system.idle:
        raise UsageError("a system can be frozen only at rest")
    return SystemState(
        machine=system.machine,
        actors=tuple(_freeze_cell(system, cell) for cell in system.cells.values()),
        timers=tuple(system.timers.pending.values()),
        registry=tuple(system.registry.items()),
        root=system.root.ref.session,
        next_session=system.next_session,
        next_timer=system.timers.next_handle,
        now=system.now,
    )


def _freeze_cell(system: System, cell: Cell) -> ActorState:
    return ActorState(
        ref=cell.ref,
        parent=None if cell.parent is None else cell.parent.ref.session,
        logic=cell.logic,
        snapshot=cell.snapshot,
        status=cell.status,
        is_open=cell.open,
        begun=cell.begun,
        mailbox=tuple(cell.mailbox),
        deferred=tuple(_freeze_task(system, task) for task in cell.deferred),
        input=cell.input,
    )


def _freeze_task(system: System, task: tuple[Any, ...]) -> tuple[str, Any]:
    """Only two kinds of task can wait at rest: those of an actor that has not been started."""
    kind = START if task[0] == system._start_deferred else EXECUTE
    return kind, task[1]


def thaw_system(state: SystemState) -> System:
    """A live system from a value."""
    system = System(state.machine, now=state.now, first_session=state.next_session)
    for actor in state.actors:
        parent = None if actor.parent is None else system.cells.get(actor.parent)
        cell = Cell(actor.ref, actor.logic, parent, actor.input)
        cell.snapshot = actor.snapshot
        cell.status = actor.status
        cell.open = actor.is_open
        cell.begun = actor.begun
        for item in actor.mailbox:
            cell.post(item)
        for kind, data in actor.deferred:
            cell.defer(_thaw_task(system, kind, data))
        system.cells[actor.ref.session] = cell
        system.has_sessions = system.has_sessions or cell.is_session
    system.root = system.cells[state.root]
    system.registry.update(state.registry)
    for timer in state.timers:
        system.timers.put(timer)
    system.timers.next_handle = state.next_timer
    return system


def _thaw_task(system: System, kind: str, data: ActorRef | Record) -> tuple[Any, ...]:
    return (system._start_deferred if kind == START else system._execute_initial, data)
