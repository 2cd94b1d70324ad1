"""What a plan is made of: one prepared operation per thing that happens in a microstep.

An operation has everything resolved that can be known beforehand (which
function, which arguments it takes); what depends on the moment (params,
outputs, delays, inputs) is evaluated when it runs. Operations change the
:class:`Frame` of the running macrostep and record effects; they do nothing
else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from ..events import done_state_event
from ..nodes import StateNode, Transition
from ..values import UNDEFINED, FrozenDict, js_ordered
from .configuration import Configuration, Order
from .effects import ActorRef, NewActor, Record
from .getters import Getter
from .snapshot import NOTHING_ELSE, History


class Scope(Protocol):
    """What a running macrostep may ask of its actor system. No I/O behind it."""

    @property
    def self_ref(self) -> ActorRef: ...
    @property
    def parent_ref(self) -> ActorRef | None: ...
    @property
    def observed(self) -> bool: ...
    @property
    def view(self) -> Any: ...
    def create(self, new: NewActor, records: list[Record]) -> ActorRef: ...
    def unregister(self, ref: ActorRef, position: int) -> None: ...
    def session(self, session_id: str) -> ActorRef | None: ...
    def is_live(self, ref: ActorRef) -> bool: ...


class Frame:
    """The state of one macrostep while it runs. Never leaves the interpreter."""

    __slots__ = (
        "changed", "children", "configuration", "context", "error", "event", "history", "operation", "order", "output",
        "pending", "program", "queue", "records", "rest", "scope", "sequence", "status",
    )  # fmt: skip

    def __init__(
        self,
        program: Any,
        scope: Scope,
        configuration: Configuration,
        order: Order | None,
        context: Any,
        children: Mapping[str, ActorRef | None],
        history: History,
        sequence: int,
        event: FrozenDict,
    ) -> None:
        self.program = program
        self.scope = scope
        self.configuration = configuration
        self.order = order
        self.context = context
        self.children = children
        self.history = history
        self.sequence = sequence
        self.event = event
        self.rest = NOTHING_ELSE
        self.status: Any = "active"  # or what a restored snapshot had
        self.output: Any = UNDEFINED
        self.error: Any = UNDEFINED
        self.queue: list[FrozenDict] = []
        self.records: list[Record] = []
        self.changed = False
        self.pending: list[int] = []
        self.operation: Operation | None = None

    @property
    def position(self) -> tuple[int, int]:
        return (self.sequence, len(self.records))

    def select(self) -> tuple[Transition, ...]:
        """What the current event enables."""
        return self.program.selection.select(self.configuration, self.context, self.event)  # type: ignore[no-any-return]

    def select_eventless(self) -> tuple[Transition, ...]:
        """What is enabled without an event."""
        if not self.configuration.always:
            return ()
        return self.program.selection.select_eventless(  # type: ignore[no-any-return]
            self.configuration, self.order, self.context, self.event, self.history
        )

    def add_child(self, key: str, ref: ActorRef | None) -> None:
        """A new child under ``key``; the map keeps JavaScript's key order."""
        self.children = js_ordered({**self.children, key: ref})
        self.changed = True


class Operation(ABC):
    """One thing that happens. ``label`` and ``state`` say which, for error messages.

    ``lean``: what comes of it is a function of context and event alone.
    """

    __slots__ = ("label", "lean", "state")

    def __init__(self, label: str, state: str | None = None) -> None:
        self.label = label
        self.state = state
        self.lean = False

    @abstractmethod
    def run(self, frame: Frame) -> None:
        """Let it happen: change ``frame``, record effects."""


HistoryEntry = tuple[str, bool, StateNode]
"""What to remember: the history state's id, whether it is deep, and the state that is left."""


class RecordHistory(Operation):
    """Remember what is active below a state that is being left."""

    __slots__ = ("entries",)

    def __init__(self, entries: tuple[HistoryEntry, ...]) -> None:
        super().__init__("history")
        self.entries = entries

    def run(self, frame: Frame) -> None:
        nodes = frame.configuration.nodes if frame.order is None else frame.order
        changed = dict(frame.history)
        for key, deep, parent in self.entries:
            if deep:
                changed[key] = tuple(node for node in nodes if node.is_leaf and node.is_below(parent))
            else:
                changed[key] = tuple(node for node in nodes if node.parent is parent)
        frame.history = changed


class RaiseDone(Operation):
    """A state completed: its done event joins the internal queue."""

    __slots__ = ("event", "id", "output")

    def __init__(self, state_id: str, output: Getter | None) -> None:
        super().__init__(f"output of a final child of {state_id!r}", state_id)
        self.id = state_id
        self.output = output
        self.event = done_state_event(state_id)

    def run(self, frame: Frame) -> None:
        made = self.event if self.output is None else done_state_event(self.id, self.output(frame, UNDEFINED))
        frame.queue.append(made)


class CompleteMachine(Operation):
    """The machine is done: its output is computed from a done event that nobody else sees."""

    __slots__ = ("final_id", "final_output", "root_output")

    def __init__(self, final_id: str, final_output: Getter | None, root_output: Getter | None) -> None:
        super().__init__("output of the machine")
        self.final_id = final_id
        self.final_output = final_output
        self.root_output = root_output

    def run(self, frame: Frame) -> None:
        output: Any = UNDEFINED
        if self.root_output is not None:
            inner = UNDEFINED if self.final_output is None else self.final_output(frame, UNDEFINED)
            event = frame.event
            frame.event = done_state_event(self.final_id, inner)
            try:
                output = self.root_output(frame, UNDEFINED)
            finally:
                frame.event = event
        frame.status = "done"
        frame.output = output
        frame.changed = True
