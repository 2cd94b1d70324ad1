"""The pure face: a snapshot and an event in, a snapshot and effects out.

Nothing runs and nothing is remembered: children are created (their first
snapshots computed) but belong to no host, as in XState's ``transition``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from ..definition import XSTATE_EXACT
from ..errors import ImplementationError, SnapshotError, StatechartError, UsageError
from ..events import INTERNED, to_event
from ..json_text import loads
from ..machine import Machine
from ..values import UNDEFINED, freeze
from .effects import ActorRef, Effect, NewActor, Record
from .envelope import is_envelope, open_envelope
from .envelope_text import require_lone, sealed_in_text
from .macrostep import initial_step, macrostep
from .persistence import restore, simple_snapshot
from .program import program_of
from .routes import leap
from .snapshot import Snapshot, Step
from .system import Cell, System, SystemView
from .text_reading import snapshot_in_text


class PureScope:
    """A scope for one step without a host: a throw-away system is made when a child is."""

    __slots__ = ("_cell", "_free_session", "_machine", "_ref", "_system", "first_session", "observed")

    def __init__(
        self, machine: Machine[Any, Any], first_session: int = 0, snapshot: Snapshot[Any] | None = None
    ) -> None:
        last = first_session
        if snapshot is not None and snapshot._children:
            known = snapshot._children.values()
            last = max((ref.session for ref in known if ref is not None), default=first_session)
        self._free_session = last + 1
        self._machine = machine
        self._system: System | None = None
        self._ref: ActorRef | None = None
        self._cell: Cell | None = None
        self.first_session = first_session
        self.observed = False

    @property
    def self_ref(self) -> ActorRef:
        if self._ref is None:
            self._ref = ActorRef(self.first_session, f"x:{self.first_session}", self._machine.id)
        return self._ref

    @property
    def parent_ref(self) -> ActorRef | None:
        return None

    @property
    def view(self) -> SystemView:
        return self._own_system().view

    @property
    def next_session(self) -> int:
        """The session number after those used here."""
        return self._free_session if self._system is None else self._system.next_session

    def _own_system(self) -> System:
        if self._system is None:
            self._system = System(self._machine, first_session=self._free_session)
            self._cell = Cell(self.self_ref, self._machine, None, UNDEFINED)
        return self._system

    def create(self, new: NewActor, records: list[Record]) -> ActorRef:
        return self._own_system().create(new, records, self._cell).ref

    def unregister(self, ref: ActorRef, position: int) -> None:
        """Nothing is stopped here, so nothing is freed."""

    def session(self, session_id: str) -> ActorRef | None:
        """Nobody but the machine itself is known here."""
        return self.self_ref if session_id == self.self_ref.session_id else None

    def is_live(self, ref: ActorRef) -> bool:
        """Whoever has an address is taken to be there."""
        return True


def step(
    machine: Machine[Any, Any], snapshot: Snapshot[Any], event: Any, scope: PureScope | None = None
) -> Step:
    """:func:`transition` as a :class:`Step`: an error is in it instead of raised."""
    return macrostep(
        program_of(machine), snapshot, to_event(event), scope or PureScope(machine, snapshot=snapshot)
    )


@overload
def transition(
    machine: Machine[Any, Any], snapshot: Snapshot[Any], event: str
) -> tuple[Snapshot[Any], tuple[Effect, ...]]: ...
@overload
def transition(
    machine: Machine[Any, Any], snapshot: Snapshot[Any], event: Mapping[str, Any]
) -> tuple[Snapshot[Any], tuple[Effect, ...]]: ...
def transition(machine: Machine[Any, Any], snapshot: Any, event: Any) -> tuple[Snapshot[Any], tuple[Effect, ...]]:
    """The snapshot after ``event`` and the effects to perform, in XState's order.

    Pure: the arguments are not changed and nothing runs. Raises the error
    that ended the step, as :class:`StatechartError` (an exception of a user's
    callable becomes :class:`ImplementationError` with it as cause), with the
    :class:`Step` as its ``step`` attribute.
    """
    if not isinstance(snapshot, Snapshot):
        raise UsageError(f"transition() takes a Snapshot of the machine, not {type(snapshot).__name__}")
    program = snapshot._configuration.program
    if program is not machine._program:
        snapshot = _of(machine, snapshot)
        program = snapshot._configuration.program
    made = INTERNED[event] if type(event) is str and event in INTERNED else to_event(event)
    taken = leap(snapshot, made)
    if isinstance(taken, Snapshot):
        return taken, ()
    if not isinstance(taken, Step):
        taken = macrostep(program, snapshot, made, PureScope(machine, snapshot=snapshot), taken)
    if taken.error is not None:
        raise _raised(taken)
    return taken.snapshot, taken.effects  # type: ignore[return-value] # nobody observes, so there are no other records


def _of(machine: Machine[Any, Any], snapshot: Snapshot[Any]) -> Snapshot[Any]:
    """``snapshot`` as one of ``machine``. Raises :class:`UsageError` when it belongs to another definition."""
    if snapshot._program.definition is not machine.definition:
        raise UsageError(
            f"the snapshot belongs to machine {snapshot.machine_id!r}, loaded separately from {machine.id!r}"
        )
    return rebase(machine, snapshot)


def initial_transition(
    machine: Machine[Any, Any],
    input: Any = None,
) -> tuple[Snapshot[Any], tuple[Effect, ...]]:
    """The first snapshot for ``input`` and the effects to perform. Raises like :func:`transition`."""
    given = UNDEFINED if input is None else freeze(input)
    taken = initial_step(program_of(machine), given, PureScope(machine))
    if taken.error is not None:
        raise _raised(taken)
    return taken.snapshot, taken.effects  # type: ignore[return-value] # nobody observes, so there are no other records


def restore_snapshot(machine: Machine[Any, Any], saved: str | Mapping[str, Any]) -> Snapshot[Any]:
    """The snapshot in XState's persisted form or in an envelope, as JSON text or read already.

    What :meth:`Snapshot.to_xstate`, :meth:`Snapshot.save` and the two as text
    are the other way of: for :func:`transition` without a host. Children,
    timers and queued events are for a host: ``simulate(machine, snapshot=saved)``.
    Raises :class:`SnapshotError` when it does not fit the machine, and
    :class:`UsageError` when it takes a host.
    """
    document: Any = saved
    if isinstance(saved, str):
        known = snapshot_in_text(program_of(machine), saved)
        if known is not None:
            return known
        sealed = sealed_in_text(machine, saved)
        if sealed is not None:
            return sealed[0]
        document = loads(saved)
    found = simple_snapshot(program_of(machine), document)
    if found is not None:
        return found
    system = System(machine)
    if is_envelope(document):
        open_envelope(system, document)
    else:
        restore(system, document, strict=machine.semantics != XSTATE_EXACT)
    restored = system.root.snapshot
    if not isinstance(restored, Snapshot):
        raise SnapshotError(f"the snapshot does not fit machine {machine.id!r}: {restored.error}")
    require_lone(system, "this snapshot")
    return restored


def rebase(machine: Machine[Any, Any], snapshot: Snapshot[Any]) -> Snapshot[Any]:
    """``snapshot`` for another machine of the same definition (after ``provide``)."""
    program = program_of(machine)
    configuration = program.intern(snapshot._configuration.nodes)
    return Snapshot(configuration, snapshot._order, snapshot._context, snapshot._rest, snapshot._sequence)


def _raised(taken: Step) -> StatechartError:
    error = taken.error
    assert error is not None
    if isinstance(error, StatechartError):
        result: StatechartError = error
    else:
        notes = "; ".join(getattr(error, "__notes__", ()))
        result = ImplementationError(f"{type(error).__name__}: {error} ({notes})")
        result.__cause__ = error
    result.step = taken  # type: ignore[attr-defined]
    return result
