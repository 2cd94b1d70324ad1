"""Actor logics: what can live behind a reference.

A *logic* tells how an actor's snapshot begins and how events change it; both
are pure. What an actor does outside (await a coroutine, hold a subscription)
is started and stopped by the host, on effects, and comes back as events.

============  ===========================  ==========================================
logic         Python                       its host
============  ===========================  ==========================================
promise       ``async def``                awaits it; the result resolves the actor
observable    async generator              iterates it; each value is its context
event         ``from_event_observable``    iterates it; each value is sent to the parent
  observable
callback      ``def`` with ``send_back``   calls it; calls what it returned when stopped
transition    ``from_transition``          nothing: it is pure
machine       :class:`Machine`             nothing: the system runs it
============  ===========================  ==========================================
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from ..callables import CALLBACK_ARGUMENTS, PROMISE_ARGUMENTS, REDUCER_ARGUMENTS, fit, names
from ..errors import ImplementationError
from ..events import STOP, to_event
from ..machine import Machine
from ..values import UNDEFINED, FrozenDict, freeze
from .snapshot import ACTIVE, DONE, ERROR, STOPPED

PROMISE_RESOLVE = "xstate.promise.resolve"
PROMISE_REJECT = "xstate.promise.reject"
OBSERVABLE_NEXT = "xstate.observable.next"
OBSERVABLE_ERROR = "xstate.observable.error"
OBSERVABLE_COMPLETE = "xstate.observable.complete"


MEMBERS = ("status", "output", "error", "context", "input")


@dataclass(frozen=True, slots=True, init=False)
class LogicSnapshot:
    """The snapshot of an actor that is not a machine. ``UNDEFINED`` members are absent.

    ``order`` is the order of its members as JSON, which a snapshot restored
    from Node's JSON keeps.
    """

    status: str = ACTIVE
    output: Any = UNDEFINED
    error: Any = UNDEFINED
    context: Any = UNDEFINED
    input: Any = UNDEFINED
    order: tuple[str, ...] = MEMBERS

    def __init__(
        self,
        status: str = ACTIVE,
        output: Any = UNDEFINED,
        error: Any = UNDEFINED,
        context: Any = UNDEFINED,
        input: Any = UNDEFINED,
        order: tuple[str, ...] = MEMBERS,
    ) -> None:
        set_status, set_output, set_error, set_context, set_input, set_order = _SETTERS
        set_status(self, status)
        set_output(self, output)
        set_error(self, error)
        set_context(self, context)
        set_input(self, input)
        set_order(self, order)

    @property
    def value(self) -> Any:
        """Always ``UNDEFINED``: only machines have a state value."""
        return UNDEFINED

    def having(self, **changes: Any) -> LogicSnapshot:
        """``{...snapshot, ...changes}``: new members go last."""
        order = self.order
        for key in changes:
            if key not in order:
                order = (*order, key)
        get = changes.get
        return LogicSnapshot(
            get("status", self.status),
            get("output", self.output),
            get("error", self.error),
            get("context", self.context),
            get("input", self.input),
            order,
        )

    def to_json(self) -> dict[str, Any]:
        """XState's persisted form: absent members are left out."""
        members = {key: getattr(self, key) for key in self.order}
        return {key: member for key, member in members.items() if member is not UNDEFINED}


_SETTERS: Final = tuple(getattr(LogicSnapshot, name).__set__ for name in LogicSnapshot.__slots__)
"""How the members of a new snapshot are set: past the guard against changes, which takes twice as long."""


def read_logic_snapshot(saved: Mapping[str, Any]) -> LogicSnapshot:
    """A snapshot from XState's persisted form."""
    order = tuple(key for key in saved if key in MEMBERS)
    return LogicSnapshot(**{key: saved.get(key, UNDEFINED) for key in MEMBERS}, order=order)


@runtime_checkable
class ActorLogic(Protocol):
    """What the system needs of a logic that is not a machine.

    ``kind`` says to a host how to run it: ``promise``, ``observable``,
    ``event-observable``, ``callback`` or ``transition``.
    """

    @property
    def kind(self) -> str: ...
    def initial(self, input: Any) -> LogicSnapshot: ...
    def transition(self, snapshot: LogicSnapshot, event: FrozenDict) -> LogicSnapshot: ...


class PromiseLogic:
    """Work with one result. ``function`` takes any of ``(input, self, system, emit)``."""

    kind = "promise"
    __slots__ = ("call", "function", "is_async")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        self.call = fit(function, PROMISE_ARGUMENTS, f"actor {_name(function)!r}")

    def initial(self, input: Any) -> LogicSnapshot:
        return LogicSnapshot(input=input)

    def transition(self, snapshot: LogicSnapshot, event: FrozenDict) -> LogicSnapshot:
        if snapshot.status != ACTIVE:
            return snapshot
        kind = event["type"]
        if kind == PROMISE_RESOLVE:
            return snapshot.having(status=DONE, output=event.get("data", UNDEFINED), input=UNDEFINED)
        if kind == PROMISE_REJECT:
            return snapshot.having(status=ERROR, error=event.get("data", UNDEFINED), input=UNDEFINED)
        if kind == STOP:
            return snapshot.having(status=STOPPED, input=UNDEFINED)
        return snapshot


