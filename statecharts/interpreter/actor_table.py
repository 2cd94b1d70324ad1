"""Which actors there are: creation, addresses, system-wide names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from ..errors import ExecutionError
from ..machine import Machine
from ..values import UNDEFINED
from .actors import LogicSnapshot
from .agenda import Agenda
from .cells import Cell, CellScope, SystemView
from .deliveries import (
    Inspected,
)
from .effects import (
    ActorCreated,
    ActorRef,
    MicrostepTaken,
    NewActor,
    Record,
    RunAction,
    StartActor,
    StopActor,
)
from .inspection import (
    ActionInspection,
    ActorInspection,
    MicrostepInspection,
)
from .macrostep import initial_step
from .program import program_of
from .snapshot import ACTIVE, Snapshot
from .timers import Timers

MAX_NESTING: Final = 100
"""How deep actors may be made in the first step of one another; compiled code would not notice that it has no end."""
_FIRST_NAMES = tuple(f"x:{session}" for session in range(64))


def session_name(session: int) -> str:
    """What an actor without a name of its own is called. Roots, of which there are many, share the text."""
    return _FIRST_NAMES[session] if session < len(_FIRST_NAMES) else f"x:{session}"


class Actors(Agenda, ABC):
    """The actors of one root, by address. There may be very many systems, so what few of them need is made late."""

    __slots__ = (
        "_created",
        "_forgotten",
        "_freed",
        "_nesting",
        "_registry",
        "_sole",
        "_table",
        "_timers",
        "_view",
        "events",
        "has_sessions",
        "keep_ended",
        "machine",
        "max_events",
        "next_session",
        "now",
        "observed",
        "root",
        "root_only",
    )  # fmt: skip

    root: Cell
    """The first actor; there is none before :meth:`boot` or a restore."""

    def __init__(
        self, machine: Machine[Any, Any], *, now: float = 0, observed: bool = False, first_session: int = 0
    ) -> None:
        super().__init__()
        self.max_events: int | None = None
        self.events = 0
        self.machine = machine
        self.now = now
        self.observed = observed
        self.next_session = first_session
        self._sole: Cell | None = None
        self._table: dict[int, Cell] | None = None
        self._registry: dict[str, ActorRef] | None = None
        self._view: SystemView | None = None
        self._timers: Timers | None = None
        self._created: list[tuple[int, Cell]] | None = None
        self._freed: list[tuple[int, ActorRef]] | None = None
        self._forgotten: list[int] | None = None
        self.keep_ended = False
        self.root_only = False
        self.has_sessions = False
        self._nesting = 0

    @property
    def root_id(self) -> str:
        """The session id of the root."""
        return f"x:{min(self.cells, default=0)}"

    @property
    def cells(self) -> dict[int, Cell]:
        """The actors by session. A table is made for the second one, or when somebody looks: most systems have one."""
        table = self._table
        if table is None:
            sole, self._sole = self._sole, None
            table = self._table = {} if sole is None else {sole.ref.session: sole}
        return table

    def find(self, session: int) -> Cell | None:
        """The actor with this number, while the system knows it."""
        table = self._table
        if table is not None:
            return table.get(session)
        sole = self._sole
        return sole if sole is not None and sole.ref.session == session else None

    def _add(self, cell: Cell) -> None:
        if self._table is None and self._sole is None:
            self._sole = cell
        else:
            self.cells[cell.ref.session] = cell
        self.has_sessions = self.has_sessions or cell.is_session

    @property
    def registry(self) -> dict[str, ActorRef]:
        """Actors by their system-wide names."""
        if self._registry is None:
            self._registry = {}
        return self._registry

    @property
    def view(self) -> SystemView:
        """What a user's function sees as ``system``."""
        if self._view is None:
            self._view = SystemView(self.registry)
        return self._view

    @property
    def timers(self) -> Timers:
        """Pending delayed events."""
        if self._timers is None:
            self._timers = Timers(self._cancels_all)
        return self._timers

    def boot(self, input: Any = UNDEFINED, *, system_id: str | None = None) -> None:
        """Create the root from its initial state; :meth:`start` starts it."""
        records: list[Record] = []
        self.root = self.create(
            NewActor(self.machine.id, self.machine, system_id=system_id, input=input), records, None
        )
        self._report(records)

    def create(
        self,
        new: NewActor,
        records: list[Record],
        parent: Cell | None,
        restored: Callable[[Cell, list[Record]], Any] | None = None,
    ) -> Cell:
        """A new actor with its first snapshot (XState ``createActor``). Raises for a taken ``system_id``."""
        if self._nesting >= MAX_NESTING:
            raise RecursionError(f"actors that make actors as they begin, {MAX_NESTING} deep")
        session = self.next_session
        self.next_session += 1
        cell = Cell(self._address(new, session, parent), new.logic, parent, new.input)
        ref = cell.ref
        if self.observed:
            records.append(ActorCreated(ref))
        if new.system_id:
            self._register(new.system_id, ref)
        self._add(cell)
        if self._created is None:
            self._created = []
        self._created.append((len(records), cell))
        self._nesting += 1
        try:
            cell.snapshot = (
                restored(cell, records) if restored is not None else self._initial(cell, new.input, records)
            )
        except Exception as error:
            cell.snapshot = LogicSnapshot("error", error=error)
        finally:
            self._nesting -= 1
        if new.system_id and cell.snapshot.status != ACTIVE:
            self._unregister(ref)
        return cell

    def _address(self, new: NewActor, session: int, parent: Cell | None) -> ActorRef:
        if parent is None and session == 0 and not new.system_id and new.id is None:
            return program_of(self.machine).root_ref  # the same for all systems of a machine
        name = new.id if isinstance(new.id, str) else session_name(session)
        return ActorRef(session, name, new.src, new.system_id, new.sync_snapshot)

    def place_root(self, snapshot: Snapshot[Any]) -> None:
        """The root with a snapshot it had before, in which there is no other actor. Nobody is observing."""
        cell = Cell(program_of(self.machine).root_ref, self.machine, None, UNDEFINED)
        cell.snapshot = snapshot
        self.next_session = 1
        self.root = cell
        self._add(cell)

    def _initial(self, cell: Cell, input: Any, records: list[Record]) -> Any:
        if cell.program is None:
            return cell.logic.initial(input)
        step = initial_step(cell.program, input, CellScope(self, cell))
        for effect in step.effects:
            if isinstance(effect, (ActorCreated, MicrostepTaken)):
                records.append(effect)
            elif isinstance(effect, StartActor) and effect.by_assign:
                cell.defer((self._start_deferred, effect.ref))
            else:
                cell.defer((self._execute_initial, effect))
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

    def unregister_tree(self, ref: ActorRef, position: int = -1) -> None:
        """Free the system ids of an actor that is being stopped, and of all below it."""
        if not self._registry:
            return
        found: list[ActorRef] = []
        waiting = [ref]
        while waiting:  # a loop: actors may stand below one another in any number
            parent = waiting.pop()
            cell = self.find(parent.session)
            if cell is not None:
                found.append(parent)
                if isinstance(cell.snapshot, Snapshot):
                    waiting += [child for child in cell.snapshot._children.values() if child is not None]
        for actor in reversed(found):
            if actor.system_id and self.registry.get(actor.system_id) == actor:
                self._freed = [*(self._freed or ()), (position, actor)]
                self._unregister(actor)

    def begin_step(self) -> None:
        """From here on, what a step makes and frees is remembered until it is over."""
        self._created = None
        self._freed = None

    def undo_after(self, position: int) -> None:
        """Take back what the current step made and freed after its effect number ``position``."""
        for made_at, cell in reversed(self._created or ()):
            if made_at > position:
                self._unregister(cell.ref)
                self.cells.pop(cell.ref.session, None)
                self.next_session = min(self.next_session, cell.ref.session)
        for freed_at, ref in self._freed or ():
            if freed_at > position and ref.system_id:
                self.registry.setdefault(ref.system_id, ref)
        kept = [(made_at, cell) for made_at, cell in self._created or () if made_at <= position]
        self.begin_step()
        self._created = kept

    def _cancels_all(self, source: ActorRef) -> bool:
        """Whether a cancel of ``source`` reaches all timers of an id (C2)."""
        cell = self.find(source.session)
        return cell is None or cell.rules.cancel_all_with_id

    def drop_orphans(self) -> None:
        """A step failed: forget the actors it made, which nobody will start."""
        for _, orphan in self._created or ():
            self.cells.pop(orphan.ref.session, None)
            if orphan.parent is None or orphan.parent.rules.stop_children_on_error:
                self._unregister(orphan.ref)
        self.begin_step()

    def cell(self, ref: ActorRef) -> Cell | None:
        """The actor behind an address, while the system knows it."""
        return self.find(ref.session)

    def _report(self, records: list[Record]) -> None:
        if self.observed:
            for record in records:
                self._observe(self.root.ref, record)

    def _observe(self, ref: ActorRef, record: Record) -> None:
        if isinstance(record, MicrostepTaken):
            shown: Any = MicrostepInspection(
                record.ref, record.event, record.snapshot, record.transitions, self.root_id
            )
        elif isinstance(record, ActorCreated):
            shown = ActorInspection(record.ref, self.root_id)
        elif isinstance(record, StartActor) and record.by_assign:
            return
        else:
            shown = action_inspection(ref, record, self.root_id)
        self._out.append(Inspected(shown))

    def _forget(self, cell: Cell) -> None:
        """Drop an actor that is over and that its parent does not list any more."""
        parent = None if cell.parent is None else cell.parent.snapshot
        if isinstance(parent, Snapshot) and cell.ref not in parent._children.values():
            if self._forgotten is None:
                self._forgotten = []
            self._forgotten.append(cell.ref.session)

    def _purge(self) -> None:
        """At rest: let go of the actors nobody can name any more."""
        if self._forgotten is not None:
            if not self.keep_ended:
                for session in self._forgotten:
                    self.cells.pop(session, None)
            self._forgotten = None

    @abstractmethod
    def _start_deferred(self, ref: ActorRef) -> None:
        """Start a child whose parent has settled (:class:`Lifecycle`)."""

    @abstractmethod
    def _execute_initial(self, cell: Cell, effect: Record) -> None:
        """Execute an effect of the initial state (:class:`Lifecycle`)."""


def action_inspection(ref: ActorRef, effect: Any, root_id: str) -> ActionInspection:
    params: Any
    if isinstance(effect, RunAction):
        params = effect.params
    elif isinstance(effect, StopActor):
        params = effect.ref
    else:
        params = {name: value for name, value in effect._asdict().items() if name != "position"}
    return ActionInspection(ref, effect.type, params, root_id)


def with_error(snapshot: Any, error: Any) -> Any:
    """The same snapshot with status ``error``."""
    if isinstance(snapshot, Snapshot):
        return snapshot.replace(status="error", error=error)
    return snapshot.having(status="error", error=error)
