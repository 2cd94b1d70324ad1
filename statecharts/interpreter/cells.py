"""Actors as a system keeps them, and the window each has on it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import StatechartError
from ..machine import Machine
from .effects import (
    ActorRef,
    NewActor,
    Record,
)
from .program import Program, program_of

if TYPE_CHECKING:
    from .actor_table import Actors

NOT_STARTED, RUNNING, ENDED = 0, 1, 2


class EventFlood(StatechartError):
    """Actors kept feeding each other beyond :attr:`System.max_events`."""


class Cell:
    """One actor as the system keeps it."""

    __slots__ = (
        "begun", "busy", "deferred", "input", "logic", "mailbox", "open", "parent", "program", "ref", "snapshot", "status",
    )  # fmt: skip

    def __init__(self, ref: ActorRef, logic: Any, parent: Cell | None, input: Any) -> None:
        self.ref = ref
        self.logic = logic
        self.program: Program | None = program_of(logic) if isinstance(logic, Machine) else None
        self.parent = parent
        self.input = input
        self.snapshot: Any = None
        self.status = NOT_STARTED
        self.mailbox: deque[Any] = deque()
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
