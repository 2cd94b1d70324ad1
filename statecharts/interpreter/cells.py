"""Actors as a system keeps them, and the window each has on it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from ..errors import StatechartError
from ..machine import Machine
from ..native import mypyc_attr
from .effects import (
    ActorRef,
    NewActor,
    Record,
)
from .program import Program, program_of
from .semantics import XSTATE, Semantics

if TYPE_CHECKING:
    from .actor_table import Actors

NOT_STARTED: Final = 0
RUNNING: Final = 1
ENDED: Final = 2


Waiting = deque[Any] | tuple[Any, ...]
"""What waits for an actor. A queue is made when there is something to put in: most actors are at rest."""
NOTHING: Waiting = ()


class EventFlood(StatechartError):
    """Actors kept feeding each other beyond :attr:`System.max_events`."""


class Cell:
    """One actor as the system keeps it.

    ``is_session``: it runs an SCXML document. ``is_muted``: it is being
    stopped, and what it still sends to its parent is dropped (SCXML §6.4.3).
    ``rules`` are those of its own document; what is no machine has its parent's.
    """

    __slots__ = (
        "begun", "busy", "deferred", "input", "is_muted", "is_session", "logic", "mailbox", "open", "parent", "program",
        "ref", "rules", "snapshot", "status",
    )  # fmt: skip

    def __init__(self, ref: ActorRef, logic: Any, parent: Cell | None, input: Any) -> None:
        self.ref = ref
        self.logic = logic
        self.program: Program | None = program_of(logic) if isinstance(logic, Machine) else None
        self.rules: Semantics = _rules_of(self.program, parent)
        self.parent = parent
        self.input = input
        self.snapshot: Any = None
        self.status = NOT_STARTED
        self.mailbox: Waiting = NOTHING
        self.busy = False
        self.open = False
        self.begun = False
        self.is_session = self.program is not None and self.program.session_bindings is not None
        self.is_muted = False
        self.deferred: Waiting = NOTHING

    def post(self, item: Any) -> None:
        """Put ``item`` last into the mailbox."""
        if isinstance(self.mailbox, deque):
            self.mailbox.append(item)
        else:
            self.mailbox = deque((item,))

    def defer(self, task: tuple[Any, ...]) -> None:
        """Put ``task`` last among what follows the step."""
        if isinstance(self.deferred, deque):
            self.deferred.append(task)
        else:
            self.deferred = deque((task,))

    def next_event(self) -> Any:
        """Take the first out of the mailbox, which is not empty."""
        waiting = self.mailbox
        assert isinstance(waiting, deque)
        item = waiting.popleft()
        if not waiting:
            self.mailbox = NOTHING
        return item

    def next_task(self) -> Any:
        """Take the first of what was deferred; there is something."""
        waiting = self.deferred
        assert isinstance(waiting, deque)
        task = waiting.popleft()
        if not waiting:
            self.deferred = NOTHING
        return task

    def __repr__(self) -> str:
        return f"<Cell {self.ref.session_id} {self.ref.id!r}>"


def _rules_of(program: Program | None, parent: Cell | None) -> Semantics:
    if program is not None:
        return program.semantics
    return XSTATE if parent is None else parent.rules


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


@mypyc_attr(allow_interpreted_subclasses=True)
class CellScope:
    """One actor's window on the system while its step is computed."""

    __slots__ = ("cell", "observed", "system")

    def __init__(self, system: Actors, cell: Cell) -> None:
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

    def create(self, new: NewActor, records: list[Record]) -> ActorRef:
        return self.system.create(new, records, self.cell).ref

    def unregister(self, ref: ActorRef, position: int) -> None:
        self.system.unregister_tree(ref, position)

    def session(self, session_id: str) -> ActorRef | None:
        """The actor with this session id."""
        kind, _, number = session_id.partition(":")
        cell = self.system.find(int(number)) if kind == "x" and number.isdecimal() else None
        return None if cell is None else cell.ref

    def is_live(self, ref: ActorRef) -> bool:
        """Whether an event for ``ref`` finds somebody."""
        cell = self.system.find(ref.session)
        if cell is None or cell.status == ENDED:
            return False
        return cell.snapshot is None or cell.snapshot.status == "active"  # none yet: it is in its first step
