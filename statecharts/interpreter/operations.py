"""What a plan is made of: one prepared operation per thing that happens in a microstep.

An operation has everything resolved that can be known beforehand (which
function, which arguments it takes); what depends on the moment (params,
outputs, delays, inputs) is evaluated when it runs. Operations change the
:class:`Frame` of the running macrostep and record effects; they do nothing
else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from ..errors import ExecutionError
from ..events import done_state_event
from ..expressions import Template
from ..nodes import StateNode, Transition
from ..purity import run_pure
from ..values import UNDEFINED, FrozenDict, freeze, js_ordered, truthy
from .configuration import Configuration, Order
from .effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    NewActor,
    RaiseEvent,
    Record,
    RunAction,
    SendEvent,
    is_delay,
    record,
)
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


Getter = Callable[[Frame, Any], Any]
"""A prepared value: ``(frame, params) -> value``."""


class Known:
    """A getter for a value that never changes; who is in a hurry takes ``value`` without calling it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, frame: Frame, params: Any) -> Any:
        return self.value


NO_VALUE: Final = Known(UNDEFINED)
"""Where nothing is given."""


class Operation(ABC):
    """One thing that happens. ``label`` and ``state`` say which, for error messages."""

    __slots__ = ("label", "state")

    def __init__(self, label: str, state: str | None = None) -> None:
        self.label = label
        self.state = state

    @abstractmethod
    def run(self, frame: Frame) -> None:
        """Let it happen: change ``frame``, record effects."""


class RunNamed(Operation):
    """A custom action: recorded for the host, with the data of now."""

    __slots__ = ("function", "params", "type")

    def __init__(self, label: str, type_: str, function: Callable[..., Any] | None, params: Getter) -> None:
        super().__init__(label)
        self.type = type_
        self.function = function
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        place = (frame.sequence, len(frame.records))
        members = (place, self.type, params, frame.context, frame.event, self.function)
        frame.records.append(record(RunAction, members))


class NullOperation(Operation):
    """A ``null`` in a list of actions: XState fails when it gets there."""

    __slots__ = ()

    def run(self, frame: Frame) -> None:
        raise ExecutionError("Cannot read properties of null (reading 'type')", js_name="TypeError")


def resolved_delay(frame: Frame, delay: Getter, params: Any) -> Any:
    """A delay as it comes out: a number of ms, or something else, which means no delay (:func:`is_delay`)."""
    value = delay.value if isinstance(delay, Known) else delay(frame, params)
    return frame.program.named_delay(value, frame, params) if isinstance(value, str) else value


class RaiseOperation(Operation):
    """``raise``: into the internal queue now, or a timer to self."""

    __slots__ = ("delay", "event", "id", "params")

    def __init__(self, label: str, event: Getter, id_: Getter, delay: Getter | None, params: Getter) -> None:
        super().__init__(label)
        self.event = event
        self.id = id_
        self.delay = delay
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        made, name = self.event, self.id
        event = as_event(made.value if isinstance(made, Known) else made(frame, params), "raise")
        delay = UNDEFINED if self.delay is None else resolved_delay(frame, self.delay, params)
        if not is_delay(delay):
            frame.queue.append(event)
        send_id = name.value if isinstance(name, Known) else name(frame, params)
        place = (frame.sequence, len(frame.records))
        frame.records.append(record(RaiseEvent, (place, event, send_id, delay)))


def as_event(event: Any, creator: str) -> Any:
    """``event`` if it is an object; XState takes nothing else here."""
    if type(event) is FrozenDict or isinstance(event, Mapping):
        return event
    if isinstance(event, str):
        raise ExecutionError(
            f'Only event objects may be used with {creator}; use {creator}({{ type: "{event}" }}) instead'
        )
    raise ExecutionError(f"{creator} needs an event object with a 'type', not {event!r}")


