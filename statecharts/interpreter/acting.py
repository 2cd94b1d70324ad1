"""The actions of XState as operations: each records an effect with the data of now."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ExecutionError
from ..purity import run_pure
from ..values import UNDEFINED, FrozenDict, truthy
from .effects import (
    ActorRef,
    CancelEvent,
    EmitEvent,
    LogMessage,
    Position,
    RaiseEvent,
    Record,
    RunAction,
    SendEvent,
    is_delay,
    record,
)
from .getters import NO_VALUE, Getter, Given, Known
from .operations import Frame, Operation


class Effectful(Operation):
    """An action whose whole outcome is one effect.

    ``lean``: that is a function of context and event alone, so that it can be
    had without a frame (:mod:`.courses`); ``given`` is what that depends on.
    """

    __slots__ = ("params",)

    def __init__(self, label: str, params: Getter, *given: Getter) -> None:
        super().__init__(label)
        self.params = params
        self.lean = params is NO_VALUE and all(isinstance(getter, Given) for getter in given)

    @abstractmethod
    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        """The effect of a lean action."""


def given(getter: Any, context: Any, event: Any) -> Any:
    """The value of a getter that is :class:`Given` (which is not asked again here: an ABC takes long to answer)."""
    return getter.value if type(getter) is Known else getter.of(context, event)


class RunNamed(Effectful):
    """A custom action: recorded for the host, with the data of now."""

    __slots__ = ("function", "type")

    def __init__(self, label: str, type_: str, function: Callable[..., Any] | None, params: Getter) -> None:
        super().__init__(label, params)
        self.lean = isinstance(params, Given)
        self.type = type_
        self.function = function

    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        params = UNDEFINED if self.params is NO_VALUE else given(self.params, context, event)
        return record(RunAction, (place, self.type, params, context, event, self.function))

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
    return frame.program.delay(value)(frame, params) if isinstance(value, str) else value


class RaiseOperation(Effectful):
    """``raise``: into the internal queue now, or a timer to self.

    ``timer`` is its delay where that is known to be none of a name, and
    ``raised`` the event where it is always the same: :meth:`prepare` finds them.
    """

    __slots__ = ("delay", "event", "id", "raised", "timer")

    def __init__(self, label: str, event: Getter, id_: Getter, delay: Getter | None, params: Getter) -> None:
        super().__init__(label, params, event, id_)
        self.event = event
        self.id = id_
        self.delay = delay
        self.timer: Given | None = None
        self.raised: FrozenDict | None = None

    def prepare(self, program: Any) -> bool:
        """Whether it is lean and its event is known; resolves the name of its delay. Raises for a name that nobody bound."""
        made, delay = self.event, self.delay
        if not self.lean or not isinstance(made, Known) or type(made.value) is not FrozenDict:
            return False
        self.raised = made.value
        if delay is None:
            return True
        if isinstance(delay, Known) and isinstance(delay.value, str):
            delay = program.delay(delay.value)
        elif not isinstance(delay, Known):
            return False  # what it comes to may be a name
        if not isinstance(delay, Given):
            return False
        self.timer = delay
        return True

    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        delay = UNDEFINED if self.timer is None else given(self.timer, context, event)
        return record(RaiseEvent, (place, self.raised, given(self.id, context, event), delay))

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


class EmitOperation(Effectful):
    """``emit``."""

    __slots__ = ("event",)

    def __init__(self, label: str, event: Getter, params: Getter) -> None:
        super().__init__(label, params, event)
        self.event = event

    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        return record(EmitEvent, (place, given(self.event, context, event)))

    def run(self, frame: Frame) -> None:
        event = self.event(frame, self.params(frame, UNDEFINED))
        frame.records.append(EmitEvent(frame.position, event))


class CancelOperation(Effectful):
    """``cancel``."""

    __slots__ = ("id",)

    def __init__(self, label: str, id_: Getter, params: Getter) -> None:
        super().__init__(label, params, id_)
        self.id = id_

    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        return record(CancelEvent, (place, given(self.id, context, event)))

    def run(self, frame: Frame) -> None:
        params = UNDEFINED if self.params is NO_VALUE else self.params(frame, UNDEFINED)
        name = self.id
        send_id = name.value if isinstance(name, Known) else name(frame, params)
        frame.records.append(record(CancelEvent, ((frame.sequence, len(frame.records)), send_id)))


class LogOperation(Effectful):
    """``log``."""

    __slots__ = ("message", "title")

    def __init__(self, label: str, message: Getter, title: Getter, params: Getter) -> None:
        super().__init__(label, params, message, title)
        self.message = message
        self.title = title

    def effect(self, context: Any, event: FrozenDict, place: Position) -> Record:
        return record(LogMessage, (place, given(self.message, context, event), given(self.title, context, event)))

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