class CallbackLogic:
    """A function that sends events back and may receive some. Returns its clean-up, or ``None``."""

    kind = "callback"
    __slots__ = ("call", "function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.call = fit(function, CALLBACK_ARGUMENTS, f"actor {_name(function)!r}")

    def initial(self, input: Any) -> LogicSnapshot:
        return LogicSnapshot(input=input)

    def transition(self, snapshot: LogicSnapshot, event: FrozenDict) -> LogicSnapshot:
        if event["type"] == STOP:
            return snapshot.having(status=STOPPED, error=UNDEFINED)
        return snapshot


class ObservableLogic:
    """A stream. With ``to_parent`` its values are events for the parent, else its own context."""

    __slots__ = ("call", "function", "to_parent")

    def __init__(self, function: Callable[..., Any], to_parent: bool = False) -> None:
        self.function = function
        self.to_parent = to_parent
        self.call = fit(function, PROMISE_ARGUMENTS, f"actor {_name(function)!r}")

    @property
    def kind(self) -> str:
        return "event-observable" if self.to_parent else "observable"

    def initial(self, input: Any) -> LogicSnapshot:
        return LogicSnapshot(input=input)

    def transition(self, snapshot: LogicSnapshot, event: FrozenDict) -> LogicSnapshot:
        if snapshot.status != ACTIVE:
            return snapshot
        kind = event["type"]
        if kind == OBSERVABLE_NEXT and not self.to_parent:
            return snapshot.having(context=event.get("data", UNDEFINED))
        if kind == OBSERVABLE_ERROR:
            return snapshot.having(status=ERROR, error=event.get("data", UNDEFINED), input=UNDEFINED)
        if kind == OBSERVABLE_COMPLETE:
            return snapshot.having(status=DONE, input=UNDEFINED)
        if kind == STOP:
            return snapshot.having(status=STOPPED, input=UNDEFINED)
        return snapshot


class TransitionLogic:
    """A pure reducer ``(state, event) -> state`` with an initial state (a value, or ``(input) -> value``)."""

    kind = "transition"
    __slots__ = ("call", "function", "start_with")

    def __init__(self, function: Callable[..., Any], initial: Any) -> None:
        self.function = function
        self.call = fit(function, REDUCER_ARGUMENTS, f"actor {_name(function)!r}")
        self.start_with = (
            fit(initial, ("input",), f"initial state of {_name(function)!r}")
            if callable(initial)
            else initial
        )

    def initial(self, input: Any) -> LogicSnapshot:
        start = self.start_with
        return LogicSnapshot(context=freeze(start(input) if callable(start) else start))

    def transition(self, snapshot: LogicSnapshot, event: FrozenDict) -> LogicSnapshot:
        return snapshot.having(context=freeze(self.call(snapshot.context, event)))


LOGICS = (PromiseLogic, CallbackLogic, ObservableLogic, TransitionLogic)


def from_promise(function: Callable[..., Any]) -> PromiseLogic:
    """A promise actor from an ``async def`` (or a function that returns an awaitable or a value)."""
    return PromiseLogic(function)


def from_callback(function: Callable[..., Any]) -> CallbackLogic:
    """A callback actor: ``(send_back, receive, input, emit, self) -> clean-up or None``."""
    return CallbackLogic(function)


def from_observable(function: Callable[..., Any]) -> ObservableLogic:
    """An observable actor from an async generator: its values become its context."""
    return ObservableLogic(function)


def from_event_observable(function: Callable[..., Any]) -> ObservableLogic:
    """An observable whose values are events for the parent."""
    return ObservableLogic(function, to_parent=True)


def from_transition(function: Callable[..., Any], initial: Any) -> TransitionLogic:
    """An actor that is a pure reducer."""
    return TransitionLogic(function, initial)


def as_logic(value: Any, name: str) -> Any:
    """The logic (or :class:`Machine`) that ``value`` stands for."""
    if isinstance(value, (Machine, *LOGICS)):
        return value
    if inspect.isasyncgenfunction(value):
        return ObservableLogic(value)
    if inspect.iscoroutinefunction(value):
        return PromiseLogic(value)
    if callable(value):
        if names(value) & {"send_back", "receive"}:
            return CallbackLogic(value)
        return PromiseLogic(value)
    raise ImplementationError(
        f"actor {name!r} must be an async function, a generator, a callback, a logic or a machine, "
        f"not {type(value).__name__}",
        name=name,
    )


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def promise_result(value: Any) -> FrozenDict:
    """The event by which a host resolves a promise actor."""
    return FrozenDict({"type": PROMISE_RESOLVE, "data": freeze(value)})


def promise_failure(error: Any) -> FrozenDict:
    """The event by which a host rejects a promise actor."""
    return FrozenDict({"type": PROMISE_REJECT, "data": freeze(error)})


def observable_value(value: Any) -> FrozenDict:
    """The event by which a host feeds an observable actor."""
    return FrozenDict({"type": OBSERVABLE_NEXT, "data": freeze(value)})


def observable_failure(error: Any) -> FrozenDict:
    """The event by which a host ends an observable actor with an error."""
    return FrozenDict({"type": OBSERVABLE_ERROR, "data": freeze(error)})


OBSERVABLE_COMPLETED = to_event(OBSERVABLE_COMPLETE)