class SendOperation(Operation):
    """``sendTo``: an event for another actor, by id, reference or special name."""

    __slots__ = ("deferred_ids", "delay", "event", "id", "params", "target")

    def __init__(
        self, label: str, target: Getter, event: Getter, id_: Getter, delay: Getter | None, params: Getter
    ) -> None:
        super().__init__(label)
        self.target = target
        self.event = event
        self.id = id_
        self.delay = delay
        self.params = params
        self.deferred_ids: tuple[str, ...] = ()

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        event = as_event(self.event(frame, params), "sendTo")
        delay = UNDEFINED if self.delay is None else resolved_delay(frame, self.delay, params)
        wanted = self.target(frame, params)
        if isinstance(wanted, str):
            ref = self._named(frame, wanted)
            target_id: Any = wanted
        else:
            ref = wanted if truthy(wanted) else frame.scope.self_ref
            target_id = UNDEFINED
        position = frame.position
        frame.records.append(SendEvent(position, ref, target_id, event, self.id(frame, params), delay))

    def _named(self, frame: Frame, name: str) -> ActorRef | None:
        ref: ActorRef | None
        if name == "#_parent":
            ref = frame.scope.parent_ref
        elif name == "#_internal":
            ref = frame.scope.self_ref
        elif name.startswith("#_"):
            ref = frame.children.get(name[2:])
        elif name in self.deferred_ids:
            frame.pending.append(len(frame.records))
            return None
        else:
            ref = frame.children.get(name)
        if ref is None:
            machine = frame.program.definition.id
            raise ExecutionError(f"Unable to send event to actor '{name}' from machine '{machine}'.")
        return ref


class SettleSends(Operation):
    """Look up again the targets that were to be spawned in the same list (XState ``retryResolve``)."""

    __slots__ = ()

    def run(self, frame: Frame) -> None:
        while frame.pending:
            index = frame.pending.pop()
            send = frame.records[index]
            assert isinstance(send, SendEvent)
            frame.records[index] = send._replace(target=frame.children.get(send.target_id))


class EmitOperation(Operation):
    """``emit``."""

    __slots__ = ("event", "params")

    def __init__(self, label: str, event: Getter, params: Getter) -> None:
        super().__init__(label)
        self.event = event
        self.params = params

    def run(self, frame: Frame) -> None:
        event = self.event(frame, self.params(frame, UNDEFINED))
        frame.records.append(EmitEvent(frame.position, event))


class CancelOperation(Operation):
    """``cancel``."""

    __slots__ = ("id", "params")

    def __init__(self, label: str, id_: Getter, params: Getter) -> None:
        super().__init__(label)
        self.id = id_
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        name = self.id
        send_id = name.value if isinstance(name, Known) else name(frame, params)
        frame.records.append(record(CancelEvent, ((frame.sequence, len(frame.records)), send_id)))


class LogOperation(Operation):
    """``log``."""

    __slots__ = ("message", "params", "title")

    def __init__(self, label: str, message: Getter, title: Getter, params: Getter) -> None:
        super().__init__(label)
        self.message = message
        self.title = title
        self.params = params

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        frame.records.append(
            LogMessage(frame.position, self.message(frame, params), self.title(frame, params))
        )


class EnqueueOperation(Operation):
    """``enqueueActions``: a function lists the actions that follow at once."""

    __slots__ = ("deferred_ids", "function", "params", "pure")

    def __init__(self, label: str, function: Callable[..., Any], params: Getter, pure: bool) -> None:
        super().__init__(label)
        self.function = function
        self.params = params
        self.pure = pure
        self.deferred_ids: tuple[str, ...] = ()

    def run(self, frame: Frame) -> None:
        program = frame.program
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        listed = run_pure(self._list, self.label, frame, params) if self.pure else self._list(frame, params)
        for action in listed:
            operation = program.compile_action(action)
            operation.state = self.state
            if self.deferred_ids and isinstance(operation, (SendOperation, EnqueueOperation)):
                operation.deferred_ids = self.deferred_ids
            frame.operation = operation
            operation.run(frame)

    def _list(self, frame: Frame, params: Any) -> list[Any]:
        queue = ActionQueue()
        configuration, context, event = frame.configuration, frame.context, frame.event

        def check(guard: Any) -> bool:
            return bool(frame.program.compile_guard(guard)(context, event, configuration))

        self.function(context, event, params, frame.scope.self_ref, frame.scope.view, queue, check)
        return queue.actions


class ActionQueue:
    """What an ``enqueue`` function collects into: call it with an action."""

    __slots__ = ("actions",)

    def __init__(self) -> None:
        self.actions: list[Any] = []

    def __call__(self, action: Any) -> None:
        """Add an action: a name, ``{"type", "params"}``, a creator's result or a function."""
        self.actions.append(action)


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


def evaluate_template(template: Template, frame: Frame, params: Any) -> Any:
    """A template against the data of now, frozen."""
    variables = {"context": frame.context, "event": frame.event}
    if params is not UNDEFINED:
        variables["params"] = params
    return freeze(template.evaluate(variables))
